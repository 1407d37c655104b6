"""Elasticsearch and OpenSearch with Metricbeat's fields: searches with aggregations over all hosts at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from math import isfinite, nan
from typing import Any, Final, Self

import numpy as np

from rescheduler.adapters.metrics.elasticsearch.elasticsearch_arguments import (
    ElasticsearchArguments,
    ElasticsearchDevices,
    ElasticsearchPods,
)
from rescheduler.adapters.metrics.elasticsearch.search import Bucket, Point, Search
from rescheduler.adapters.metrics.http.credentials import SecretHeader
from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.node_readings import (
    LIVE_SECONDS,
    NodeReadings,
    PodReadings,
    history_times,
    number,
)
from rescheduler.adapters.metrics.samples.range_times import pieces, unless_refused
from rescheduler.extension_points import MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK, MetricsSample, NodeSamples, PodKey, PodSamples

AHEAD_SECONDS: Final = 3600.0
"""Documents so far in our future are still read, so that a wrong clock is seen."""
_STEPS_PER_SEARCH: Final = 20_000


def elasticsearch_headers(arguments: ElasticsearchArguments) -> dict[str, SecretHeader]:
    """Headers of the session that carry credentials."""
    return {} if arguments.api_key is None else {"Authorization": SecretHeader(arguments.api_key, "ApiKey ")}


class ElasticsearchProvider(MetricsProvider):
    """Samples by the newest document of each host, history by means over each step (cpu and memory).

    ``measured_at`` is the document's own time; of history, the end of the step. Which product and version answers is
    not asked for.
    """

    name = "Elasticsearch"
    arguments = ElasticsearchArguments

    def __init__(self, arguments: ElasticsearchArguments, http: HttpSession) -> None:
        """``http``: a session to ``arguments.address``, with the headers of ``elasticsearch_headers``."""
        self._arguments = arguments
        self._http = http
        self._fields = ((CPU, arguments.cpu_fields), (MEMORY, arguments.memory_fields))

    @classmethod
    def made(cls, arguments: ElasticsearchArguments, context: ProviderContext) -> Self:
        """With a session that sends its credentials."""
        return cls(arguments, context.session(cls.name, arguments, arguments.address, elasticsearch_headers(arguments)))

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """As MetricsProvider."""
        arguments, search = self._arguments, self._search()
        readings = NodeReadings(nodes, self._hosts(nodes), np.array([now]))
        newest, recent = _since(now, arguments.lookback), _since(now, arguments.rate_window)
        add_newest(readings, search, newest, arguments.host_field, self._fields)
        for metric, devices in ((NETWORK, arguments.network), (DISK, arguments.disk)):
            read = partial(
                add_rates, readings, self._search(is_strict=True), recent, arguments.host_field, metric, devices
            )
            unless_refused(metric, read, search.warn)
        pods = None
        if with_pods:
            read_all = partial(read_pods, self._search(is_strict=True), newest, arguments.pods)
            pods = unless_refused("the pods' use", read_all, search.warn)
        warnings = (*search.warnings, *readings.warnings())
        return MetricsSample(readings.samples(), pods, readings.unusable, warnings, search.is_partial)

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """As MetricsProvider; times are whole multiples of the step."""
        times, step = history_times(self._http, start, end, step_seconds)
        if not len(times) or not nodes:
            return None
        search = self._search(is_strict=True)
        readings = NodeReadings(nodes, self._hosts(nodes), times, step_seconds=step)
        for first, last in pieces(len(times), max(1, _STEPS_PER_SEARCH // len(nodes))):
            span = (round((times[first] - step) * 1000), round(times[last - 1] * 1000))
            add_means(readings, search, span, self._arguments.host_field, self._fields, round(step * 1000))
        return readings.samples()

    def _hosts(self, nodes: Sequence[Node]) -> Hosts:
        return Hosts(nodes, pattern=self._arguments.host_pattern)

    def _search(self, *, is_strict: bool = False) -> Search:
        arguments = self._arguments
        return Search(self._http, arguments.index, arguments.time_field, arguments.timeout, is_strict=is_strict)


def _since(now: float, seconds: float) -> tuple[int, int]:
    return round((now - seconds) * 1000), round((now + AHEAD_SECONDS) * 1000)


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
