"""From groups of documents to readings of nodes and pods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite, nan
from typing import Any, Final

import numpy as np

from rescheduler.adapters.metrics.elasticsearch.elasticsearch_arguments import ElasticsearchDevices, ElasticsearchPods
from rescheduler.adapters.metrics.elasticsearch.search import Bucket, Point, Search
from rescheduler.adapters.metrics.samples.node_readings import LIVE_SECONDS, NodeReadings, PodReadings, number
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, PodKey, PodSamples

_PAGE: Final = 1000
_PAGE_OF_STEPS: Final = 5000
_NANOCORES_PER_MILLICORE: Final = 1e6
_MILLISECONDS: Final = 1e3
Fields = Sequence[tuple[str, Sequence[str]]]
"""Metrics, each with the fields that may tell it, the best first."""


def add_newest(readings: NodeReadings, search: Search, span: tuple[int, int], host_field: str, fields: Fields) -> None:
    """The newest document of each host and field. Raises MetricsError."""
    names = [field for _, some in fields for field in some]
    inner = {field: search.newest_of([field], 1) for field in names}
    silent = dict(fields)
    for bucket in search.buckets(span, [{"terms": {"field": host_field}}], inner, names, _PAGE):
        host = str(bucket.key[0])
        for metric, some in fields:
            points = [point for field in some for point in search.points(bucket.inner.get(field), [field])]
            chosen = _preferred(points)
            if chosen is not None:
                silent.pop(metric, None)
                readings.add(metric, host, seconds_of(chosen.at), number(chosen.values[0]))
    for metric, some in silent.items():
        readings.note(f"{metric}: no document has {' or '.join(some)}; check index and field names")


def add_means(
    readings: NodeReadings, search: Search, span: tuple[int, int], host_field: str, fields: Fields, step_ms: int
) -> None:
    """The mean over each step, at its end. Raises MetricsError."""
    names = [field for _, some in fields for field in some]
    inner = {field: {"avg": {"field": field}} for field in names}
    steps = {"date_histogram": {"field": search.time_field, "fixed_interval": f"{step_ms}ms"}}
    sources = [{"terms": {"field": host_field}}, steps]
    for bucket in search.buckets(span, sources, inner, names, _PAGE_OF_STEPS):
        host, at = str(bucket.key[0]), seconds_of(bucket.key[1]) + step_ms / _MILLISECONDS
        for metric, some in fields:
            means = (_mean(bucket, field) for field in some)
            value = next((number(mean) for mean in means if mean is not None), None)
            if value is not None:
                readings.add(metric, host, at, value)


def add_rates(
    readings: NodeReadings,
    search: Search,
    span: tuple[int, int],
    host_field: str,
    metric: str,
    devices: ElasticsearchDevices,
) -> None:
    """Rates between the last two documents of each device, a fall left out. Raises MetricsError."""
    sources = [{"terms": {"field": host_field}}, {"terms": {"field": devices.device}}]
    inner = {"counters": search.newest_of(devices.counters, 2)}
    excluded = re.compile(devices.exclude) if devices.exclude else None
    found: dict[str, list[tuple[float, float]]] = {}
    for bucket in search.buckets(span, sources, inner, devices.counters[:1], _PAGE):
        host, device = (str(part) for part in bucket.key)
        points = search.points(bucket.inner.get("counters"), devices.counters)
        if len(points) == 2 and not (excluded and excluded.fullmatch(device)):
            found.setdefault(host, []).append((seconds_of(points[0].at), _rate(points)))
    for host, rates in found.items():
        values = [rate for _, rate in rates if isfinite(rate)]
        if values:
            value = float(np.max(values)) / _MILLISECONDS if metric == DISK else sum(values)
            readings.add(metric, host, min(at for at, _ in rates), value)


def read_pods(search: Search, span: tuple[int, int], names: ElasticsearchPods) -> PodSamples:
    """The newest document of every pod. Raises MetricsError."""
    readings = PodReadings()
    fields = ((CPU, names.cpu_nanocores, 1 / _NANOCORES_PER_MILLICORE), (MEMORY, names.memory_bytes, 1.0))
    inner = {field: search.newest_of([field], 1) for _, field, _ in fields}
    sources = [{"terms": {"field": names.namespace}}, {"terms": {"field": names.name}}]
    for bucket in search.buckets(span, sources, inner, list(inner), _PAGE):
        pod = PodKey(*(str(part) for part in bucket.key))
        for metric, field, factor in fields:
            for point in search.points(bucket.inner.get(field), [field]):
                readings.add(metric, pod, seconds_of(point.at), number(point.values[0], factor))
    return readings.samples()


def seconds_of(milliseconds: object) -> float:
    """Milliseconds since the epoch, as a number or as text, in seconds; NaN for anything else."""
    if isinstance(milliseconds, str):
        try:
            return float(milliseconds) / _MILLISECONDS
        except ValueError:
            return nan
    return number(milliseconds, 1 / _MILLISECONDS)


def _preferred(points: Sequence[Point]) -> Point | None:
    """The first field's document, unless it has ended and another has not."""
    newest = max((seconds_of(point.at) for point in points), default=nan)
    return next((point for point in points if not seconds_of(point.at) < newest - LIVE_SECONDS), None)


def _mean(bucket: Bucket, field: str) -> Any:
    found = bucket.inner.get(field)
    return found.get("value") if isinstance(found, dict) else None


def _rate(points: Sequence[Point]) -> float:
    """Growth of all counters per second; NaN where one fell, or is missing."""
    (newer, older) = points
    seconds = seconds_of(newer.at) - seconds_of(older.at)
    grown = [number(new) - number(old) for new, old in zip(newer.values, older.values, strict=True)]
    return sum(grown) / seconds if seconds > 0 and all(growth >= 0 for growth in grown) else nan
