"""What a policy's nodes cost over an archive, and what it saves of that. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rescheduler.backtest.resampling import DIGITS, interval
from rescheduler.backtest.task import BacktestRow, Planned


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
