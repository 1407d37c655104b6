"""What a load watcher answers, in the form it gives today and in the older one of its design."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import inf, isfinite, nan
from types import MappingProxyType
from typing import Any, NamedTuple

from rescheduler.model.printable import printable
from rescheduler.model.usage.usage_readings import RESOURCE_OF_TYPE, Reading

WINDOWS = ("15m", "10m", "5m")
"""Windows a watcher keeps, the longest first."""
_NODES = "NodeMetricsMap"
_PODS = "PodMetricsMap"
# How JSON that knows no such numbers writes them.
_NO_NUMBERS = ("nan", "inf", "infinity")


class LoadReportError(ValueError):
    """A document that is no load watcher's report: names the field, what was found and what was wanted."""


class LoadReport(NamedTuple):
    """Readings by node over one window; times in seconds since the epoch.

    ``pods``: readings by ``NAMESPACE/NAME``, in percent of the capacity of the pod's node; an extension of ours.
    """

    timestamp: float
    window_start: float
    window_end: float
    source: str
    nodes: Mapping[str, tuple[Reading, ...]]
    pods: Mapping[str, tuple[Reading, ...]] = MappingProxyType({})

    @property
    def window_seconds(self) -> float:
        """Length of the window."""
        return self.window_end - self.window_start


def read_load_report(document: Any) -> LoadReport:
    """Read a decoded report. Raises LoadReportError.

    Nodes stand under ``data.NodeMetricsMap`` or directly under ``data``; what has no list of metrics there is no node.
    The statistic is the ``operator``, or in the older form the ``rollup``.
    """
    report = _mapping(document, "the report")
    window = _mapping(report.get("window"), "window")
    data = _mapping(report.get("data"), "data")
    nodes = _map_or_none(data, _NODES) if _NODES in data else data
    start, end = _time(window.get("start"), "window.start"), _time(window.get("end"), "window.end")
    if end < start:
        raise LoadReportError(f"window.end: found {end:g}, wanted a time not before window.start ({start:g})")
    return LoadReport(
        timestamp=_time(report.get("timestamp", end), "timestamp"),
        window_start=start,
        window_end=end,
        source=str(report.get("source") or ""),
        nodes=_readings(nodes),
        pods=_readings(_map_or_none(data, _PODS)),
    )


def unusable_values(report: LoadReport) -> Iterator[str]:
    """Values of cpu and memory that are no percentage (undefined, infinite, negative): where, and what was found."""
    for parent, objects in ((_NODES, report.nodes), (_PODS, report.pods)):
        for name, readings in objects.items():
            for reading in readings:
                is_known = reading.type.lower() in RESOURCE_OF_TYPE
                if is_known and not (isfinite(reading.value) and reading.value >= 0):
                    statistic = f"{reading.type} {reading.operator}".strip()
                    yield f"{parent} {printable(name, 80)}: {printable(statistic, 40)} {reading.value:g}"


def served_window(kept: Collection[str], asked: str, *, is_upstream: bool = False) -> str | None:
    """The window a watcher answers with: the one asked for, else the next shorter one that it keeps.

    ``is_upstream``: as the original watcher, which looks one window further and no more. None: nothing to serve.
    """
    place = WINDOWS.index(asked) if asked in WINDOWS else len(WINDOWS)
    candidates = WINDOWS[place : place + 2] if is_upstream else WINDOWS[place:]
    return next((window for window in candidates if window in kept), None)


def _readings(objects: Mapping[str, Any]) -> dict[str, tuple[Reading, ...]]:
    return {
        name: tuple(_reading(metric, name, at) for at, metric in enumerate(found["metrics"]))
        for name, found in objects.items()
        if isinstance(found, Mapping) and isinstance(found.get("metrics"), list)
    }


def _reading(metric: Any, name: str, at: int) -> Reading:
    # The place is put into words only where it is needed: a cluster has hundreds of thousands of readings.
    fields = metric if isinstance(metric, Mapping) else _mapping(metric, _place(name, at))
    operator = fields.get("operator")
    if operator is None:
        rollup = str(fields.get("rollup") or "")
        operator = rollup if rollup.upper() in ("AVG", "STD") else ""
    value = _value(fields.get("value"))
    if value is None:
        value = _number(fields.get("value"), f"{_place(name, at)}.value")
    return Reading(str(fields.get("type") or ""), str(operator), value)


def _place(name: str, at: int) -> str:
    return f"data.{printable(name, 60)}.metrics[{at}]"


def _map_or_none(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A map below ``data``; one that was never made is written as null by some programs."""
    found = data.get(name)
    return {} if found is None else _mapping(found, f"data.{name}")


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise LoadReportError(f"{path}: found {_shown(value)}, wanted a mapping as GET /watcher returns it")
    return value


def _time(value: Any, path: str) -> float:
    number = _number(value, path)
    if not isfinite(number):
        raise LoadReportError(f"{path}: found {number}, wanted seconds since the epoch")
    return number


def _value(value: Any) -> float | None:
    """A measured value, NaN for one that its writer did not know; None for what is neither."""
    if value is None or (isinstance(value, str) and value.lower().lstrip("+-") in _NO_NUMBERS):
        return nan
    return _as_number(value)


def _number(value: Any, path: str) -> float:
    """Any number, NaN too: a value that cannot be used is no fault of the report."""
    number = _as_number(value)
    if number is None:
        raise LoadReportError(f"{path}: found {_shown(value)}, wanted a number")
    return number


def _as_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return inf


def _shown(value: Any) -> str:
    return "nothing" if value is None else printable(repr(value), 40)
