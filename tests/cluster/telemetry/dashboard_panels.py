"""What each panel of the dashboard shows, from what Prometheus answers to its queries: curves, values, colours."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

COLOURS: Final = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7f3c8d", "#666666", "#a5aa00", "#b3123b",
)  # fmt: skip
"""Of curves, in their order; those of thresholds are called by name."""
NAMED: Final = {"green": "#1a7f37", "red": "#c1121f", "orange": "#b35900", "blue": "#0a58ca"}
_SCALES: Final = ((1e9, " G"), (1e6, " M"), (1e3, " k"))


class Curve(NamedTuple):
    """One series of a panel: its name in the legend, and its values by time. ``fill``: opacity of what is below."""

    name: str
    points: Mapping[float, float]
    colour: str
    fill: float = 0.0

    @property
    def last(self) -> float:
        """The newest value."""
        return self.points[max(self.points)]


class Stat(NamedTuple):
    """One value of a panel of values."""

    name: str
    text: str
    colour: str


def curves(panel: Mapping[str, Any], answers: Iterable[Sequence[Mapping[str, Any]]]) -> list[Curve]:
    """All of a panel. ``answers``: series of each of its queries, as ``query_range`` gives them."""
    style = panel["fieldConfig"]["defaults"].get("custom", {})
    found = [
        (legend(target["legendFormat"], one["metric"]), {float(at): float(value) for at, value in one["values"]})
        for target, answer in zip(panel["targets"], answers, strict=True)
        for one in answer
    ]
    fill = style.get("fillOpacity", 0) / 100
    return [Curve(name, points, COLOURS[number % len(COLOURS)], fill) for number, (name, points) in enumerate(found)]


def legend(form: str, labels: Mapping[str, str]) -> str:
    """A legend with the labels of its series filled in."""
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda found: labels.get(found[1], ""), form)


def stacked(panel: Mapping[str, Any], drawn: Sequence[Curve]) -> list[Curve]:
    """The same curves, one upon the other where the panel asks for that."""
    style = panel["fieldConfig"]["defaults"].get("custom", {})
    if style.get("stacking", {}).get("mode", "none") == "none":
        return list(drawn)
    height: dict[float, float] = {}
    risen = []
    for curve in drawn:
        points = {at: height.get(at, 0.0) + value for at, value in curve.points.items()}
        height |= points
        risen.append(curve._replace(points=points))
    return risen


def stats(panel: Mapping[str, Any], found: Sequence[Curve]) -> list[Stat]:
    """The newest value of each series, or its name where the panel shows names; coloured by thresholds."""
    defaults = panel["fieldConfig"]["defaults"]
    if not found:
        return [Stat("", defaults.get("noValue", "No data"), "inherit")]
    steps = defaults.get("thresholds", {}).get("steps", [])
    if panel["options"]["textMode"] == "name":
        return [Stat("", one.name, COLOURS[0]) for one in found]
    named = len(found) > 1
    return [
        Stat(one.name if named else "", amount(one.last, defaults["unit"]), coloured(one.last, steps)) for one in found
    ]


def coloured(value: float, steps: Iterable[Mapping[str, Any]]) -> str:
    """The colour of the last threshold that a value has reached."""
    reached = [step["color"] for step in steps if step["value"] is None or value >= step["value"]]
    return NAMED[reached[-1]] if reached else COLOURS[0]


def amount(value: float, unit: str) -> str:
    """A value for people, in one of the units that the dashboard has."""
    if unit == "s":
        return _duration(value)
    if unit == "percentunit":
        return f"{value * 100:.0f}%" if abs(value) >= 10 else f"{value * 100:.3g}%"
    size, scale = next(((size, scale) for size, scale in _SCALES if abs(value) >= size), (1.0, ""))
    return f"{value / size:.3g}{scale}{' req/s' if unit == 'reqps' else ''}"


def _duration(value: float) -> str:
    if abs(value) < 1 and value:
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} s" if abs(value) < 120 else f"{value / 60:.3g} min"


def ticks(lowest: float, highest: float) -> list[float]:
    """Round values from below the lowest to above the highest, three to six of them; from 0 where none is below it."""
    low, high = min(lowest, 0.0), max(highest, 0.0)
    if low == high:
        return [0.0, 1.0]
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough)
    return [number * step for number in range(math.floor(low / step), math.ceil(high / step) + 1)]
