"""What the rows of a policy and setting come to, and how they differ from the first. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rescheduler.batch.backtest.resampling import DIGITS, interval
from rescheduler.batch.backtest.task import BacktestRow, Planned

MOST_WORKLOADS: Final = 10


def summary_of(
    planned: Sequence[Planned], first: Sequence[Planned] | None, seed: int, hours_per_month: float
) -> dict[str, Any]:
    """One policy and setting, by time; ``first``: what it is compared with, None for itself."""
    rows = [one.row for one in planned if one.row is not None]
    workloads: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    for one in planned:
        workloads.update(one.workloads)
        refusals.update(one.row.refusals if one.row is not None else {})
    evictions = [row.evictions for row in rows]
    payers = sorted(workloads.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORKLOADS]
    return {
        "plans": len(rows),
        "evictions": {"total": sum(evictions), **interval(evictions, seed)._asdict()},
        "nodesEmptied": interval([row.nodes_emptied for row in rows], seed)._asdict(),
        "objectives": _objectives(rows, seed),
        "cost": cost_summary(planned, seed, hours_per_month),
        "pendingMinutes": _total([row.pending_minutes for row in rows]),
        "churn": _total([row.churn for row in rows]),
        "refusals": dict(sorted(refusals.items())),
        "workloads": [{"workload": name, "evictions": count} for name, count in payers],
        "difference": None if first is None else _difference(rows, [one.row for one in first if one.row], seed),
    }


def _objectives(rows: Sequence[BacktestRow], seed: int) -> list[dict[str, Any]]:
    return [{"name": name, **interval(found, seed)._asdict()} for name, found in _values(rows).items()]


def _values(rows: Sequence[BacktestRow]) -> Mapping[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in rows:
        for one in row.objectives:
            values = found.setdefault(one["name"], [])
            values += [one["value"]] if one["value"] is not None else []
    return found


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known), DIGITS) if known else None


_COMPARED: Final[Mapping[str, Callable[[BacktestRow], float | None]]] = {
    "evictions": lambda row: row.evictions,
    "nodesEmptied": lambda row: row.nodes_emptied,
    "nodesInUse": lambda row: row.nodes_in_use,
    "pendingAfter": lambda row: row.pending_after,
    "pendingMinutes": lambda row: row.pending_minutes,
    "churn": lambda row: row.churn,
    "overload": lambda row: row.overload,
}


def _difference(rows: Sequence[BacktestRow], first: Sequence[BacktestRow], seed: int) -> dict[str, Any]:
    """These less those of the first, at the times that both have."""
    theirs = {row.time: row for row in first}
    pairs = [(row, theirs[row.time]) for row in rows if row.time in theirs]
    found: dict[str, Any] = {"times": len(pairs)}
    for name, value in _COMPARED.items():
        both = [(value(one), value(other)) for one, other in pairs]
        found[name] = interval([a - b for a, b in both if a is not None and b is not None], seed)._asdict()
    found["cost"] = interval(cost_differences(pairs), seed)._asdict()
    ours, others = ({row.time: _by_name(row) for row in side} for side in (rows, first))
    names = [name for name in _values(rows) if name in _values(first)]
    found["objectives"] = [
        {"name": name, **interval(_differences(ours, others, name), seed)._asdict()} for name in names
    ]
    return found


def _by_name(row: BacktestRow) -> dict[str, float]:
    return {one["name"]: one["value"] for one in row.objectives if one["value"] is not None}


def _differences(
    ours: Mapping[str, dict[str, float]], theirs: Mapping[str, dict[str, float]], name: str
) -> list[float]:
    return [
        values[name] - theirs[time][name]
        for time, values in ours.items()
        if name in values and name in theirs.get(time, {})
    ]


def cost_summary(planned: Sequence[Planned], seed: int, hours_per_month: float) -> dict[str, Any] | None:
    """Means a month; None where no node has a price. ``saving``: beside the same nodes with nothing moved."""
    priced = [(one, one.row.cost) for one in planned if one.row is not None and one.row.cost is not None]
    if not priced:
        return None
    saving = interval([one.unmoved - cost["after"] for one, cost in priced if one.unmoved is not None], seed)
    return {
        "currency": priced[0][1]["currency"],
        "before": interval([cost["before"] for _, cost in priced], seed)._asdict(),
        "after": interval([cost["after"] for _, cost in priced], seed)._asdict(),
        "saving": saving._asdict(),
        "savingPerHour": None if saving.mean is None else round(saving.mean / hours_per_month, DIGITS),
        "unpriced": max(one.unpriced for one, _ in priced),
    }


def cost_differences(pairs: Sequence[tuple[BacktestRow, BacktestRow]]) -> list[float]:
    """By how much more one's nodes cost than the other's, a month, where both are told in the same currency."""
    costs = [(one.cost, other.cost) for one, other in pairs]
    return [
        one["after"] - other["after"]
        for one, other in costs
        if one is not None and other is not None and one["currency"] == other["currency"]
    ]
