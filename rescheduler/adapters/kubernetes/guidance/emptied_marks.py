"""Marks nodes as emptied, by our own annotation or taint, and takes the marks off; nothing else is ever changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.guidance.node_writes import NodeForm, change_node, read_nodes
from rescheduler.model.daemon.capacity import EMPTIED, TAINT, emptied_annotation, emptied_taint, offered_until
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.plan.leaving_taint import SLACK_SECONDS

_LACKING: Final = "it could not be marked"


def mark(connection: Connection, node: str, how: str, until: float) -> None:
    """Mark a node until then, or renew the mark; one that is gone is fine. Raises ClusterError."""

    def change(found: NodeForm) -> Mapping[str, Any]:
        if how != TAINT:
            return {"metadata": {"annotations": {EMPTIED: emptied_annotation(until)}}}
        ours = emptied_taint(until)
        taints = [*_others(found), {"key": ours.key, "value": ours.value, "effect": ours.effect}]
        return {"spec": {"taints": taints}}

    change_node(connection, node, change, _LACKING)


def unmark(connection: Connection, node: str, *, run_out_at: float | None = None) -> bool:
    """Take both marks off a node; whether it had one. Raises ClusterError.

    ``run_out_at``: only if it has run out then.
    """

    def change(found: NodeForm) -> Mapping[str, Any] | None:
        if run_out_at is not None and not _has_run_out(found, run_out_at):
            return None
        body: dict[str, Any] = {}
        if EMPTIED in (found.metadata.annotations or ()):
            body["metadata"] = {"annotations": {EMPTIED: None}}
        if any(map(_is_ours, found.spec.taints or ())):
            body["spec"] = {"taints": _others(found) or None}
        return body or None

    return change_node(connection, node, change, _LACKING) is not None


def find_marks(connection: Connection, *, run_out_at: float | None = None) -> list[str]:
    """Nodes that carry one of our marks; ``run_out_at``: only if it has run out then. Raises ClusterError."""
    return [
        node.metadata.name
        for node in read_nodes(connection)
        if (_is_marked(node) if run_out_at is None else _has_run_out(node, run_out_at))
    ]


def _is_marked(node: NodeForm) -> bool:
    """Whether it carries one of our marks."""
    return EMPTIED in (node.metadata.annotations or ()) or any(map(_is_ours, node.spec.taints or ()))


def _has_run_out(node: NodeForm, now: float) -> bool:
    """Whether it is marked, and nobody has renewed the mark."""
    ours = tuple(Taint(EMPTIED, str(item.get("value", ""))) for item in node.spec.taints or () if _is_ours(item))
    written = node.metadata.annotations or {}
    notes = {EMPTIED: str(written[EMPTIED])} if EMPTIED in written else {}
    until = offered_until(Node(name=node.metadata.name, annotations=notes, taints=ours))
    return until is not None and now > until + SLACK_SECONDS


def _others(node: NodeForm) -> list[dict[str, Any]]:
    return [item for item in node.spec.taints or () if not _is_ours(item)]


def _is_ours(item: dict[str, Any]) -> bool:
    return item.get("key") == EMPTIED
