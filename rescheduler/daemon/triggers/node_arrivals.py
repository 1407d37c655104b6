"""Which nodes can take pods, and whether a node has come or grown since the look before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Final

from rescheduler.model.objects.node import Node, node_mark

FLAPPING_SECONDS: Final = 60.0
"""A node that was away for less long than this has not come: it was never quite gone."""


def is_usable(node: Node) -> bool:
    """Whether pods may be put on the node as it stands."""
    return (
        node.is_ready
        and not node.is_unschedulable
        and not node.is_virtual
        and node.problem is None
        and node_mark(node) is None
    )


def identity(node: Node) -> str:
    """The same for as long as the node is the same: a node that was made anew under its old name is another one."""
    return node.uid or node.name


@dataclass
class _Known:
    """A node since it was first seen. ``away_since``: since when it cannot take pods, None while it can."""

    away_since: float | None
    offered: dict[str, int] = field(default_factory=dict)


class NodeArrivals:
    """Remembers what each node offered at best."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: dict[str, _Known] | None = None

    def has_grown(self, nodes: Iterable[Node], now: float) -> bool:
        """Whether some node is usable that was not, or offers more than ever before; not at the first look."""
        before, present = self._known or {}, {}
        grown = False
        for node in nodes:
            key = identity(node)
            present[key] = known = before.get(key) or _Known(away_since=-inf)
            if is_usable(node):
                grown = _has_come(known, now) or grown
                grown = _offers_more(known, node) or grown
            elif known.away_since is None:
                known.away_since = now
        is_first, self._known = self._known is None, present
        return grown and not is_first


def _has_come(known: _Known, now: float) -> bool:
    away_since, known.away_since = known.away_since, None
    return away_since is not None and now - away_since > FLAPPING_SECONDS


def _offers_more(known: _Known, node: Node) -> bool:
    more = False
    for resource, amount in node.allocatable:
        if amount > known.offered.get(resource, 0):
            known.offered[resource] = amount
            more = True
    return more
