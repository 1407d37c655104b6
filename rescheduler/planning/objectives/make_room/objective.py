"""MakeRoom: pending pods get a place by the fewest evictions. Start reading here."""

from __future__ import annotations

from typing import Any

from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.make_room.certificate import exhausted
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
from rescheduler.planning.waves.placing_times import settle_places
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.scheduler_choice import SchedulerChoice, guided_moves
from rescheduler.planning.waves.sequencing import waves_in_order
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


def predict_with_holds(
    problem: Problem, schedule: WaveSchedule, deadline: Deadline
) -> tuple[WaveSchedule, frozenset[int]]:
    """Send moved pods where the scheduler would, with holes held for helped pods and origins closed.

    Returns the schedule to use and the pods that need guidance. Where following the scheduler leaves somebody without a
    place or costs a wave, the planner's own destinations stay; when time is over a move counts as one that needs it.
    """
    followed = None if schedule.evict_first else _follow(problem, schedule, deadline.part(0.5))
    if followed is not None and not replay(problem, followed):
        return followed, frozenset()
    return schedule, _guided(problem, schedule, deadline)


def _held(problem: Problem, schedule: WaveSchedule, chained: dict[int, int]) -> SchedulerChoice:
    """The start as the scheduler sees it, with every helped pod on its node and room kept for chained moves."""
    choice = SchedulerChoice(problem, problem.start.copy())
    for pod, node, _ in schedule.places:
        choice.placement.assume(pod, node)
    for pod, node in chained.items():  # its hole is held for it: it counts there from the start
        choice.reserve(pod, node)
    return choice


def _follow(problem: Problem, schedule: WaveSchedule, deadline: Deadline) -> WaveSchedule | None:
    """The same victims in the same waves, each sent to a node that the scheduler likes best, or None."""
    chained = _chained(problem, schedule)
    choice, order = _held(problem, schedule, chained), []
    for pod, node in choice.walk(schedule):
        if pod in chained:
            choice.reserve(pod, node, -1)
        best = [] if deadline.is_over() else choice.elsewhere(pod)
        if not best or (pod in chained and node not in best):
            return None
        order.append(choice.send(pod, node if node in best else best[0]))
    packed = waves_in_order(problem, order)
    if packed is None or len(packed) > len(schedule.waves):
        return None
    return settle_places(problem, packed, {pod: node for pod, node, _ in schedule.places})


def _guided(problem: Problem, schedule: WaveSchedule, deadline: Deadline) -> frozenset[int]:
    chained = _chained(problem, schedule)
    return guided_moves(problem, _held(problem, schedule, chained).placement, schedule, deadline, chained)


def _chained(problem: Problem, schedule: WaveSchedule) -> dict[int, int]:
    """Moves into nodes that other moves leave: their holes are held for them."""
    origins = {int(problem.start.node_of[pod]) for wave in schedule.waves for pod, _ in wave}
    return {pod: node for wave in schedule.waves for pod, node in wave if node in origins}


def keep_what_needs_no_hold(problem: Problem, schedule: WaveSchedule) -> tuple[WaveSchedule, list[str]]:
    """Leave out moves whose pods the scheduler would send elsewhere, and with them what they were for.

    Returns the rest and notes for the message: what was left out, and which moves may fail because the replacement
    may go back to the hole.
    """
    order, left_out, may_return = _foretold(problem, schedule)
    notes = []
    names = problem.columns.cluster.pods
    if left_out:
        told = ", ".join(names[pod].key for pod in left_out[:5])
        notes.append(f"left out without guidance, since the scheduler would send them elsewhere: {told}")
    rest = _rest(problem, order, {pod: node for pod, node, _ in schedule.places})
    kept = {pod for wave in rest.waves for pod, _ in wave}
    risky = [pod for pod in may_return if pod in kept]
    if risky:
        told = ", ".join(names[pod].key for pod in risky[:5])
        notes.append(f"expected to fail without guidance, since the replacement may go back to the hole: {told}")
    return rest, notes


def _foretold(problem: Problem, schedule: WaveSchedule) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Moves with the destinations that the scheduler likes best, those it would not make, and those it may undo."""
    choice = SchedulerChoice(problem, problem.start.copy())
    order: list[tuple[int, int]] = []
    left_out: list[int] = []
    may_return: list[int] = []
    for pod, node in choice.walk(schedule):
        if int(choice.placement.node_of[pod]) in choice.best(pod):
            may_return.append(pod)
        elsewhere = choice.elsewhere(pod)
        if elsewhere:
            order.append(choice.send(pod, node if node in elsewhere else elsewhere[0]))
        else:
            left_out.append(pod)
    return order, left_out, may_return


def _rest(problem: Problem, order: list[tuple[int, int]], places: dict[int, int]) -> WaveSchedule:
    """The places that still work out with these moves, and the moves that they still need."""
    best = _settled(problem, order, places)
    for pod, _ in tuple(order):
        without = [move for move in order if move[0] != pod]
        fewer = _settled(problem, without, places)
        if len(fewer.places) >= len(best.places):
            order, best = without, fewer
    return best


def _settled(problem: Problem, order: list[tuple[int, int]], places: dict[int, int]) -> WaveSchedule:
    """As many of the places as can be, less important pods left out first."""
    waves = waves_in_order(problem, order)
    if waves is None:
        return WaveSchedule()
    kept: dict[int, int] = {}
    schedule = WaveSchedule(tuple(waves))
    for unit in problem.pending_groups.in_units(pod for pod in problem.pending if pod in places):
        more = {**kept, **{pod: places[pod] for pod in unit}}
        trial = settle_places(problem, waves, more)
        if trial is not None and not replay(problem, trial):
            kept, schedule = more, trial
    return schedule
