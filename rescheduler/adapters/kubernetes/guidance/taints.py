"""Puts our own taint on nodes and takes it off again; no other taint and no other field is ever changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import all_tried
from rescheduler.adapters.kubernetes.guidance.node_writes import NodeForm, change_node, read_nodes
from rescheduler.adapters.kubernetes.rights.parts import CHANGE_NODES
from rescheduler.adapters.kubernetes.rights.rights import missing
from rescheduler.extension_points import Clock, ClusterError, TaintLostError
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.plan.leaving_taint import LEAVING, NO_SCHEDULE, ends_at, is_expired, leaving_taint, plan_of

_LACKING: Final = "its taints could not be written"


class TaintedNode(NamedTuple):
    """A node that carries our taint."""

    node: str
    taint: Taint

    def text(self, now: float) -> str:
        """For people."""
        left = ends_at(self.taint) - now
        state = f"ends in {left:.0f} s unless it is renewed" if left >= 0 else f"ran out {-left:.0f} s ago"
        return f"taint {LEAVING} on node {self.node} of plan {plan_of(self.taint) or 'unknown'}, {state}"


class NodeTaints:
    """The taints of one process."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._plan_id = ""
        self._standing: dict[str, str] = {}

    def why_not(self) -> str | None:
        """The reason why nodes cannot be tainted, None if they can. Raises ClusterError."""
        lacking = missing(self._connection, CHANGE_NODES, "")
        if not lacking:
            return None
        return f"we may not {', '.join(right.text for right in lacking)}; deploy/taint.yaml grants it"

    def put(self, nodes: Sequence[str], plan_id: str, deadline_seconds: float) -> None:
        """Put the taint on nodes, or renew it; nodes that are gone are fine.

        Raises ClusterError where another plan's taint stands, or where somebody took off the one that we had put there.
        """
        self._plan_id = plan_id
        for name in nodes:
            uid = _change(self._connection, name, lambda node: self._with_taint(node, deadline_seconds))
            if uid is not None:
                self._standing[name] = uid

    def take_off(self, nodes: Sequence[str]) -> None:
        """Take this process' taint, or an expired one, off nodes. Raises ClusterError when one could not be."""
        for name in nodes:
            self._standing.pop(name, None)
        all_tried(partial(_change, self._connection, name, self._without_taint) for name in nodes)

    def _with_taint(self, node: NodeForm, deadline_seconds: float) -> list[dict[str, Any]]:
        now = self._clock.now()
        standing = _ours(node)
        if standing is not None and plan_of(standing) != self._plan_id and not is_expired(standing, now):
            raise ClusterError(TaintedNode(node.metadata.name, standing).text(now) + "; let that run end first")
        if standing is None and self._standing.get(node.metadata.name) == node.metadata.uid:
            raise TaintLostError(f"somebody took our taint {LEAVING} off node {node.metadata.name}")
        ours = leaving_taint(self._plan_id, now + deadline_seconds)
        return [*_others(node), {"key": ours.key, "value": ours.value, "effect": ours.effect}]

    def _without_taint(self, node: NodeForm) -> list[dict[str, Any]] | None:
        found = _ours(node)
        is_due = found is not None and (plan_of(found) == self._plan_id or is_expired(found, self._clock.now()))
        return _others(node) if is_due else None


def find_taints(connection: Connection) -> list[TaintedNode]:
    """Nodes that carry our taint, of any plan. Raises ClusterError."""
    found = ((node.metadata.name, _ours(node)) for node in read_nodes(connection))
    return [TaintedNode(name, taint) for name, taint in found if taint is not None]


def remove_taint(connection: Connection, found: TaintedNode) -> bool:
    """Take one taint off, if it still is the one that was found or that one renewed. Raises ClusterError."""
    plan_id = plan_of(found.taint)

    def others(node: NodeForm) -> list[dict[str, Any]] | None:
        taint = _ours(node)
        return _others(node) if taint is not None and plan_of(taint) == plan_id else None

    return _change(connection, found.node, others) is not None


def remove_unless_renewed(connection: Connection, found: TaintedNode) -> bool:
    """Take one taint off if it still is exactly the one that was found. Raises ClusterError."""

    def others(node: NodeForm) -> list[dict[str, Any]] | None:
        return _others(node) if _ours(node) == found.taint else None

    return _change(connection, found.node, others) is not None


def sweep_taints(connection: Connection, plan_id: str | None) -> list[str]:
    """Take the taints of a plan (None: of any) off all nodes; the nodes that carried one. Raises ClusterError."""
    wanted = [item for item in find_taints(connection) if plan_id in (None, plan_of(item.taint))]
    return [item.node for item in wanted if remove_taint(connection, item)]


def _change(connection: Connection, name: str, taints: Callable[[NodeForm], list[dict[str, Any]] | None]) -> str | None:
    """Write what ``taints`` makes of a node's taints (None: nothing to do); see ``change_node``."""

    def change(node: NodeForm) -> dict[str, Any] | None:
        wanted = taints(node)
        return None if wanted is None else {"spec": {"taints": wanted or None}}

    return change_node(connection, name, change, _LACKING)


def _ours(node: NodeForm) -> Taint | None:
    """Our taint, if it is there."""
    found = [item for item in node.spec.taints or () if _is_ours(item)]
    return Taint(LEAVING, str(found[0].get("value", "")), NO_SCHEDULE) if found else None


def _others(node: NodeForm) -> list[dict[str, Any]]:
    return [item for item in node.spec.taints or () if not _is_ours(item)]


def _is_ours(item: dict[str, Any]) -> bool:
    return item.get("key") == LEAVING and item.get("effect") == NO_SCHEDULE
