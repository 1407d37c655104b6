"""Where the primary scheduler will put moved pods by itself, and where it must be guided."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rescheduler.model.columns.placement import Placement
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.closing import close
from rescheduler.planning.waves.placing_times import settle_places
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.sequencing import waves_in_order

NOTHING_RESERVED: Mapping[int, int] = MappingProxyType({})


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


def _held(problem: Problem, schedule: WaveSchedule) -> Placement:
    """The start, with every helped pod on its node already and what chained moves need kept free."""
    placement = problem.start.copy()
    for pod, node, _ in schedule.places:
        placement.assume(pod, node)
    return placement


def _follow(problem: Problem, schedule: WaveSchedule, deadline: Deadline) -> WaveSchedule | None:
    """The same victims in the same waves, each sent to a node that the scheduler likes best, or None."""
    placement = _held(problem, schedule)
    chained = _chained(problem, schedule)
    for pod, node in chained.items():  # its hole is held for it: it counts there from the start
        _reserve(placement, problem, pod, node, 1)
    waves: list[list[tuple[int, int]]] = []
    for wave in schedule.waves:
        moved = []
        for pod, node in wave:
            if pod in chained:
                _reserve(placement, problem, pod, node, -1)
            best = [] if deadline.is_over() else best_elsewhere(problem, placement, pod)
            if not best or (pod in chained and node not in best):
                return None
            target = node if node in best else best[0]
            placement.move(pod, target)
            moved.append((pod, target))
        placement.settle()
        waves.append(moved)
    places = {pod: node for pod, node, _ in schedule.places}
    packed = waves_in_order(problem, [move for wave in waves for move in wave])
    if packed is None or len(packed) > len(schedule.waves):
        return None
    return settle_places(problem, packed, places)


def best_elsewhere(problem: Problem, placement: Placement, pod: int) -> list[int]:
    """Nodes the scheduler likes best for a pod whose origin is closed to it."""
    origin = int(placement.node_of[pod])
    kept = placement.used[:, origin].copy()
    close(placement, (origin,))
    try:
        best = problem.prediction.best_nodes(pod, placement).tolist()
    finally:
        placement.used[:, origin] = kept
    return [node for node in best if node != origin]


def _chained(problem: Problem, schedule: WaveSchedule) -> dict[int, int]:
    """Moves into nodes that other moves leave: their holes are held for them."""
    origins = {int(problem.start.node_of[pod]) for wave in schedule.waves for pod, _ in wave}
    return {pod: node for wave in schedule.waves for pod, node in wave if node in origins}


def _reserve(placement: Placement, problem: Problem, pod: int, node: int, sign: int) -> None:
    placement.used[:, node] += sign * problem.columns.requests[:, problem.columns.shape_of[pod]]


def _guided(problem: Problem, schedule: WaveSchedule, deadline: Deadline) -> frozenset[int]:
    placement = _held(problem, schedule)
    chained = _chained(problem, schedule)
    for pod, node in chained.items():
        _reserve(placement, problem, pod, node, 1)
    return guided_moves(problem, placement, schedule, deadline, chained)


def guided_moves(
    problem: Problem,
    placement: Placement,
    schedule: WaveSchedule,
    deadline: Deadline,
    reserved: Mapping[int, int] = NOTHING_RESERVED,
) -> frozenset[int]:
    """Pods sent to nodes that are not among those the scheduler likes best; when time is over, all that are left.

    Pods that leave before they arrive always count.
    ``placement``: the start with what is held closed; it follows the moves. ``reserved``: pods for which room is
    reserved there on their nodes, given up when their turn comes.
    """
    guided = set()
    for number, wave in enumerate(schedule.waves, start=1):
        is_exchange = number in schedule.evict_first
        for pod, node in wave:
            if pod in reserved:
                _reserve(placement, problem, pod, node, -1)
            if is_exchange or deadline.is_over() or node not in best_elsewhere(problem, placement, pod):
                guided.add(pod)
            placement.move(pod, node)
        placement.settle()
    return frozenset(guided)
