"""A back-test as one page that loads nothing: policies side by side, over time, and evictions against gain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from rescheduler.model.times import read_time
from rescheduler.report.backtest.comparison import against_first, called, is_priced, number, saved, told, unpriced
from rescheduler.report.html.rendering import page

WIDTH: Final = 720.0
HEIGHT: Final = 260.0
_LEFT, _BOTTOM, _TOP, _RIGHT = 60.0, 34.0, 12.0, 16.0
_MOST_LINES: Final = 12
_TICKS: Final = 4
_OVER_TIME: Final[tuple[tuple[str, Callable[[dict[str, Any]], float | None]], ...]] = (
    ("Evictions", lambda row: row["evictions"]),
    ("Nodes in use", lambda row: row["nodesInUse"]),
    ("Cost of the nodes a month", lambda row: None if row["cost"] is None else row["cost"]["after"]),
    ("Pending pods", lambda row: row["pendingAfter"]),
    ("Load above target", lambda row: row["overload"]),
)


class Tick(NamedTuple):
    """A mark of an axis: where it is in the picture, and what it says."""

    at: float
    text: str


class ChartLine(NamedTuple):
    """One policy over time, as the points of a polyline."""

    points: str
    colour: int


class Spot(NamedTuple):
    """One policy by what it costs and gains, with the intervals of both."""

    x: float
    y: float
    left: float
    right: float
    top: float
    bottom: float
    label: str
    colour: int
    is_best: bool


class Axis(NamedTuple):
    """From values to places in the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value lies."""
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def ticks(self) -> list[Tick]:
        """Marks at equal distances."""
        step = (self.high - self.low) / _TICKS
        return [Tick(self.at(self.low + n * step), number(self.low + n * step)) for n in range(_TICKS + 1)]


def axis(values: Sequence[float], start: float, end: float) -> Axis:
    """An axis on which all values, and 0, have a place."""
    low, high = min([0.0, *values]), max([0.0, *values])
    return Axis(low, high if high > low else low + 1.0, start, end)


def backtest_page(document: dict[str, Any]) -> str:
    """The page as HTML."""
    summary = document["summary"]
    shown = summary[:_MOST_LINES]
    charts = [chart for title, value in _OVER_TIME if (chart := _over_time(document, shown, title, value)) is not None]
    return page(
        "backtest.html",
        "Back-test",
        archive=document["archive"],
        kind="one history carried on for each policy" if document["replay"] else "each snapshot planned for by itself",
        rows=[_row(one, at) for at, one in enumerate(summary)],
        charts=charts,
        fronts=[front for front in (_front(shown, "nodes emptied", _nodes), _money_front(shown)) if front is not None],
        is_priced=is_priced(document),
        unpriced=list(unpriced(document)),
        left_out=len(summary) - len(shown),
        failed=document["failed"],
        width=WIDTH,
        height=HEIGHT,
    )


def _row(one: dict[str, Any], at: int) -> dict[str, Any]:
    return {
        "name": called(one),
        "colour": at % _MOST_LINES,
        "evictions": one["evictions"]["total"],
        "plan": told(one["evictions"]),
        "emptied": told(one["nodesEmptied"]),
        "saved": saved(one),
        "pending": number(one["pendingMinutes"]),
        "churn": "-" if one["churn"] is None else one["churn"],
        "difference": against_first(one["difference"]) or "-",
        "workloads": ", ".join(f"{item['workload']} {item['evictions']}" for item in one["workloads"]) or "-",
        "refusals": ", ".join(f"{rule} {count}" for rule, count in one["refusals"].items()) or "-",
    }


def _over_time(
    document: dict[str, Any],
    shown: Sequence[dict[str, Any]],
    title: str,
    value_of: Callable[[dict[str, Any]], float | None],
) -> dict[str, Any] | None:
    series = []
    for at, one in enumerate(shown):
        rows = [row for row in document["rows"] if (row["policy"], row["setting"]) == (one["policy"], one["setting"])]
        found = [(read_time(row["time"]) or 0.0, value_of(row)) for row in rows]
        points = [(time, float(value)) for time, value in found if value is not None]
        if points:
            series.append((at, points))
    if not series:
        return None
    times = [time for _, points in series for time, _ in points]
    across = Axis(min(times), max(times) if max(times) > min(times) else min(times) + 1.0, _LEFT, WIDTH - _RIGHT)
    up = axis([value for _, points in series for _, value in points], HEIGHT - _BOTTOM, _TOP)
    lines = [
        ChartLine(" ".join(f"{across.at(time)},{up.at(value)}" for time, value in points), at) for at, points in series
    ]
    ends = [Tick(across.start, document["archive"]["from"]), Tick(across.end, document["archive"]["to"])]
    return {"title": title, "lines": lines, "ticks": up.ticks(), "ends": ends}


def _nodes(one: dict[str, Any]) -> Any:
    return one["nodesEmptied"]


def _money(one: dict[str, Any]) -> Any:
    return one["cost"]["saving"]


def _money_front(shown: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Evictions against money, of those for which it is known in the currency of the first; None: of none."""
    known = [one for one in shown if one["cost"] is not None and one["cost"]["saving"]["mean"] is not None]
    currency = known[0]["cost"]["currency"] if known else ""
    is_alike = [one in known and one["cost"]["currency"] == currency for one in shown]
    return _front(shown, f"{currency} saved a month", _money, is_alike)


def _front(
    shown: Sequence[dict[str, Any]],
    gained: str,
    gain_of: Callable[[dict[str, Any]], Any],
    is_known: Sequence[bool] | None = None,
) -> dict[str, Any] | None:
    """Evictions against what is gained by them; those that no other beats in both are joined."""
    found = [
        (at, one)
        for at, one in enumerate(shown)
        if one["evictions"]["mean"] is not None and (is_known is None or is_known[at])
    ]
    if not found:
        return None
    ends = ("low", "high", "mean")
    across = axis([one["evictions"][end] for _, one in found for end in ends], _LEFT, WIDTH - _RIGHT)
    up = axis([gain_of(one)[end] for _, one in found for end in ends], HEIGHT - _BOTTOM, _TOP)
    best = pareto([(one["evictions"]["mean"], gain_of(one)["mean"]) for _, one in found])
    spots = [_spot(one, gain_of(one), at, across, up, number in best) for number, (at, one) in enumerate(found)]
    joined = sorted((spot for spot in spots if spot.is_best), key=lambda spot: spot.x)
    steps = list(pairwise(joined))
    return {"gained": gained, "spots": spots, "steps": steps, "across": across.ticks(), "up": up.ticks()}


def _spot(one: dict[str, Any], gain: dict[str, Any], at: int, across: Axis, up: Axis, is_best: bool) -> Spot:
    price = one["evictions"]
    return Spot(
        across.at(price["mean"]), up.at(gain["mean"]), across.at(price["low"]), across.at(price["high"]),
        up.at(gain["high"]), up.at(gain["low"]), called(one), at % _MOST_LINES, is_best,
    )  # fmt: skip


def pareto(points: Sequence[tuple[float, float]]) -> frozenset[int]:
    """Those that no other point beats: none costs at most as much and gains at least as much, and differs."""
    return frozenset(
        number
        for number, (price, gain) in enumerate(points)
        if not any(other != (price, gain) and other[0] <= price and other[1] >= gain for other in points)
    )
