"""Checks that a plan is in one piece, and that its pods and nodes exist and are what it takes them for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rescheduler.checker.violation import Violation
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Move, Plan, PlannedPlacement, PodReference, Refusal


def check_identity(cluster: Cluster, plan: Plan, eligibility: Eligibility) -> Iterator[Violation]:
    """Every pod is there once, is the same by uid, stands where the plan says, and may be moved or helped."""
    keys = [move.pod.key for move in plan.moves] + [item.pod.key for item in plan.placements]
    index_of = cluster.indices_of(keys)
    for move in plan.moves:
        yield from _check_move(cluster, move, index_of)
    for placement in plan.placements:
        yield from _check_placement(cluster, placement, index_of)
    moved = {index_of[move.pod.key] for move in plan.moves if move.pod.key in index_of}
    placed = {index_of[item.pod.key] for item in plan.placements if item.pod.key in index_of}
    for index in sorted(moved.difference(eligibility.movable)):
        yield _not_allowed(cluster.pods[index], "moved", eligibility.refusals.get(index))
    for index in sorted(placed.difference(eligibility.helpable)):
        yield _not_allowed(cluster.pods[index], "helped", eligibility.not_helpable.get(index))
    for key, times in Counter(keys).items():
        if times > 1:
            yield Violation("OncePerPlan", f"{key} is named {times} times; a pod moves or is placed at most once")


def check_waves(plan: Plan, first_wave: int | None) -> Iterator[Violation]:
    """Waves run upwards in the order of the list, without holes.

    ``first_wave``: the number to begin with, or None for the rest of a plan, which begins where it stopped.
    """
    waves = [move.wave for move in plan.moves]
    if waves != sorted(waves):
        yield Violation("WaveOrder", f"the moves are not listed in the order of their waves: {_short(waves)}")
    numbers = sorted(set(waves))
    begin = first_wave or (numbers[0] if numbers else 1)
    if begin < 1 or numbers != list(range(begin, begin + len(numbers))):
        yield Violation(
            "WaveNumbers", f"waves must be numbered {begin}, {begin + 1}, … without holes: {_short(numbers)}"
        )
    last = numbers[-1] if numbers else 0
    for placement in plan.placements:
        if placement.wave < 0 or (placement.wave > last and (numbers or first_wave is not None)):
            yield Violation(
                "WaveNumbers", f"{placement.pod.key} is placed in wave {placement.wave}, which the plan lacks"
            )


def check_objectives(plan: Plan) -> Iterator[Violation]:
    """Every move serves an objective of the plan."""
    names = {objective.name for objective in plan.objectives}
    for move in plan.moves:
        if move.objective not in names:
            yield Violation("Objective", f"{move.pod.key} moves for {move.objective!r}, which the plan does not have")


def _not_allowed(pod: Pod, act: str, refusal: Refusal | None) -> Violation:
    reason = "" if refusal is None else f" ({refusal.rule}: {refusal.message})"
    return Violation("Eligibility", f"{pod.key} may not be {act}{reason}", pod.key)


def _check_move(cluster: Cluster, move: Move, index_of: dict[str, int]) -> Iterator[Violation]:
    index = index_of.get(move.pod.key)
    pod = None if index is None else cluster.pods[index]
    yield from _check_reference(move.pod, pod)
    yield from _check_node(cluster, move.pod, move.to_node)
    if pod is None:
        return
    if pod.node_name != move.from_node:
        yield Violation("FromNode", f"{pod.key} is on {pod.node_name}, not on {move.from_node}")
    if move.has_destination and move.from_node == move.to_node:
        yield Violation("ToNode", f"{pod.key} would stay on {move.to_node}")


def _check_placement(cluster: Cluster, placement: PlannedPlacement, index_of: dict[str, int]) -> Iterator[Violation]:
    index = index_of.get(placement.pod.key)
    pod = None if index is None else cluster.pods[index]
    yield from _check_reference(placement.pod, pod)
    yield from _check_node(cluster, placement.pod, placement.node)
    if pod is None:
        return
    if not pod.is_pending:
        yield Violation("Pending", f"{pod.key} does not wait for a node")


def _check_reference(reference: PodReference, pod: Pod | None) -> Iterator[Violation]:
    if pod is None:
        yield Violation("PodExists", f"there is no pod {reference.key}")
    elif pod.uid != reference.uid:
        yield Violation("PodExists", f"{pod.key} has uid {pod.uid}; the plan means {reference.uid}")


def _check_node(cluster: Cluster, pod: PodReference, node: str) -> Iterator[Violation]:
    if node not in cluster.node_by_name:
        yield Violation("NodeExists", f"{pod.key} would go to {node}, which is not in the snapshot")


def _short(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:20])) + (", …" if len(numbers) > 20 else "")
