"""Our own taint on simulated nodes, with the same care for other plans' taints as on a live cluster."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.extension_points import ClusterError, TaintLostError
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.plan.leaving_taint import is_expired, is_leaving_taint, leaving_taint, plan_of


class SimulatedNodeTaints:
    """Taints as one process puts them; they do not end by themselves."""

    def __init__(self, store: ObjectStore, settings: SimulationSettings) -> None:
        self._store = store
        self._settings = settings
        self._plan_id = ""
        self._standing: dict[str, str] = {}

    def put(self, nodes: Sequence[str], plan_id: str, deadline_seconds: float) -> None:
        """Put or renew; nodes that are gone are fine. Raises ClusterError."""
        if self._settings.cannot_taint is not None:
            raise ClusterError(self._settings.cannot_taint)
        self._plan_id = plan_id
        for name in nodes:
            self._store.clock.sleep(self._settings.api_seconds)
            node = self._store.nodes.get(name)
            if node is None:
                continue
            self._check(node, plan_id)
            self._write(node, leaving_taint(plan_id, self._store.clock.now() + deadline_seconds))
            self._standing[name] = node.uid

    def take_off(self, nodes: Sequence[str]) -> None:
        """Take off what is this process' own, or expired."""
        for name in nodes:
            self._standing.pop(name, None)
            self._store.clock.sleep(self._settings.api_seconds)
            node = self._store.nodes.get(name)
            taint = None if node is None else _ours(node)
            if node is None or taint is None:
                continue
            if plan_of(taint) == self._plan_id or is_expired(taint, self._store.clock.now()):
                self._write(node, None)

    def _check(self, node: Node, plan_id: str) -> None:
        taint = _ours(node)
        if taint is None and self._standing.get(node.name) == node.uid:
            raise TaintLostError(f"somebody took our taint off node {node.name}")
        if taint is not None and plan_of(taint) != plan_id and not is_expired(taint, self._store.clock.now()):
            raise ClusterError(f"node {node.name} carries the taint of plan {plan_of(taint)}")

    def _write(self, node: Node, ours: Taint | None) -> None:
        kept = tuple(taint for taint in node.taints if not is_leaving_taint(taint))
        self._store.write("patch", "nodes", "", node.name, ours.value if ours else "")
        self._store.put_node(structs.replace(node, taints=kept if ours is None else (*kept, ours)))


def _ours(node: Node) -> Taint | None:
    return next((taint for taint in node.taints if is_leaving_taint(taint)), None)
