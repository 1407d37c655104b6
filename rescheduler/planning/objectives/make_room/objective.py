"""MakeRoom: pending pods get a place by the fewest evictions. Start reading here."""

from __future__ import annotations

from typing import Any

from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.make_room.certificate import exhausted
from rescheduler.planning.objectives.make_room.destinations import keep_what_needs_no_hold, predict_with_holds
from rescheduler.planning.objectives.make_room.hand_off import NodesToAdd, nodes_to_add
from rescheduler.planning.objectives.make_room.levels import BindingLimits, Found, find_binding_limits, search_for
from rescheduler.planning.objectives.make_room.messages import describe, reasons_of_moves, told
from rescheduler.planning.objectives.make_room.opening import HelpWanted, groups_helped_together
from rescheduler.planning.objectives.make_room.search import SearchOutcome
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlannedMove, PlannedPlace, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.ranking import HelpVector, helped_by
from rescheduler.planning.waves.free_places import as_the_scheduler_places, place_without_moves
from rescheduler.planning.waves.replay import replay
from rescheduler.policy.fields.objectives import MakeRoomArgs

UNIT = "evictions"
SEARCH_SHARE = 0.93  # the rest of the time is for predicting destinations and replaying the plan


class MakeRoom(PlanningObjective):
    """The fewest evictions by which as many pending pods as can be get a place."""

    name = "MakeRoom"
    arguments = MakeRoomArgs
    is_kept_by_places = True

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """Plan within the deadline; the plan is replayed before it is returned.

        ``value`` counts evictions, ``bound`` is the proven least for as many ``helped`` of ``wanted`` pending pods;
        ``certificate`` proves why not all can be helped.
        """
        deadline = request.deadline()
        wanted, notes = self.wanted(request).with_nominated_seated()
        whole = wanted.problem()
        found = search_for(whole, wanted, deadline.part(SEARCH_SHARE))
        problem, outcome = found.problem, found.outcome
        if replay(problem, outcome.best):
            outcome.best = place_without_moves(problem)
        schedule, guided = outcome.best, frozenset[int]()
        if schedule.waves and request.is_guided_by_holds:
            schedule, guided = predict_with_holds(problem, schedule, deadline)
        elif schedule.waves:
            schedule, more = keep_what_needs_no_hold(problem, schedule)
            notes += more
        else:
            schedule = as_the_scheduler_places(problem, schedule, deadline)
        notes += schedule.notes_on_exchanges
        limits = BindingLimits()
        if len(schedule.places) < len(whole.pending):
            limits = find_binding_limits(wanted, whole, outcome, outcome.best, deadline.part(0.8))
        return _answer(wanted, whole, found, schedule, guided, limits, notes, deadline)

    def wanted(self, request: PlanRequest) -> HelpWanted:
        """Whom the arguments want to be helped."""
        together = groups_helped_together(request.prediction.columns.cluster, self.args.together)
        return HelpWanted(request, self.args.prize, self.args.all_or_nothing, together)


def _answer(
    asked: HelpWanted,
    whole: Problem,
    found: Found,
    schedule: WaveSchedule,
    guided: frozenset[int],
    limits: BindingLimits,
    notes: list[str],
    deadline: Deadline,
) -> ObjectivePlan:
    problem, outcome = found.problem, found.outcome
    helped = helped_by(problem, schedule)
    wanted = len(asked.waiting())
    value = schedule.evictions
    bound = min(value, outcome.proven.bound_for(helped))
    status = _status(helped, wanted, value, bound, found)
    reasons = reasons_of_moves(problem, schedule)
    to_add = NodesToAdd()
    if status is Status.INFEASIBLE and not limits.names:
        to_add = nodes_to_add(whole, _left(whole, schedule), deadline)
    message = describe(asked, whole, outcome, schedule, status, limits, [*told(whole, to_add), *notes])
    return ObjectivePlan(
        status=status,
        value=value,
        bound=bound,
        unit=UNIT,
        message=message,
        moves=tuple(
            PlannedMove(pod, node, number, pod in guided, reasons[pod], number in schedule.evict_first)
            for number, wave in enumerate(schedule.waves, start=1)
            for pod, node in wave
        ),
        placements=tuple(PlannedPlace(pod, node, wave) for pod, node, wave in schedule.places),
        helped=sum(helped),
        wanted=wanted,
        binding_limits=limits.names,
        certificate=_certificate(whole, outcome, status, schedule, to_add),
    )


def _left(problem: Problem, schedule: WaveSchedule) -> list[int]:
    placed = {pod for pod, _, _ in schedule.places}
    return [pod for pod in problem.pending if pod not in placed]


def _certificate(
    problem: Problem, outcome: SearchOutcome, status: Status, schedule: WaveSchedule, to_add: NodesToAdd
) -> dict[str, Any] | None:
    """Why not all pods are helped, as data: the linear programme's words, or that every plan was ruled out."""
    if status is not Status.INFEASIBLE:
        return None
    if outcome.certificate is not None:
        return {**outcome.certificate.facts, **to_add.facts(problem)}
    return {**exhausted(problem, len(schedule.places)), **to_add.facts(problem)}


def _status(helped: HelpVector, wanted: int, value: int, bound: int, found: Found) -> Status:
    outcome, most = found.outcome, found.outcome.proven.most_help
    if outcome.certificate is not None:
        return Status.INFEASIBLE  # no rearrangement helps all
    if found.problem.pending_groups.evictions_per_pod is not None:
        is_proven = found.is_settled and (not found.problem.pending or (helped == most and value == bound))
        return Status.OPTIMAL if is_proven else Status.FEASIBLE if outcome.best.places else Status.UNKNOWN
    if sum(helped) == wanted:
        return Status.OPTIMAL if value == bound else Status.FEASIBLE
    if sum(helped) == len(found.problem.pending):
        return Status.INFEASIBLE  # the others are in groups that cannot be whole
    if most is not None and sum(most) < wanted:
        return Status.INFEASIBLE
    return Status.FEASIBLE if outcome.best.places else Status.UNKNOWN
