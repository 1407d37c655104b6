"""Where moved pods go while room is made: with holes held for those that are helped, and without any holds."""

from __future__ import annotations

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.placing_times import settle_places
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.scheduler_choice import SchedulerChoice, guided_moves
from rescheduler.planning.waves.sequencing import waves_in_order


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
