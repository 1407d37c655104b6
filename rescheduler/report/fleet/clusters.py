"""Clusters side by side, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.table import Table

_MOST_RULES = 3


def clusters(document: dict[str, Any]) -> Iterator[RenderableType]:
    """A row for each cluster: what could be gained, for how many evictions, and what stands in the way."""
    table = Table(box=None, pad_edge=False)
    for name in ("CLUSTER", "TIME", "EVICTIONS", "NODES EMPTIED", "OBJECTIVES", "IN THE WAY"):
        table.add_column(name, justify="right" if name in ("EVICTIONS", "NODES EMPTIED") else "left")
    for one in document["clusters"]:
        if one["error"] is not None:
            table.add_row(one["name"], "-", "-", "-", "failed", one["error"])
            continue
        objectives = ", ".join(_objective(found) for found in one["objectives"])
        rules = ", ".join(f"{item['rule']} {item['count']}" for item in one["whatStandsInTheWay"][:_MOST_RULES])
        table.add_row(one["name"], one["time"], str(one["evictions"]), str(one["nodesEmptied"]), objectives, rules)
    yield table
    failed = sum(one["error"] is not None for one in document["clusters"])
    yield f"{len(document['clusters'])} clusters, {failed} failed"


def _objective(one: dict[str, Any]) -> str:
    value = "" if one["value"] is None else f" {one['value']:g}"
    return f"{one['name']} {one['status']}{value}"
