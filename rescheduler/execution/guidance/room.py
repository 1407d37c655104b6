"""Keeps the room that a plan needs kept: nodes closed for the whole plan, destinations when their segment comes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rescheduler.execution.guidance.guidance_support import PLACEHOLDERS, GuidanceSupport
from rescheduler.execution.guidance.hold_maker import (
    HeldRoom,
    HoldMaker,
    enlarged,
    first_departures,
    fits,
    free_room,
    held_by,
    leavers_by_node,
    needed_holds,
    room_after,
    take,
)
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.landing.emptied import destinations, empties_nodes, standing_on
from rescheduler.model.columns.taints import BANS, is_tolerated
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import Resources, resources
from rescheduler.model.plan.leaving_taint import leaving_taint
from rescheduler.model.plan.plan import MOST_EMPTY_CLOSED, Move, Plan

# Nodes that pods leave are closed, by placeholders for nobody or by our taint: the scheduler would put them back.


def closings(plan: Plan, rest: Plan, emptied: Sequence[str], cluster: Cluster, maker: HoldMaker) -> list[HeldRoom]:
    """Placeholders for the whole time of a plan, on nodes that pods leave and on which nobody arrives.

    Nodes that are to be empty are closed altogether; on others so much is kept that no pod comes back which left.
    """
    found = [hold for name in emptied for hold in maker.closing(name, maker.full)]
    arriving = destinations(plan)
    for node, leavers in leavers_by_node(rest.moves, cluster).items():
        if node not in emptied and node not in arriving:
            request = enough_to_close(node, leavers, cluster, keeps=[held_by(pod) for pod in leavers])
            found += maker.closing(node, request) if request else []
    return found


def left_for_good(plan: Plan, rest: Plan, emptied: Sequence[str]) -> list[str]:
    """Nodes that pods leave and on which nobody arrives in the whole plan: those that a taint can close."""
    arriving = destinations(plan)
    return list(dict.fromkeys([*emptied, *(move.from_node for move in rest.moves if move.from_node not in arriving)]))


def empty_before(plan: Plan, rest: Plan, emptied: Sequence[str], cluster: Cluster, leavers: Sequence[Pod]) -> list[str]:
    """Nodes that are empty already, which would attract the pods of nodes that are to be emptied."""
    if not empties_nodes(rest.moves):
        return []
    used = destinations(plan).union(emptied)
    return [
        node.name
        for node in cluster.nodes
        if node.name not in used and may_receive(node, leavers) and not standing_on(cluster, node.name)
    ]


def enough_to_close(
    node: str,
    leavers: Sequence[Pod],
    cluster: Cluster,
    *,
    keeps: Sequence[Resources] = (),
    beside: Sequence[HeldRoom] = (),
) -> Resources:
    """A request that lets none of these pods back onto the node they leave; empty if nothing is needed for that.

    ``keeps``: what it keeps in any case; ``beside``: placeholders that stand there too.
    """
    room = room_after(cluster, node, leavers)
    for hold in beside:
        take(room, hold.request.requests)
    amounts: dict[str, int] = {}
    for requests in keeps:
        take(room, requests)
        for resource, amount in requests:
            amounts[resource] = amounts.get(resource, 0) + amount
    return enlarged(resources(amounts.items()), room, leavers)


def may_receive(node: Node, pods: Iterable[Pod]) -> bool:
    """Whether any of these pods could be put on a node, as far as its state and its taints go."""
    if node.is_unschedulable or node.is_virtual or node.problem is not None:
        return False
    bans = [taint for taint in node.taints if taint.effect in BANS]
    every = {pod.spec.tolerations for pod in pods}
    return any(all(is_tolerated(taint, tolerations) for taint in bans) for tolerations in every)


FEW_MOVES: Final = 20
"""So many destinations are kept from the beginning; those of larger plans one wave after the other."""


class RoomKeeper:
    """Sets and removes the placeholders and taints of one plan. ``warnings``: what could not be kept.

    A taint closes nodes on which nobody arrives; all other room can only be kept by placeholders.
    """

    def __init__(self, holds: Holds, maker: HoldMaker, plan: Plan, support: GuidanceSupport = PLACEHOLDERS) -> None:
        self.warnings: list[str] = []
        self.maker = maker
        self._holds = holds
        self._plan = plan
        self._support = support
        self._closed: frozenset[str] = frozenset()
        self._of_segment: list[HeldRoom] = []

    def begin(self, rest: Plan, emptied: Sequence[str], cluster: Cluster) -> None:
        """Keep what has to be kept before the first eviction. Raises ClusterError, PlanStoppedError."""
        kept = self._closings(rest, emptied, cluster)
        self._closed = frozenset(hold.request.node for hold in kept)
        if self._support.has_placeholders:
            is_small = 1 < len(rest.moves) <= FEW_MOVES
            kept += needed_holds(rest, cluster, self.maker, rest.moves if is_small else ())
        self._holds.set(kept)

    def before_segment(self, rest: Plan, moves: Sequence[Move], cluster: Cluster) -> None:
        """Keep what the first segment of the rest needs, and what it makes for later ones."""
        if not self._support.has_placeholders:
            return
        self._holds.set(self._destinations(rest, moves, cluster))
        for node, leavers in leavers_by_node(moves, cluster).items():
            if node not in self._closed:
                request = enough_to_close(node, leavers, cluster, beside=self._holds.on([node]))
                self._of_segment += self.maker.closing(node, request) if request else []
        self._holds.set(self._of_segment)

    def after_segment(self) -> None:
        """Open the nodes that were closed for one segment only."""
        self._holds.remove(self._of_segment)
        self._of_segment = []

    def _closings(self, rest: Plan, emptied: Sequence[str], cluster: Cluster) -> list[HeldRoom]:
        empty = empty_before(self._plan, rest, emptied, cluster, self.maker.leavers)
        if len(empty) > MOST_EMPTY_CLOSED:
            self.warnings.append(
                f"{len(empty)} nodes are empty already, too many to keep them closed ({MOST_EMPTY_CLOSED} at most): "
                "the scheduler may use some of them"
            )
            empty = []
        kept = []
        if self._support.has_taints:
            kept = [self.maker.taint(name) for name in [*left_for_good(self._plan, rest, emptied), *empty]]
            if not self._tolerating():
                return kept
        if self._support.has_placeholders:
            kept += closings(self._plan, rest, emptied, cluster, self.maker)
            for name in empty:
                kept += self.maker.closing(name, self.maker.full)
        else:
            self.warnings.append(f"our taint does not keep off {', '.join(self._tolerating())}, which tolerate it")
        return kept

    def _tolerating(self) -> list[str]:
        """Pods that move and whose successors our taint would not keep off."""
        ours = leaving_taint("", 0.0)
        return [pod.key for pod in self.maker.leavers if is_tolerated(ours, pod.spec.tolerations)]

    def _destinations(self, rest: Plan, moves: Sequence[Move], cluster: Cluster) -> list[HeldRoom]:
        """Destinations that have no placeholder yet: contested ones of these moves, and those they make room for."""
        if len(self._plan.moves) <= 1:
            return []
        first = first_departures(rest)
        contested, last = self._contested(moves, cluster), max((move.wave for move in moves), default=0)
        found = []
        for move in rest.moves:
            is_made = first.get(move.to_node, move.wave) < move.wave
            is_due = move.to_node in contested if move.wave <= last else first.get(move.to_node, last + 1) <= last
            if (is_due or (is_made and move.wave <= last)) and self._holds.of(move.pod) is None:
                spec = cluster.pod_by_key[move.pod.key].spec
                hold = self.maker.hold(
                    move.to_node,
                    spec.requests,
                    spec.scheduler_name,
                    pod=move.pod,
                    is_made_by_plan=is_made,
                )
                found.append(hold)
        return found

    def _contested(self, wave: Sequence[Move], cluster: Cluster) -> set[str]:
        """Nodes where a pod of the wave that is not expected there could take the room of one that is."""
        pods = cluster.pod_by_key
        coming: dict[str, list[Move]] = {}
        for move in wave:
            coming.setdefault(move.to_node, []).append(move)
        kinds = {pods[move.pod.key].spec.requests for move in wave}
        found = set()
        for node, arrivals in coming.items():
            room = free_room(cluster, node)
            for move in arrivals:
                take(room, pods[move.pod.key].spec.requests)
            for hold in self._holds.on([node], but_for=[move.pod for move in arrivals]):
                take(room, hold.request.requests)
            if len(arrivals) < len(wave) and not all(fits(room, requests) for requests in kinds):
                found.add(node)
        return found
