"""Make room for pending pods: start reading here."""

from __future__ import annotations

from rescheduler.model.plan import Status
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.destinations import predict_with_holds
from rescheduler.planning.draft import Schedule
from rescheduler.planning.make_room.binding_limits import BindingLimits, find_binding_limits
from rescheduler.planning.make_room.messages import describe
from rescheduler.planning.make_room.prediction_only import keep_what_needs_no_hold
from rescheduler.planning.make_room.request import MakeRoomAnswer, MakeRoomRequest, PlannedMove, PlannedPlace
from rescheduler.planning.make_room.search import Outcome, Search
from rescheduler.planning.problem import Problem
from rescheduler.planning.proof_state import HelpVector
from rescheduler.planning.queue_places import as_the_scheduler_places
from rescheduler.planning.ranking import helped_by
from rescheduler.planning.reasons import reasons_of_moves
from rescheduler.planning.replay import replay
from rescheduler.planning.zero_moves import place_without_moves

SEARCH_SHARE = 0.93  # the rest of the time is for predicting destinations and replaying the plan


def plan_make_room(request: MakeRoomRequest) -> MakeRoomAnswer:
    """Plan within the deadline. The plan is never worse than doing nothing, and replayed before it is returned."""
    deadline = Deadline(request.clock, request.deadline_seconds)
    problem = Problem(request.prediction, request.placement, request.eligibility)
    outcome = Search(problem, deadline.part(SEARCH_SHARE), request.seed, request.progress).run()
    if replay(problem, outcome.best):
        outcome.best = place_without_moves(problem)
    schedule, guided, notes = outcome.best, frozenset[int](), list[str]()
    if schedule.waves and request.is_guided_by_holds:
        schedule, guided = predict_with_holds(problem, schedule, deadline)
    elif schedule.waves:
        schedule, notes = keep_what_needs_no_hold(problem, schedule)
    else:
        schedule = as_the_scheduler_places(problem, schedule, deadline)
    limits = BindingLimits()
    if len(schedule.places) < len(problem.pending):
        limits = find_binding_limits(request, outcome, outcome.best, deadline.part(0.8))
    return _answer(problem, outcome, schedule, guided, limits, notes)


def _answer(
    problem: Problem,
    outcome: Outcome,
    schedule: Schedule,
    guided: frozenset[int],
    limits: BindingLimits,
    notes: list[str],
) -> MakeRoomAnswer:
    helped = helped_by(problem, schedule)
    wanted = len(problem.pending)
    value = schedule.evictions
    bound = min(value, outcome.proven.bound_for(helped))
    status = _status(helped, wanted, value, bound, outcome)
    reasons = reasons_of_moves(problem, schedule)
    message = describe(problem, outcome, schedule, status, limits, notes)
    certificate = outcome.certificate.facts if outcome.certificate and status is Status.INFEASIBLE else None
    return MakeRoomAnswer(
        status=status,
        value=value,
        bound=bound,
        gap=abs(value - bound) / max(1, abs(bound)),
        helped=sum(helped),
        wanted=wanted,
        message=message,
        certificate=certificate,
        moves=tuple(
            PlannedMove(pod, node, number, pod in guided, reasons[pod])
            for number, wave in enumerate(schedule.waves, start=1)
            for pod, node in wave
        ),
        placements=tuple(PlannedPlace(pod, node, wave) for pod, node, wave in schedule.places),
        binding_limits=limits.names,
    )


def _status(helped: HelpVector, wanted: int, value: int, bound: int, outcome: Outcome) -> Status:
    if sum(helped) == wanted:
        return Status.OPTIMAL if value == bound else Status.FEASIBLE
    most = outcome.proven.most_help
    if (most is not None and sum(most) < wanted) or outcome.certificate is not None:
        return Status.INFEASIBLE
    return Status.FEASIBLE if outcome.best.places else Status.UNKNOWN
