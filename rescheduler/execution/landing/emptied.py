"""Nodes that a plan empties: which they are, what still stands on one, and what spoils them on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import EMPTY_NODES, Move, OutcomeKind, Plan


def empties_nodes(moves: Iterable[Move]) -> bool:
    """Whether nodes are to be empty for their own sake."""
    return any(EMPTY_NODES in move.objective for move in moves)


def destinations(plan: Plan) -> frozenset[str]:
    """Nodes on which somebody arrives."""
    return frozenset([move.to_node for move in plan.moves] + [item.node for item in plan.placements])


def emptied_nodes(plan: Plan, left: Iterable[Move], cluster: Cluster) -> tuple[str, ...]:
    """Nodes that the plan's pods leave or have left, on which nobody else stands and nobody arrives, by name.

    ``left``: the moves that are still to be made.
    """
    origins = {move.from_node for move in plan.moves} - destinations(plan)
    leaving = {move.pod.uid for move in left}
    return tuple(
        name
        for name in sorted(origins)
        if name in cluster.node_by_name and all(pod.uid in leaving for pod in standing_on(cluster, name))
    )


def standing_on(cluster: Cluster, node: str) -> list[Pod]:
    """Pods that keep a node from being empty: all but those that end, and those that belong to the node itself."""
    pods = cluster.pods_by_node.get(node, ())
    return [pod for pod in pods if not pod.is_terminating and not pod.belongs_to_its_node]


def promised_empty(moves: Iterable[Move], emptied: Iterable[str]) -> tuple[str, ...]:
    """Those of the emptied nodes that are to be empty for their own sake."""
    wanted = {move.from_node for move in moves if EMPTY_NODES in move.objective}
    return tuple(node for node in emptied if node in wanted)


def without_spoiled(
    moves: Sequence[Move], promised: Sequence[str], cluster: Cluster, outcomes: Outcomes
) -> tuple[Move, ...]:
    """The moves that still serve a purpose: a node where a pod stands that does not leave cannot become empty.

    Outcomes of the others are told. Nobody arrives on such nodes, so no other move rests on them.
    """
    leaving = {move.pod.uid for move in moves}
    newcomers = {}
    for node in {move.from_node for move in moves}.intersection(promised):
        newcomers[node] = next((pod.key for pod in standing_on(cluster, node) if pod.uid not in leaving), None)
    for move in moves:
        newcomer = newcomers.get(move.from_node)
        if newcomer is not None:
            message = f"of no use any more: {newcomer} stands on {move.from_node}, which was to be empty"
            outcomes.of_move(move, OutcomeKind.NOT_ATTEMPTED, None, message)
    return tuple(move for move in moves if newcomers.get(move.from_node) is None)
