"""Prometheus and all that answer like it (Thanos, Mimir, VictoriaMetrics): whole clusters by a handful of queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import Final, NamedTuple, Self

import numpy as np

from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.adapters.metrics.prometheus.asking import OwnQueries, QueryRound
from rescheduler.adapters.metrics.prometheus.client import PrometheusClient, Row
from rescheduler.adapters.metrics.prometheus.probing import ENOUGH, PROBE_SECONDS, Choice, Probing
from rescheduler.adapters.metrics.prometheus.prometheus_arguments import PrometheusArguments
from rescheduler.adapters.metrics.prometheus.queries import Query, node_queries, pod_queries, uname_query
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.node_columns import capacities, samples_of
from rescheduler.adapters.metrics.samples.range_times import range_times
from rescheduler.adapters.metrics.samples.series_join import Joined, Series, joined, latest, number_of
from rescheduler.extension_points import MetricsError, MetricsProvider
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NODE_METRICS, MetricsSample, NodeSamples, PodKey, PodSamples, no_samples
from rescheduler.model.usage.usage import FloatArray

_NEEDED: Final = (CPU, MEMORY)
_POINTS_PER_ANSWER: Final = 100_000
_STEPS_PER_ANSWER: Final = 5_000
_STRANGERS: Final = 1e-9


class PrometheusProvider(MetricsProvider):
    """Samples by instant queries, history by range queries; which metrics there are is found by probing.

    Cpu is a rate over ``rateWindow`` or, where recording rules give it, over theirs (mostly 5m); memory is the newest
    value. ``measured_at`` is the time of the newest raw sample behind a value, not that of the answer.
    """

    name = "Prometheus"
    arguments = PrometheusArguments

    def __init__(self, arguments: PrometheusArguments, http: HttpSession) -> None:
        """``http``: a session to ``arguments.address``."""
        self._arguments = arguments
        self._client = PrometheusClient(http, arguments.timeout)
        self._own = OwnQueries(arguments)
        self._nodes: Probing[Query, NodeReading] = Probing(node_queries(arguments))
        self._pods: Probing[Query, PodReading] = Probing(pod_queries(arguments))
        self._asks_uname = False
        self._sought_at: float | None = None

    @classmethod
    def made(cls, arguments: PrometheusArguments, context: ProviderContext) -> Self:
        """With a session to its address."""
        return cls(arguments, context.session(cls.name, arguments, arguments.address))

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """As MetricsProvider; rates end at the server's own now."""
        self._client.taken_warnings()
        asking = QueryRound(self._client, self._own)
        if not nodes:  # nothing can be learnt about which queries cover them
            pods = self._pod_samples(asking, now) if with_pods else None
            return MetricsSample(no_samples((), now), pods, warnings=tuple(asking.refusals))
        readings = self._readings(nodes, now, asking)
        if asking.refusals and not any(readings[metric].share for metric in _NEEDED):
            raise self._client.error(f"answers no query for nodes; it says {next(iter(asking.refusals))}")
        pods = self._pod_samples(asking, now) if with_pods else None
        unusable = {
            nodes[at].name: f"{metric}: {problem}"
            for metric in reversed(_NEEDED)
            for at, problem in readings[metric].found.joined.problems.items()
        }
        samples = _samples(nodes, np.array([now]), readings, unusable)
        said, is_partial = self._client.taken_warnings()
        return MetricsSample(samples, pods, unusable, (*said, *asking.refusals, *_gaps(nodes, readings)), is_partial)

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """As MetricsProvider; the times are whole multiples of the step, in whole seconds."""
        try:
            times = range_times(start, end, step_seconds)
        except ValueError as error:
            raise self._client.error(f"was not asked for its history: {error}") from None
        if not len(times) or not nodes:
            return None
        self._client.taken_warnings()
        steps = max(1, min(_STEPS_PER_ANSWER, _POINTS_PER_ANSWER // len(nodes)))
        readings = self._readings(nodes, end, QueryRound(self._client, self._own, times, steps))
        said, is_partial = self._client.taken_warnings()
        if is_partial:
            raise self._client.error(f"gave only a part of its history: {'; '.join(said)}")
        return _samples(nodes, times, readings, {})

    def _readings(self, nodes: Sequence[Node], now: float, asking: QueryRound) -> Readings:
        """All metrics of the nodes; asks who is behind each instance where the labels do not say it."""
        found = self._asked(nodes, now, asking)
        lacks = any(found[metric].share < ENOUGH and found[metric].found.joined.unknown for metric in _NEEDED)
        is_too_early = self._sought_at is not None and abs(now - self._sought_at) < PROBE_SECONDS
        if not lacks or is_too_early or self._asks_uname or self._arguments.host_label:
            return found
        self._asks_uname, self._sought_at = True, now
        self._nodes.forget()
        better = self._asked(nodes, now, asking)
        self._asks_uname = any(better[metric].share > found[metric].share for metric in _NEEDED)
        return better if self._asks_uname else found

    def _asked(self, nodes: Sequence[Node], now: float, asking: QueryRound) -> Readings:
        hosts = self._hosts(nodes, asking)
        return {
            metric: self._nodes.ask(metric, lambda query: read_nodes(query, asking, hosts, nodes), now)
            for metric in NODE_METRICS
        }

    def _hosts(self, nodes: Sequence[Node], asking: QueryRound) -> Hosts:
        aliases: dict[str, str] = {}
        for labels, _ in asking.rows(uname_query(self._arguments)) if self._asks_uname else ():
            instance, name = labels.get("instance", ""), labels.get("nodename", "")
            aliases[instance] = name if aliases.get(instance, name) == name else ""
        return Hosts(nodes, label=self._arguments.host_label, pattern=self._arguments.host_pattern, aliases=aliases)

    def _pod_samples(self, asking: QueryRound, now: float) -> PodSamples | None:
        """None, with a warning, where pods cannot be read: nodes must not be lost for it."""
        try:
            found = {
                metric: self._pods.ask(metric, lambda query: read_pods(query, asking), now).found
                for metric in (CPU, MEMORY)
            }
        except MetricsError as error:
            asking.refusals[f"pods: {error}"] = None
            return None
        return pod_samples(found)


def _samples(nodes: Sequence[Node], times: FloatArray, readings: Readings, unusable: Mapping[str, str]) -> NodeSamples:
    values = {metric: choice.found.values for metric, choice in readings.items()}
    measured = {metric: choice.found.measured_at for metric, choice in readings.items()}
    return samples_of(nodes, times, values, measured, unusable)


def _gaps(nodes: Sequence[Node], readings: Readings) -> list[str]:
    """What the answers lack, against the nodes asked for."""
    found = []
    for metric in _NEEDED:
        way, reading, share = readings[metric]
        if share >= ENOUGH:
            continue
        text = f"{metric}: {way.name} covers {round(share * len(nodes))} of {len(nodes)} nodes"
        unknown = [host for host in reading.joined.unknown if host]
        more = ", ..." if len(unknown) > 3 else ""
        found.append(text + (f"; hosts that are no node here: {', '.join(unknown[:3])}{more}" if unknown else ""))
    return found


class NodeReading(NamedTuple):
    """One metric of all nodes: values and measured_at float64[T, N]; ``problems`` by index of a node."""

    values: FloatArray
    measured_at: FloatArray
    joined: Joined

    @property
    def share(self) -> float:
        """Share of the nodes about which the source says something, contradictions included.

        A way that has series, though of strangers only, goes before one that has none.
        """
        said: BoolArray = np.asarray(np.isfinite(self.values).any(axis=0))
        said[list(self.joined.problems)] = True
        share = float(said.mean()) if said.size else 1.0
        return max(share, _STRANGERS) if self.joined.unknown else share


Readings = Mapping[str, Choice[Query, NodeReading]]


def read_nodes(query: Query, asking: QueryRound, hosts: Hosts, nodes: Sequence[Node]) -> Choice[Query, NodeReading]:
    """Ask for one metric in one way.

    A value whose raw series has no newest sample any more is dropped: rates and rules outlive their exporter.
    """
    width, count = asking.width, len(nodes)
    series = asking.series(query.value)
    times: list[FloatArray] = []
    live: list[Series] = []
    for text in query.times if series else ():
        found = asking.series(text)
        live += found
        by_node = latest(found, hosts, width, count)
        if by_node is not None:
            times.append(by_node)
    result = joined(series, hosts, width, count, live)
    measured = np.minimum.reduce(times) if times else np.full((width, count), nan)  # NaN wins
    values = result.values if query.share_of is None else result.values / capacities(nodes, query.share_of)
    values = np.where(np.isfinite(measured), values, nan)
    reading = NodeReading(values, np.where(np.isfinite(values), measured, nan), result)
    return Choice(query, reading, reading.share)


ByPod = Mapping[PodKey, float]
PodReading = tuple[ByPod, ByPod]
"""Values and times by pod."""


def read_pods(query: Query, asking: QueryRound) -> Choice[Query, PodReading]:
    """Ask for one metric of all pods in one way; covered is all or nothing, since nobody knows which pods there are."""
    values = _by_pod(asking.rows(query.value))
    times: dict[PodKey, float] = {}
    for text in query.times if values else ():
        found = _by_pod(asking.rows(text))
        if found and times:  # the oldest of what the source knows
            times = {pod: min(time, found[pod]) for pod, time in times.items() if pod in found}
        elif found:
            times = dict(found)
    return Choice(query, (values, times), 1.0 if values else 0.0)


def pod_samples(readings: Mapping[str, PodReading]) -> PodSamples:
    """The readings of cpu (in cores) and memory as samples; a value without a time is dropped, as for nodes."""
    cpu, cpu_times = readings[CPU]
    memory, memory_times = readings[MEMORY]
    pods = tuple(sorted({*_timed(cpu, cpu_times), *_timed(memory, memory_times)}))
    cpu_at, memory_at = _column(pods, cpu_times), _column(pods, memory_times)
    values = {
        CPU: np.where(np.isnan(cpu_at), nan, _column(pods, cpu) * 1000.0),
        MEMORY: np.where(np.isnan(memory_at), nan, _column(pods, memory)),
    }
    return PodSamples(pods, values, np.fmin(cpu_at, memory_at))


def _timed(values: ByPod, times: ByPod) -> Iterable[PodKey]:
    return (pod for pod in values if pod in times)


def _column(pods: Sequence[PodKey], found: ByPod) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.fromiter((found.get(pod, nan) for pod in pods), dtype=float, count=len(pods))


def _by_pod(rows: Iterable[Row]) -> dict[PodKey, float]:
    """Values by pod; a pod of which two series say different things has none."""
    found: dict[PodKey, float] = {}
    for labels, points in rows:
        namespace, name = labels.get("namespace"), labels.get("pod")
        if not namespace or not name:
            continue
        key = PodKey(namespace, name)
        value, _ = number_of(points[-1][1])
        found[key] = nan if key in found and found[key] != value else value
    return found
