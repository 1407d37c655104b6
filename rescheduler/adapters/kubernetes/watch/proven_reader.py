"""Reads the cluster from the watches while a plan runs, if what the plan rests on is proven fresh; else anew, whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rescheduler.adapters.kubernetes.watch.freshness import Freshness
from rescheduler.adapters.kubernetes.watch.kind_store import Scope
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.extension_points import ClusterError, ClusterReader
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan

MOST_SCOPES: Final = 32
"""A plan that rests on more parts than this is better served by one list of everything."""
_IN_NAMESPACE: Final = ("Pod", "PodDisruptionBudget", "ReplicaSet", "StatefulSet", "ReplicationController")


def scopes_of(plan: Plan, own_namespace: str) -> tuple[Scope, ...]:
    """What the gate and the checker go by where they judge a plan.

    Nodes that pods leave or come to with the pods there, and of each namespace its pods, budgets and owners.
    ``own_namespace``: where the kill switch may stand.
    """
    nodes = {move.from_node for move in plan.moves} | {move.to_node for move in plan.moves}
    nodes |= {item.node for item in plan.placements}
    namespaces = {move.pod.namespace for move in plan.moves} | {item.pod.namespace for item in plan.placements}
    return (
        Scope("Namespace", name=own_namespace),
        *(Scope("Node", name=name) for name in sorted(nodes)),
        *(Scope("Pod", node=name) for name in sorted(nodes)),
        *(Scope(kind, namespace=name) for name in sorted(namespaces) for kind in _IN_NAMESPACE),
    )


class ProvenReader(ClusterReader):
    """What is not proven, and what is not watched just now, is listed."""

    def __init__(
        self, mirror: Mirror, freshness: Freshness, live: ClusterReader, scopes: Callable[[], Sequence[Scope]]
    ) -> None:
        """``scopes``: of the plan that is being carried out; none: no plan is."""
        self._mirror, self._freshness, self._live, self._scopes = mirror, freshness, live, scopes

    def read(self) -> Cluster:
        """What it shows of the scopes is no older than this call. Raises ClusterError."""
        scopes = self._scopes()
        if scopes and len(scopes) <= MOST_SCOPES and not self._mirror.kinds_out_of_sync():
            try:
                self._freshness.prove(scopes, within=0.0)
                return self._mirror.snapshot()
            except ClusterError:
                pass  # the list tells the same, or why it cannot be had
        return self._live.read()
