"""Replays a finished schedule under every filter, group and limit: what it refuses never leaves the planner."""

from __future__ import annotations

from collections import Counter, defaultdict

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.placement import Placement
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.arrivals import Arrivals, can_exchange, exchange

Wave = tuple[tuple[int, int], ...]


def replay(problem: Problem, schedule: WaveSchedule) -> list[str]:
    """What speaks against a schedule, in words; empty: every step is allowed.

    Each arrival must pass all filters at its turn within the wave, and again beside all other moves of the wave. Where
    all leave before any arrives, it must pass them whichever of the others has come.
    """
    against = _forbidden_moves(problem, schedule) + violated_limits(problem, schedule)
    if schedule.evict_first and not problem.may_evict_first:
        return [*against, "pods leave before they arrive"]
    if not problem.pending_groups.is_whole({pod: node for pod, node, _ in schedule.places}):
        against.append("pods that go together are not all helped")
    placement = problem.start.copy()
    arriving: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pod, node, when in schedule.places:
        arriving[when].append((pod, node))
    _arrive(problem, placement, arriving[0], against)
    for number, wave in enumerate(schedule.waves, start=1):
        against += _group_violations(problem, wave, number)
        if number in schedule.evict_first:
            if not can_exchange(Arrivals(problem, placement), wave):
                return [*against, _refusal(problem, *wave[0], number)]
            exchange(placement, wave)
        elif not _run(problem, placement, wave, number, against):
            return against
        _arrive(problem, placement, arriving[number], against)
    return against


def _run(problem: Problem, placement: Placement, wave: Wave, number: int, against: list[str]) -> bool:
    """Let the moves of a wave happen; False at the first that may not."""
    for pod, node in wave:
        if not _passes(problem, placement, pod, node):
            against.append(_refusal(problem, pod, node, number))
            return False
        placement.move(pod, node)
    against += [
        _refusal(problem, pod, node, number) for pod, node in wave if not _passes(problem, placement, pod, node)
    ]
    placement.settle()
    return True


def _arrive(problem: Problem, placement: Placement, places: list[tuple[int, int]], against: list[str]) -> None:
    for pod, node in places:
        if placement.node_of[pod] != NOWHERE or not _passes(problem, placement, pod, node):
            against.append(_refusal(problem, pod, node, None))
        else:
            placement.assume(pod, node)


def _passes(problem: Problem, placement: Placement, pod: int, node: int) -> bool:
    return bool(problem.prediction.feasible(pod, placement)[node])


def _refusal(problem: Problem, pod: int, node: int, wave: int | None) -> str:
    cluster = problem.columns.cluster
    when = "" if wave is None else f" in wave {wave}"
    return f"{cluster.pods[pod].key} may not arrive on {cluster.nodes[node].name}{when}"


def _group_violations(problem: Problem, wave: Wave, number: int) -> list[str]:
    moved = {pod for pod, _ in wave}
    return [
        f"wave {number} moves more pods of {group.rule} {group.name} than {group.allowed_per_wave}"
        for group in problem.groups
        if len(moved.intersection(group.pods)) > group.allowed_per_wave
    ]


def violated_limits(problem: Problem, schedule: WaveSchedule) -> list[str]:
    """Limits of the whole plan that a schedule breaks, with their values; moves of earlier objectives count."""
    moved = [pod for wave in schedule.waves for pod, _ in wave]
    pods = problem.columns.cluster.pods
    per_node = Counter(int(problem.start.node_of[pod]) for pod in moved)
    per_namespace = Counter(pods[pod].namespace for pod in moved)
    limits, left = problem.limits, problem.remaining
    in_all, of_node, of_namespace = limits.names
    broken = (
        (in_all, limits.max_evictions, len(moved) > left.in_all),
        (
            of_node,
            limits.max_evictions_per_node,
            any(used > left.of_node[node] for node, used in per_node.items()),
        ),
        (
            of_namespace,
            limits.max_evictions_per_namespace,
            any(used > left.of(name) for name, used in per_namespace.items()),
        ),
    )
    return [f"{name} ({cap})" for name, cap, is_broken in broken if is_broken]


def _forbidden_moves(problem: Problem, schedule: WaveSchedule) -> list[str]:
    moved = [pod for wave in schedule.waves for pod, _ in wave]
    against = []
    if len(set(moved)) != len(moved):
        against.append("a pod moves twice")
    if not set(moved) <= set(problem.movable.tolist()):
        against.append("a pod moves that must not")
    return against
