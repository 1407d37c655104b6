"""Clusters side by side, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import Any

from rich.console import RenderableType
from rich.table import Table

_MOST_RULES = 3


def clusters(document: dict[str, Any]) -> Iterator[RenderableType]:
    """A row for each cluster: what could be gained, for how many evictions, and what stands in the way."""
    table = Table(box=None, pad_edge=False)
    for name in ("CLUSTER", "TIME", "EVICTIONS", "NODES EMPTIED", "COST A MONTH", "OBJECTIVES", "IN THE WAY"):
        table.add_column(name, justify="right" if name in ("EVICTIONS", "NODES EMPTIED") else "left")
    for one in document["clusters"]:
        if one["error"] is not None:
            table.add_row(one["name"], "-", "-", "-", "-", "failed", one["error"])
            continue
        objectives = ", ".join(_objective(found) for found in one["objectives"])
        rules = ", ".join(f"{item['rule']} {item['count']}" for item in one["whatStandsInTheWay"][:_MOST_RULES])
        table.add_row(
            one["name"], one["time"], str(one["evictions"]), str(one["nodesEmptied"]), _cost(one["cost"]), objectives,
            rules,
        )  # fmt: skip
    yield table
    yield from _totals(document)
    failed = sum(one["error"] is not None for one in document["clusters"])
    yield f"{len(document['clusters'])} clusters, {failed} failed"


def _cost(cost: dict[str, Any] | None) -> str:
    """All nodes as they are, and what is left once empty ones are given back."""
    return "-" if cost is None else f"{cost['before']:,.2f} to {cost['after']:,.2f} {cost['currency']}"


def _totals(document: dict[str, Any]) -> Iterator[str]:
    """What clusters cost together, by currency."""
    costs = [one["cost"] for one in document["clusters"] if one["cost"] is not None]
    for currency in dict.fromkeys(cost["currency"] for cost in costs):
        alike = [cost for cost in costs if cost["currency"] == currency]
        total = {name: fsum(cost[name] for cost in alike) for name in ("before", "after")}
        yield f"{_cost({'currency': currency, **total})} a month with what can be emptied, in {len(alike)} clusters"


def _objective(one: dict[str, Any]) -> str:
    value = "" if one["value"] is None else f" {one['value']:g}"
    return f"{one['name']} {one['status']}{value}"
