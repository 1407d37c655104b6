"""A back-test as one page that loads nothing: policies side by side, over time, and evictions against gain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from rescheduler.model.times import read_time
from rescheduler.report.backtest.comparison import against_first, called, told
from rescheduler.report.html.rendering import page

WIDTH: Final = 720.0
HEIGHT: Final = 260.0
_LEFT, _BOTTOM, _TOP, _RIGHT = 60.0, 34.0, 12.0, 16.0
_MOST_LINES: Final = 12
_TICKS: Final = 4
_OVER_TIME: Final = (
    ("evictions", "Evictions"), ("nodesInUse", "Nodes in use"), ("pendingAfter", "Pending pods"),
    ("overload", "Load above target"),
)  # fmt: skip


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
        return [Tick(self.at(self.low + n * step), f"{self.low + n * step:.3g}") for n in range(_TICKS + 1)]


def axis(values: Sequence[float], start: float, end: float) -> Axis:
    """An axis on which all values, and 0, have a place."""
    low, high = min([0.0, *values]), max([0.0, *values])
    return Axis(low, high if high > low else low + 1.0, start, end)


def backtest_page(document: dict[str, Any]) -> str:
    """The page as HTML."""
    summary = document["summary"]
    shown = summary[:_MOST_LINES]
    charts = [chart for name, title in _OVER_TIME if (chart := _over_time(document, shown, name, title)) is not None]
    return page(
        "backtest.html",
        "Back-test",
        archive=document["archive"],
        kind="one history carried on for each policy" if document["replay"] else "each snapshot planned for by itself",
        rows=[_row(one, at) for at, one in enumerate(summary)],
        charts=charts,
        front=_front(shown),
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
        "pending": "-" if one["pendingMinutes"] is None else f"{one['pendingMinutes']:,.4g}",
        "churn": "-" if one["churn"] is None else one["churn"],
        "difference": against_first(one["difference"]) or "-",
        "workloads": ", ".join(f"{item['workload']} {item['evictions']}" for item in one["workloads"]) or "-",
        "refusals": ", ".join(f"{rule} {count}" for rule, count in one["refusals"].items()) or "-",
    }


def _over_time(
    document: dict[str, Any], shown: Sequence[dict[str, Any]], name: str, title: str
) -> dict[str, Any] | None:
    series = []
    for at, one in enumerate(shown):
        rows = [row for row in document["rows"] if (row["policy"], row["setting"]) == (one["policy"], one["setting"])]
        points = [(read_time(row["time"]) or 0.0, float(row[name])) for row in rows if row[name] is not None]
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


def _front(shown: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Evictions against emptied nodes; those that no other beats in both are joined."""
    found = [(at, one) for at, one in enumerate(shown) if one["evictions"]["mean"] is not None]
    if not found:
        return None
    ends = ("low", "high", "mean")
    across = axis([one["evictions"][end] for _, one in found for end in ends], _LEFT, WIDTH - _RIGHT)
    up = axis([one["nodesEmptied"][end] for _, one in found for end in ends], HEIGHT - _BOTTOM, _TOP)
    best = pareto([(one["evictions"]["mean"], one["nodesEmptied"]["mean"]) for _, one in found])
    spots = [_spot(one, at, across, up, is_best=number in best) for number, (at, one) in enumerate(found)]
    joined = sorted((spot for spot in spots if spot.is_best), key=lambda spot: spot.x)
    steps = list(pairwise(joined))
    return {"spots": spots, "steps": steps, "across": across.ticks(), "up": up.ticks()}


def _spot(one: dict[str, Any], at: int, across: Axis, up: Axis, *, is_best: bool) -> Spot:
    price, gain = one["evictions"], one["nodesEmptied"]
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
