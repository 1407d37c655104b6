"""Reads the cluster from the watches while a plan runs, if what the plan rests on is proven fresh; else anew, whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from rescheduler.adapters.kubernetes.watch.freshness import Freshness, StaleMirrorError
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.adapters.kubernetes.watch.watched_scope import WatchedScope
from rescheduler.extension_points import Clock, ClusterError, ClusterReader
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan

WITHIN_SECONDS: Final = 0.5
"""A proof that began no longer ago serves a snapshot."""
LONG_LIST: Final = 2_000
"""Pods whose list takes longer than watches do that begin anew: what it tells is older, and each look would ask for it.

A plan over 500 nodes rests on 500 parts, and listed 5,000 pods 430 times."""
QUIET_SECONDS: Final = 1.0
"""A watch that has told nothing for so long begins anew before it is believed: the server then sends what lacks."""
ANSWER_SECONDS: Final = 3.0
LOOK_SECONDS: Final = 0.01
_IN_NAMESPACE: Final = ("Pod", "PodDisruptionBudget", "ReplicaSet", "StatefulSet", "ReplicationController")

_FOR_SURGES: Final = ("Deployment", "Service")


def scopes_of(plan: Plan, own_namespace: str) -> tuple[WatchedScope, ...]:
    """What the gate and the checker go by where they judge a plan.

    Nodes that pods leave or come to with the pods there, and of each namespace its pods, budgets and owners.
    ``own_namespace``: where the kill switch may stand.
    """
    nodes = {move.from_node for move in plan.moves} | {move.to_node for move in plan.moves}
    nodes = {name for name in nodes | {item.node for item in plan.placements} if name}
    surging = {move.pod.namespace for move in plan.moves if move.method is MoveMethod.SURGE}
    namespaces = {move.pod.namespace for move in plan.moves} | {item.pod.namespace for item in plan.placements}
    return (
        WatchedScope("Namespace", name=own_namespace),
        *(WatchedScope("Node", name=name) for name in sorted(nodes)),
        *(WatchedScope("Pod", node=name) for name in sorted(nodes)),
        *(WatchedScope(kind, namespace=name) for name in sorted(namespaces) for kind in _IN_NAMESPACE),
        *(WatchedScope(kind, namespace=name) for name in sorted(surging) for kind in _FOR_SURGES),
    )


class ProvenReader(ClusterReader):
    """What is not proven, and what is not watched just now, is listed.

    But for large clusters where a plan rests on more than can be proven in time: what each of its moves rests on is
    proven by itself before it is sent, and a list would take longer than anything is believed.
    """

    def __init__(
        self,
        mirror: Mirror,
        freshness: Freshness,
        live: ClusterReader,
        scopes: Callable[[], Sequence[WatchedScope]],
        clock: Clock,
    ) -> None:
        """``scopes``: of the plan that is being carried out; none: no plan is."""
        self._mirror, self._freshness, self._live, self._scopes = mirror, freshness, live, scopes
        self._clock = clock

    def read(self) -> Cluster:
        """What it shows of the scopes is half a second older than this call at most; of the rest, what watches that
        live have told.

        It counts as taken when the call began, as a list does: who reckons the server's time by the two would else be
        ahead by what the proof took, and take replacements for older than the evictions that they are for.
        Raises ClusterError.
        """
        began, scopes = self._clock.monotonic(), self._scopes()
        if scopes and self._watches_live():
            try:
                self._prove(scopes)
                found = self._mirror.snapshot()
                return replace(found, taken_at=found.taken_at - (self._clock.monotonic() - began))
            except ClusterError:
                pass  # the list tells the same, or why it cannot be had
        return self._live.read()

    def _prove(self, scopes: Sequence[WatchedScope]) -> None:
        """Raises ClusterError where the cluster has to be listed."""
        try:
            self._freshness.prove(scopes, within=WITHIN_SECONDS)
        except StaleMirrorError:
            raise
        except ClusterError:
            if len(self._mirror.stores["Pod"]) < LONG_LIST:
                raise

    def _watches_live(self) -> bool:
        """Whether every watch has told something lately, or has just begun anew."""
        if self._mirror.kinds_out_of_sync():
            return False
        began = self._clock.monotonic()
        self._mirror.renew(QUIET_SECONDS)
        while self._mirror.age_seconds() > QUIET_SECONDS + self._clock.monotonic() - began:
            if self._clock.monotonic() - began > ANSWER_SECONDS:
                return False
            self._clock.sleep(LOOK_SECONDS)
        return not self._mirror.kinds_out_of_sync()
