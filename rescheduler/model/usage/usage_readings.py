"""Single readings of load as metrics providers give them, and how they become one usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from math import fsum, isfinite, nan
from typing import Final, NamedTuple

import numpy as np

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.usage import Statistics, Usage

RESOURCE_OF_TYPE: Final = {"cpu": CPU, "memory": MEMORY}
_STATISTIC_OF_OPERATOR: Final = {"avg": "average", "latest": "latest", "": "latest", "std": "deviation",
                                 "max": "maximum", "min": "minimum"}  # fmt: skip


class Reading(NamedTuple):
    """One value of one node: ``type`` CPU or Memory, ``operator`` AVG, STD, Latest, MAX, MIN or none; percent."""

    type: str
    operator: str
    value: float


def statistics_of(readings: Iterable[Reading], resource: str) -> dict[str, float]:
    """Statistics of one resource by field name; of two readings alike the later counts, a named operator before none.

    Readings of other types, with unknown operators or without a finite value are passed over; the result is empty
    if none is left.
    """
    found: dict[str, float] = {}
    has_named_latest = False
    for reading in readings:
        operator = reading.operator.lower()
        statistic = _STATISTIC_OF_OPERATOR.get(operator)
        if RESOURCE_OF_TYPE.get(reading.type.lower()) != resource or statistic is None or not isfinite(reading.value):
            continue
        if operator == "" and has_named_latest:
            continue
        has_named_latest = has_named_latest or operator == "latest"
        found[statistic] = reading.value
    return found


def usage_of(
    nodes: Sequence[str],
    readings: Mapping[str, Sequence[Reading]],
    window_end: float,
    window_seconds: float,
) -> Usage:
    """Readings of one window by node name, as a usage of the nodes in the order given; other names are passed over."""
    found = {
        resource: [statistics_of(readings.get(node, ()), resource) for node in nodes] for resource in (CPU, MEMORY)
    }
    names = [item.name for item in fields(Statistics)]
    statistics = {
        resource: Statistics(**{name: np.array([row.get(name, nan) for row in rows], dtype=float) for name in names})
        for resource, rows in found.items()
    }
    is_valid = np.array([any(rows) for rows in zip(*found.values(), strict=True)], dtype=np.bool_)
    return Usage(statistics, np.where(is_valid, window_end, nan), np.full(len(nodes), float(window_seconds)), is_valid)


def percent_of(amount: float, capacity: float) -> float:
    """An amount in use as percent of capacity; NaN where there is no capacity."""
    return 100.0 * amount / capacity if capacity > 0 else nan


def mean_of_points(points: Iterable[float | None]) -> float:
    """Mean of the points that have a value, NaN if none has."""
    known = [point for point in points if point is not None and isfinite(point)]
    return fsum(known) / len(known) if known else nan


def short_host(name: str) -> str:
    """A host name up to its first dot, as providers that name hosts in full are matched to nodes."""
    return name.partition(".")[0]
