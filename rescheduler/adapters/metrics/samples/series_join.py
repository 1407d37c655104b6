"""From series with labels to arrays over nodes: unknown hosts are passed over, contradictions are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan, nan
from typing import Any, Final, NamedTuple

import numpy as np

from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.model.printable import printable
from rescheduler.model.usage.usage import FloatArray

TOLERANCE: Final = 0.02
"""Two series of one host that differ by no more than this (of capacity, or of the larger value) agree."""


class Series(NamedTuple):
    """One series: labels and values float64[T], NaN where there is none; ``problem``: why one could not be read."""

    labels: Mapping[str, str]
    values: FloatArray
    problem: str = ""


class Joined(NamedTuple):
    """``values``: float64[T, N]. ``problems``: by index of a node, what was wrong. ``unknown``: hosts without node."""

    values: FloatArray
    problems: Mapping[int, str]
    unknown: Sequence[str]
    matched: int


def instant_series(labels: Mapping[str, str], value: Any) -> Series:
    """A series of one point."""
    number, problem = number_of(value)
    return Series(labels, np.array([number]), problem)


def range_series(
    labels: Mapping[str, str], points: Iterable[tuple[float, Any]], start: float, step: float, width: int
) -> Series:
    """A series of points (time, value) put to the times ``start + k * step``."""
    values, problem = np.full(width, nan), ""
    for point in points:
        at = round((point[0] - start) / step)
        if 0 <= at < width:
            values[at], found = number_of(point[1])
            problem = problem or found
    return Series(labels, values, problem)


def number_of(value: Any) -> tuple[float, str]:
    """A value as a number, or NaN with the reason."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return nan, f"{printable(repr(value), 40)} is no number"
    if number - number != 0:  # NaN or infinite
        return nan, f"the source says {number}"
    return number, ""


def joined(series: Sequence[Series], hosts: Hosts, width: int, count: int, live: Sequence[Series] = ()) -> Joined:
    """Series over ``count`` nodes at ``width`` times.

    Of several series of one node those in ``live`` (same labels but for the name) go before the others, which are
    left-overs of an exporter that was replaced; if several remain, they must agree.
    """
    groups, doubtful, unknown = _grouped(series, hosts)
    values, problems = np.full((width, count), nan), dict(doubtful)
    alive: set[tuple[tuple[str, str], ...]] | None = None
    for node, found in groups.items():
        kept = found
        if len(kept) > 1:
            alive = {_identity(one.labels) for one in live} if alive is None else alive
            kept = [one for one in found if _identity(one.labels) in alive] or found
        values[:, node], problem = _agreed(kept)
        problems.pop(node, None)
        if problem:
            problems[node] = problem
    return Joined(values, problems, unknown, len(groups))


def latest(series: Sequence[Series], hosts: Hosts, width: int, count: int) -> FloatArray | None:
    """The latest of the series' values (times) by node, float64[T, N]; None if none of them belongs to a node."""
    groups, _, _ = _grouped(series, hosts)
    if not groups:
        return None
    times = np.full((width, count), nan)
    for node, found in groups.items():
        for one in found:
            times[:, node] = np.fmax(times[:, node], one.values)
    return times


def _grouped(series: Sequence[Series], hosts: Hosts) -> tuple[dict[int, list[Series]], dict[int, str], list[str]]:
    groups: dict[int, list[Series]] = {}
    doubtful: dict[int, str] = {}
    unknown: dict[str, None] = {}
    for one in series:
        nodes = hosts.of_labels(one.labels)
        if len(nodes) == 1:
            groups.setdefault(nodes[0], []).append(one)
            continue
        host = printable(hosts.host_in(one.labels) or "", 80)
        if not nodes:
            unknown[host] = None
        for node in nodes:
            doubtful[node] = f"host {host} may mean any of {len(nodes)} nodes"
    return groups, doubtful, list(unknown)


def _agreed(series: Sequence[Series]) -> tuple[FloatArray, str]:
    """The values of one node's series, NaN where they contradict each other, and the newest contradiction."""
    if len(series) == 1:
        newest = series[0].values[-1]
        return series[0].values, series[0].problem if isnan(newest) else ""
    stacked = np.array([one.values for one in series])
    known = ~np.isnan(stacked)
    least = np.where(known, stacked, np.inf).min(axis=0)
    most = np.where(known, stacked, -np.inf).max(axis=0)
    counts = known.sum(axis=0)
    differs = (counts > 1) & (most - least > TOLERANCE * np.maximum(1.0, np.abs(most)))
    total = np.where(known, stacked, 0.0).sum(axis=0)
    values = np.where((counts > 0) & ~differs, total / np.maximum(counts, 1), nan)
    if differs[-1]:
        return values, f"{len(series)} series contradict each other ({least[-1]:g} and {most[-1]:g})"
    return values, next((one.problem for one in series if one.problem), "") if isnan(values[-1]) else ""


def _identity(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in labels.items() if name != "__name__"))
