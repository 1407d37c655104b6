"""Plans without holds: what the scheduler would do by itself with evicted pods, and what is left of a plan then."""

from __future__ import annotations

from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.destinations import best_elsewhere
from rescheduler.planning.waves.placing_times import settle_places
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.sequencing import waves_in_order


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
    placement = problem.start.copy()
    order: list[tuple[int, int]] = []
    left_out: list[int] = []
    may_return: list[int] = []
    for wave in schedule.waves:
        for pod, node in wave:
            best = problem.prediction.best_nodes(pod, placement).tolist()
            if int(placement.node_of[pod]) in best:
                may_return.append(pod)
            elsewhere = best_elsewhere(problem, placement, pod)
            if not elsewhere:
                left_out.append(pod)
                continue
            target = node if node in elsewhere else elsewhere[0]
            placement.move(pod, target)
            order.append((pod, target))
        placement.settle()
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
