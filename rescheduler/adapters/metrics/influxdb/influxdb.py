"""InfluxDB with Telegraf's fields: a handful of queries for all hosts at once, in InfluxQL or Flux."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import inf
from typing import Final, Self

import numpy as np

from rescheduler.adapters.metrics.http.credentials import SecretHeader
from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.adapters.metrics.influxdb.flux import Flux
from rescheduler.adapters.metrics.influxdb.influxdb_arguments import (
    InfluxCounters,
    InfluxDBArguments,
    InfluxField,
    InfluxPods,
)
from rescheduler.adapters.metrics.influxdb.influxql import InfluxQL
from rescheduler.adapters.metrics.influxdb.series import (
    CUT_SHORT,
    Answer,
    InfluxLanguage,
    InfluxSeries,
    Said,
    SeriesSelection,
    Span,
)
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.node_readings import NodeReadings, PodReadings, history_times, number
from rescheduler.adapters.metrics.samples.range_times import pieces, unless_refused
from rescheduler.extension_points import MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK, MetricsSample, NodeSamples, PodKey, PodSamples
from rescheduler.model.usage.usage import FloatArray

AHEAD_SECONDS: Final = 3600.0
"""Points so far in our future are still read, so that a wrong clock is seen; later ones are nobody's newest sample."""
_POINTS_PER_ANSWER: Final = 50_000
_Ask = Callable[[SeriesSelection], Answer]


def influxdb_headers(arguments: InfluxDBArguments) -> dict[str, SecretHeader]:
    """Headers of the session that carry credentials."""
    return {} if arguments.token is None else {"Authorization": SecretHeader(arguments.token, "Token ")}


class InfluxDBProvider(MetricsProvider):
    """Samples by the newest point of each series, history by means (of counters: rates) over each step.

    ``measured_at`` is the point's own time; of history, the end of the step. Network and disk are rates between the
    last two points. Pods come from Telegraf's kubernetes input.
    """

    name = "InfluxDB"
    arguments = InfluxDBArguments

    def __init__(self, arguments: InfluxDBArguments, http: HttpSession) -> None:
        """``http``: a session to ``arguments.address``, with the headers of ``influxdb_headers``."""
        self._arguments = arguments
        self._http = http
        self._language: InfluxLanguage = InfluxQL(http, arguments.database, arguments.retention_policy)
        if arguments.asks_flux:
            self._language = Flux(http, arguments.org or "", arguments.bucket or "")

    @classmethod
    def made(cls, arguments: InfluxDBArguments, context: ProviderContext) -> Self:
        """With a session that sends its credentials."""
        return cls(arguments, context.session(cls.name, arguments, arguments.address, influxdb_headers(arguments)))

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """As MetricsProvider."""
        said = Said()
        readings = NodeReadings(nodes, self._hosts(nodes), np.array([now]))
        newest = partial(self._newest, now, self._arguments.lookback)
        self._read_shares(readings, lambda wanted: said.heard(newest(wanted)))
        recent = partial(self._whole, partial(self._newest, now, self._arguments.rate_window))
        for metric, counters in ((NETWORK, self._arguments.network), (DISK, self._arguments.disk)):
            unless_refused(metric, partial(self._read_rates, readings, recent, inf, metric, counters), said.warn)
        pods = None
        if with_pods:
            read_all = partial(read_pods, self._arguments.pods, partial(self._whole, newest))
            pods = unless_refused("the pods' use", read_all, said.warn)
        warnings = (*said.warnings, *readings.warnings())
        return MetricsSample(readings.samples(), pods, readings.unusable, warnings, said.is_partial)

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """As MetricsProvider; times are whole multiples of the step. A long history has no network and disk."""
        times, step = history_times(self._http, start, end, step_seconds)
        if not len(times) or not nodes:
            return None
        readings = NodeReadings(nodes, self._hosts(nodes), times, step_seconds=step)
        most = max(1, _POINTS_PER_ANSWER // len(nodes))
        for first, last in pieces(len(times), most):
            ask = partial(self._whole, partial(self._regular, times[first:last], step))
            self._read_shares(readings, ask)
        for metric, counters in ((NETWORK, self._arguments.network), (DISK, self._arguments.disk)):
            if len(times) <= most:  # rates of many devices over a long time cost the server minutes
                ask = partial(self._whole, partial(self._regular, times, step))
                unless_refused(metric, partial(self._read_rates, readings, ask, step, metric, counters), readings.note)
        return readings.samples()

    def _hosts(self, nodes: Sequence[Node]) -> Hosts:
        return Hosts(nodes, pattern=self._arguments.host_pattern)

    def _read_shares(self, readings: NodeReadings, ask: _Ask) -> None:
        host = self._arguments.host_tag
        for metric, field in ((CPU, self._arguments.cpu), (MEMORY, self._arguments.memory)):
            found = ask(share_selection(field, host)).series
            if not found:
                readings.note(f"{metric}: {field.measurement}.{field.field} has no points; check database and names")
            add_shares(readings, metric, field, host, found)

    def _read_rates(
        self, readings: NodeReadings, ask: _Ask, step: float, metric: str, counters: InfluxCounters
    ) -> None:
        host = self._arguments.host_tag
        add_rates(readings, metric, host, ask(counter_selection(counters, host)).series, step)

    def _newest(self, now: float, lookback: float, wanted: SeriesSelection) -> Answer:
        span = Span(round((now - lookback) * 1000), round((now + AHEAD_SECONDS) * 1000))
        return self._language.newest(wanted, span)

    def _regular(self, times: FloatArray, step: float, wanted: SeriesSelection) -> Answer:
        """Points at ``times``; a rate looks one step further back, for the counter before the first."""
        first = times[0] - step * (2 if wanted.is_counter else 1)
        span = Span(round(first * 1000), round(times[-1] * 1000))
        return self._language.regular(wanted, span, round(step * 1000))

    def _whole(self, ask: _Ask, wanted: SeriesSelection) -> Answer:
        """An answer of which nothing may be missing."""
        answer = ask(wanted)
        if answer.is_partial:
            raise self._http.error(CUT_SHORT)
        return answer


_NANOCORES_PER_MILLICORE = 1e6
_MILLISECONDS_PER_SECOND = 1e3


def share_selection(field: InfluxField, host_tag: str) -> SeriesSelection:
    """A share of the node, by host."""
    return SeriesSelection(field.measurement, (field.field,), (host_tag,), field.tags)


def counter_selection(counters: InfluxCounters, host_tag: str) -> SeriesSelection:
    """Rates of counters, by host and device."""
    group = (host_tag, counters.device_tag)
    return SeriesSelection(
        counters.measurement, counters.fields, group, {}, (counters.device_tag, counters.exclude), is_counter=True
    )


def add_shares(
    readings: NodeReadings, metric: str, field: InfluxField, host_tag: str, series: Iterable[InfluxSeries]
) -> None:
    """Readings of a share, as fractions. Of several series of one host at one time the last counts."""
    factor = 0.01 if field.unit == "Percent" else 1.0
    for one in series:
        host = one.tags.get(host_tag, "")
        for at, found in one.points if host else ():
            value = number(found, factor)
            readings.add(metric, host, at, 1.0 - value if field.is_idle else value)


def add_rates(readings: NodeReadings, metric: str, host_tag: str, series: Iterable[InfluxSeries], step: float) -> None:
    """Readings of rates: bytes of all devices together; of disks the share of time that the busiest one worked.

    ``step``: points within so many seconds belong together; they count as old as the oldest.
    """
    newest: dict[tuple[str, int], dict[tuple[str, ...], tuple[float, float]]] = {}
    for one in series:
        host = one.tags.get(host_tag, "")
        for at, raw in one.points if host else ():
            devices = newest.setdefault((host, round(at / step)), {})
            device = tuple(one.tags.values())
            if device not in devices or devices[device][0] < at:
                devices[device] = (at, number(raw))
    for (host, _), devices in newest.items():
        rates = [value for _, value in devices.values()]
        value = float(np.max(rates)) / _MILLISECONDS_PER_SECOND if metric == DISK else sum(rates)
        readings.add(metric, host, min(at for at, _ in devices.values()), value)


def read_pods(names: InfluxPods, ask: Callable[[SeriesSelection], Answer]) -> PodSamples:
    """The newest sample of every pod. Raises MetricsError."""
    readings = PodReadings()
    group = (names.namespace_tag, names.pod_tag, names.container_tag)
    fields = ((CPU, names.cpu_nanocores, 1 / _NANOCORES_PER_MILLICORE), (MEMORY, names.memory_bytes, 1.0))
    for metric, field, factor in fields:
        for one in ask(SeriesSelection(names.measurement, (field,), group)).series:
            namespace, pod, container = (one.tags.get(tag, "") for tag in group)
            for at, found in one.points:
                readings.add(metric, PodKey(namespace, pod), at, number(found, factor), container=container)
    return readings.samples()
