"""Policies side by side, for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from rich.console import RenderableType
from rich.table import Table

_LARGE: Final = 1000


def comparison(document: dict[str, Any]) -> Iterator[RenderableType]:
    """A row for each policy and setting, what it differs by from the first, and who pays most."""
    archive = document["archive"]
    kind = "one history each" if document["replay"] else "each snapshot by itself"
    yield f"{archive['snapshots']} snapshots from {archive['from']} to {archive['to']}, {kind}"
    table = Table(box=None, pad_edge=False)
    columns: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
        ("POLICY", called), ("EVICTIONS", lambda one: str(one["evictions"]["total"])),
        ("A PLAN", lambda one: told(one["evictions"])), ("NODES EMPTIED", lambda one: told(one["nodesEmptied"])),
        *([("SAVED A MONTH", saved)] if is_priced(document) else []),
        ("PENDING MIN", lambda one: number(one["pendingMinutes"])), ("MOVED AGAIN", lambda one: number(one["churn"])),
        ("AGAINST THE FIRST", lambda one: against_first(one["difference"])),
    ]  # fmt: skip
    for name, _ in columns:
        table.add_column(name, justify="left" if name in ("POLICY", "AGAINST THE FIRST") else "right")
    for one in document["summary"]:
        table.add_row(*(cell(one) for _, cell in columns))
    yield table
    yield from unpriced(document)
    for one in document["summary"]:
        if one["workloads"]:
            payers = ", ".join(f"{item['workload']} {item['evictions']}" for item in one["workloads"][:3])
            yield f"{called(one)}: most moved: {payers}"
        if one["refusals"]:
            most = sorted(one["refusals"].items(), key=lambda item: (-item[1], item[0]))[:3]
            yield f"{called(one)}: most refused by: {', '.join(f'{rule} {count}' for rule, count in most)}"
    if document["failed"]:
        yield f"{len(document['failed'])} failed; -o json lists each"


def called(one: dict[str, Any]) -> str:
    """A policy and its setting."""
    return " ".join([str(one["policy"]), *(f"{field}={value}" for field, value in one["setting"].items())])


def is_priced(document: dict[str, Any]) -> bool:
    """Whether money is told of any policy."""
    return any(one["cost"] is not None for one in document["summary"])


def saved(one: dict[str, Any]) -> str:
    """What a policy saves a month, and in how many hours of it."""
    cost = one["cost"]
    if cost is None or cost["saving"]["mean"] is None:
        return "-"
    return f"{told(cost['saving'])} {cost['currency']}, {number(cost['savingPerHour'])} an hour"


def unpriced(document: dict[str, Any]) -> Iterator[str]:
    """Policies for which some nodes have no price."""
    for one in document["summary"]:
        if one["cost"] is not None and one["cost"]["unpriced"]:
            yield f"{called(one)}: up to {one['cost']['unpriced']} nodes have no price and count nothing in money"


def told(interval: dict[str, Any]) -> str:
    """A mean and its interval."""
    if interval["mean"] is None:
        return "-"
    return f"{number(interval['mean'])} [{number(interval['low'])}, {number(interval['high'])}]"


def against_first(difference: dict[str, Any] | None) -> str:
    """What tells better from worse; intervals without 0 in them are the ones to believe."""
    if difference is None:
        return ""
    parts = (("evictions", "evictions"), ("nodesInUse", "nodes in use"), ("cost", "cost a month"),
             ("pendingAfter", "pending"))  # fmt: skip
    return ", ".join(f"{words} {told(difference[name])}" for name, words in parts if difference[name]["mean"])


def number(value: float | None) -> str:
    """Four digits where there are less before the point, else all of those."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.4g}"
