"""A move that rests on measured use needs both its nodes measured well: here use may only forbid, never allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rescheduler.model.plan import Move
from rescheduler.model.trust import NodeTrust, Trust, TrustState

USAGE_BASED: Final = frozenset({"SpreadLoad"})
"""Objectives whose moves rest on measured use wherever it is measured."""
_UNKNOWN: Final = Trust(TrustState.MISSING, "nothing was measured of it")


def distrusted(move: Move, trust: NodeTrust | None) -> Iterator[tuple[str, str]]:
    """Rule and reason against a usage-based move; nothing against any other. ``trust`` None: see GateContext."""
    if trust is None or move.objective not in USAGE_BASED:
        return
    if trust.freeze:
        yield "UsageFrozen", f"stays: nothing moves by usage now: {trust.freeze}"
    for node in (move.from_node, move.to_node):
        found = trust.by_node.get(node, _UNKNOWN)
        if not found.is_usable:
            yield "UsageTrust", f"stays: the usage of node {node} is {found.state}: {found.reason or 'no reason given'}"
