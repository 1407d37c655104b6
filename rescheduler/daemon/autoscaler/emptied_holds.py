"""Placeholders that keep emptied nodes empty until an autoscaler takes them; they end soon after the process does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from msgspec import structs

from rescheduler.execution.guidance.hold_maker import HoldMaker
from rescheduler.extension_points import CapacityTarget, Clock, HoldRequest
from rescheduler.model.daemon.capacity import OFFERING
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import is_leaving
from rescheduler.model.plan.plan import Plan

RENEWED_AFTER: Final = 0.5
"""Of their deadline."""


class HeldNode(NamedTuple):
    """What closes a node, one placeholder for each scheduler, and until when at most, seconds since the epoch."""

    requests: tuple[HoldRequest, ...]
    until: float


class EmptiedHolds:
    """``nodes``: those that are held now."""

    def __init__(self, target: CapacityTarget, clock: Clock, deadline_seconds: float) -> None:
        self._target = target
        self._clock = clock
        self._pause = RENEWED_AFTER * deadline_seconds
        self._renewed_at = clock.monotonic()
        self.nodes: dict[str, HeldNode] = {}

    def hold(self, closing: Mapping[str, tuple[HoldRequest, ...]], until: float) -> None:
        """Close nodes. Raises ClusterError; what stands then is known all the same."""
        if not self.nodes:
            self._renewed_at = self._clock.monotonic()
        self.nodes.update((node, HeldNode(requests, until)) for node, requests in closing.items())
        self._target.hold([request for requests in closing.values() for request in requests])

    def renew(self) -> None:
        """Give all of them their time again, when half of it is over; what is gone is not made again.

        Raises ClusterError.
        """
        now = self._clock.monotonic()
        if not self.nodes or now - self._renewed_at < self._pause:
            return
        gone = set(self._target.renew([request for held in self.nodes.values() for request in held.requests]))
        self._renewed_at = now
        for node, held in list(self.nodes.items()):
            if gone.intersection(request.name for request in held.requests):
                self._release([node])

    def look(self, cluster: Cluster, is_wanted: Callable[[str], bool]) -> None:
        """Let go of nodes that are gone or taken, of what has run out, and of what is wanted. Raises ClusterError."""
        known, now = cluster.node_by_name, cluster.taken_at
        self._release(
            [
                node
                for node, held in self.nodes.items()
                if node not in known or is_leaving(known[node]) or now >= held.until or is_wanted(node)
            ]
        )

    def end(self) -> None:
        """Let go of all. Raises ClusterError."""
        self._release(list(self.nodes))

    def _release(self, nodes: Iterable[str]) -> None:
        names = [request.name for node in nodes for request in self.nodes[node].requests]
        if names:
            self._target.release(names)
            for node in nodes:
                del self.nodes[node]


def closing(
    plan: Plan, plan_id: str, cluster: Cluster, nodes: Iterable[str], deadline_seconds: float
) -> dict[str, tuple[HoldRequest, ...]]:
    """What closes nodes that a plan has emptied to the pods that left, as the round has seen them."""
    moves = tuple(move for move in plan.moves if move.pod.key in cluster.pod_by_key)
    if not moves:
        return {}
    gone = structs.replace(plan, moves=moves, placements=())
    maker = HoldMaker(gone, cluster, f"{OFFERING}-{plan_id}", deadline_seconds)
    return {
        node: tuple(room.request._replace(plan_id=OFFERING) for room in maker.closing(node, maker.full))
        for node in nodes
    }
