"""The dashboard as one page: its panels in its own grid, drawn by us from its own queries without Grafana."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tests.cluster.telemetry.dashboard_panels import Curve, amount, curves, stacked, stats, ticks

WIDTH: Final = 1280
COLUMNS: Final = 24
ROW, GAP, EDGE = 26, 6, 8
"""Heights of the grid's rows and what is between them, in pixels."""
_TITLE, _LEGEND, _AXIS, _LEFT, _TOP = 24, 15, 16, 46, 7
_LETTER, _SWATCH = 5.6, 24
_STEPS_IN_A_GAP = 1.5
_X_SECONDS: Final = (15, 30, 60, 120, 300, 600)


class Plot(NamedTuple):
    """A diagram in pixels: lines and what is below them as paths, and where the axes have their texts."""

    width: int
    height: int
    lines: Sequence[tuple[str, str, str, float]]
    """Path of the line, path of what is below it, colour, opacity."""
    across: Sequence[tuple[float, str]]
    up: Sequence[tuple[float, str]]


class Frame(NamedTuple):
    """What a diagram shows: from when to when, in seconds, and the step between two values."""

    since: float
    until: float
    step: float = 1.0


def page(dashboard: Mapping[str, Any], answers: Mapping[int, Sequence[Any]], frame: Frame) -> str:
    """The whole page. ``answers``: of each panel, by its id, the series of each of its queries."""
    panels = [_panel(panel, answers.get(panel["id"], ()), frame) for panel in dashboard["panels"]]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    grid = {"columns": COLUMNS, "row": ROW, "gap": GAP, "edge": EDGE, "width": WIDTH}
    template = environment.get_template("dashboard.html")
    return template.render(title=dashboard["title"], panels=panels, grid=grid, lasted=round(frame.until - frame.since))


def _panel(panel: Mapping[str, Any], answers: Sequence[Any], frame: Frame) -> dict[str, Any]:
    place = panel["gridPos"]
    shown = {"title": panel["title"], "type": panel["type"], "place": place, "stats": (), "plot": None, "legend": ()}
    if panel["type"] == "row":
        return shown
    found = curves(panel, answers)
    if panel["type"] == "stat":
        return {**shown, "stats": stats(panel, found)}
    assert panel["type"] == "timeseries", f"{panel['title']}: nobody draws panels of type {panel['type']}"
    width = round(place["w"] * (WIDTH - 2 * EDGE + GAP) / COLUMNS - GAP) - 2 * EDGE
    height = place["h"] * (ROW + GAP) - GAP - _TITLE - EDGE - _LEGEND * _legend_lines(found, width)
    unit = panel["fieldConfig"]["defaults"]["unit"]
    return {**shown, "legend": found, "plot": plot(stacked(panel, found), unit, frame, (width, height))}


def _legend_lines(found: Sequence[Curve], width: int) -> int:
    """How many lines the names take; one begins where the next name does not fit."""
    lines, used = 1, 0.0
    for curve in found:
        needed = len(curve.name) * _LETTER + _SWATCH
        lines, used = (lines + 1, needed) if used and used + needed > width else (lines, used + needed)
    return lines


def plot(drawn: Sequence[Curve], unit: str, frame: Frame, size: tuple[int, int]) -> Plot:
    """A diagram of these curves, the highest of a stack first, so that those below are seen."""
    width, height = size
    values = [value for curve in drawn for value in curve.points.values()]
    marks = ticks(min(values, default=0.0), max(values, default=0.0))
    low, high = marks[0], marks[-1]
    lasting = max(frame.until - frame.since, frame.step)

    def across(at: float) -> float:
        return round(_LEFT + (at - frame.since) / lasting * (width - _LEFT - 4), 1)

    def up(value: float) -> float:
        return round(_TOP + (high - value) / (high - low) * (height - _AXIS - _TOP), 1)

    lines = []
    for curve in reversed(drawn):
        pieces = [[(across(at), up(value)) for at, value in piece] for piece in unbroken(curve, frame.step)]
        below = "".join(_line([(piece[0][0], up(low)), *piece, (piece[-1][0], up(low))]) + "Z" for piece in pieces)
        lines.append(("".join(map(_line, pieces)), below, curve.colour, curve.fill))
    every = next((one for one in _X_SECONDS if lasting / one <= 6), 3600)
    times = [number * every for number in range(math.floor(lasting / every) + 1)]
    return Plot(
        width, height, lines,
        [(across(frame.since + seconds), f"{seconds // 60}:{seconds % 60:02d}") for seconds in times],
        [(up(mark), amount(mark, unit)) for mark in marks],
    )  # fmt: skip


def unbroken(curve: Curve, step: float) -> list[list[tuple[float, float]]]:
    """Its values in pieces; where some are missing nothing is drawn."""
    pieces: list[list[tuple[float, float]]] = []
    for at, value in sorted(curve.points.items()):
        if pieces and at - pieces[-1][-1][0] <= step * _STEPS_IN_A_GAP:
            pieces[-1].append((at, value))
        else:
            pieces.append([(at, value)])
    return pieces


def _line(points: Sequence[tuple[float, float]]) -> str:
    """A path through points, without those that a straight line passes anyway; a single point is a dot."""
    kept = [
        point for number, point in enumerate(points)
        if not 0 < number < len(points) - 1 or not points[number - 1][1] == point[1] == points[number + 1][1]
    ]  # fmt: skip
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in kept)
    return path + "h0.1" if len(kept) == 1 else path
