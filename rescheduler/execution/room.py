"""Keeps the room that a plan needs kept: nodes closed for the whole plan, destinations when their wave comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rescheduler.execution.closing import closings, empty_before, enough_to_close, left_for_good
from rescheduler.execution.holding import (
    Hold,
    HoldMaker,
    first_departures,
    fits,
    free_room,
    leavers_by_node,
    needed_holds,
    take,
)
from rescheduler.execution.holds import Holds
from rescheduler.execution.means import PLACEHOLDERS, Means
from rescheduler.model.cluster import Cluster
from rescheduler.model.leaving_taint import leaving_taint
from rescheduler.model.plan import MOST_EMPTY_CLOSED, Move, Plan
from rescheduler.model.taints import tolerates

FEW_MOVES: Final = 20
"""So many destinations are kept from the beginning; those of larger plans one wave after the other."""


class RoomKeeper:
    """Sets and removes the placeholders and taints of one plan. ``warnings``: what could not be kept.

    A taint closes nodes on which nobody arrives; all other room can only be kept by placeholders.
    """

    def __init__(self, holds: Holds, maker: HoldMaker, plan: Plan, means: Means = PLACEHOLDERS) -> None:
        self.warnings: list[str] = []
        self.maker = maker
        self._holds = holds
        self._plan = plan
        self._means = means
        self._closed: frozenset[str] = frozenset()
        self._of_wave: list[Hold] = []

    def begin(self, rest: Plan, emptied: Sequence[str], cluster: Cluster) -> None:
        """Keep what has to be kept before the first eviction. Raises ClusterError, PlanStoppedError."""
        kept = self._closings(rest, emptied, cluster)
        self._closed = frozenset(hold.request.node for hold in kept)
        if self._means.has_placeholders:
            is_small = 1 < len(rest.moves) <= FEW_MOVES
            kept += needed_holds(rest, cluster, self.maker, rest.moves if is_small else ())
        self._holds.set(kept)

    def before_wave(self, rest: Plan, cluster: Cluster) -> None:
        """Keep what the first wave of the rest needs, and what it makes for later ones."""
        if not self._means.has_placeholders:
            return
        wave = [move for move in rest.moves if move.wave == 1]
        self._holds.set(self._destinations(rest, wave, cluster))
        for node, leavers in leavers_by_node(wave, cluster).items():
            if node not in self._closed:
                request = enough_to_close(node, leavers, cluster, beside=self._holds.on([node]))
                self._of_wave += self.maker.closing(node, request) if request else []
        self._holds.set(self._of_wave)

    def after_wave(self) -> None:
        """Open the nodes that were closed for one wave only."""
        self._holds.remove(self._of_wave)
        self._of_wave = []

    def _closings(self, rest: Plan, emptied: Sequence[str], cluster: Cluster) -> list[Hold]:
        empty = empty_before(self._plan, rest, emptied, cluster, self.maker.leavers)
        if len(empty) > MOST_EMPTY_CLOSED:
            self.warnings.append(
                f"{len(empty)} nodes are empty already, too many to keep them closed ({MOST_EMPTY_CLOSED} at most): "
                "the scheduler may use some of them"
            )
            empty = []
        kept = []
        if self._means.has_taints:
            kept = [self.maker.taint(name) for name in [*left_for_good(self._plan, rest, emptied), *empty]]
            if not self._tolerating():
                return kept
        if self._means.has_placeholders:
            kept += closings(self._plan, rest, emptied, cluster, self.maker)
            for name in empty:
                kept += self.maker.closing(name, self.maker.full)
        else:
            self.warnings.append(f"our taint does not keep off {', '.join(self._tolerating())}, which tolerate it")
        return kept

    def _tolerating(self) -> list[str]:
        """Pods that move and whose successors our taint would not keep off."""
        ours = leaving_taint("", 0.0)
        return [pod.key for pod in self.maker.leavers if any(tolerates(item, ours) for item in pod.spec.tolerations)]

    def _destinations(self, rest: Plan, wave: Sequence[Move], cluster: Cluster) -> list[Hold]:
        """Destinations that have no placeholder yet: contested ones of this wave, and those it makes room for."""
        if len(self._plan.moves) <= 1:
            return []
        first = first_departures(rest)
        contested = self._contested(wave, cluster)
        found = []
        for move in rest.moves:
            is_due = move.to_node in contested if move.wave == 1 else first.get(move.to_node) == 1
            if is_due and self._holds.of(move.pod) is None:
                spec = cluster.pod_by_key[move.pod.key].spec
                hold = self.maker.hold(
                    move.to_node,
                    spec.requests,
                    spec.scheduler_name,
                    pod=move.pod,
                    host_ports=spec.host_ports,
                    is_made_by_plan=first.get(move.to_node, move.wave) < move.wave,
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
