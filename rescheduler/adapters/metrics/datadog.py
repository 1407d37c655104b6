"""Datadog: one timeseries query for cpu and memory of all hosts at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

import msgspec
import numpy as np

from rescheduler.adapters.metrics.argument_text import HostPattern, PlainName, PlainSuffix, form
from rescheduler.adapters.metrics.http.credentials import SecretHeader
from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.node_readings import NodeReadings, history_times, number
from rescheduler.extension_points import MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.printable import printable
from rescheduler.model.usage.samples import MetricsSample, NodeSamples
from rescheduler.policy.fields.metrics_access import Credential, HttpAccess, HttpAddress
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds

_LEAST_INTERVAL_SECONDS: Final = 60.0
_METRICS: Final = (CPU, MEMORY)
_HOST: Final = "host:"


class _Series(msgspec.Struct):
    group_tags: list[str] | None = None
    query_index: int = 0


class _Attributes(msgspec.Struct):
    series: list[_Series] = []
    times: list[Any] = []
    values: list[list[Any]] = []


class _Data(msgspec.Struct):
    attributes: _Attributes


class _Document(msgspec.Struct):
    data: _Data | None = None
    errors: str | list[Any] | None = None


class _HostSeries(NamedTuple):
    metric: str
    host: str
    points: list[tuple[float, object]]


class DatadogMetric(PolicyModel):
    """A metric that is a share of the node."""

    metric: PlainName
    """Its name."""
    unit: Literal["Percent", "Fraction"] = "Percent"
    """Whether 0 to 100 or 0 to 1."""
    is_free: bool = False
    """The metric says what is free, not what is used."""


class DatadogArguments(HttpAccess):
    """Datadog."""

    site: Annotated[str, form(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", "a site such as datadoghq.eu")] = "datadoghq.com"
    """The site, such as datadoghq.eu; its API is at https://api.SITE."""
    address: HttpAddress | None = None
    """Its API where that is elsewhere, behind a proxy for instance."""
    api_key: Credential
    """The API key, sent as DD-API-KEY."""
    application_key: Credential
    """The application key, sent as DD-APPLICATION-KEY."""
    host_name_suffix: PlainSuffix = ""
    """What the names of this cluster's hosts end with, such as .example.com."""
    cluster_name: PlainName | None = None
    """The value of the tag cluster_name. Default: hosts of all clusters are read, and unknown ones left out."""
    cpu: DatadogMetric = DatadogMetric(metric="cpu.utilization")
    """Use of cpu; the agent itself gives system.cpu.idle (isFree: true)."""
    memory: DatadogMetric = DatadogMetric(metric="memory.utilization")
    """Use of memory; the agent itself gives system.mem.pct_usable (unit: Fraction, isFree: true)."""
    rollup: Literal["max", "avg", "min"] = "max"
    """What stands for a minute; min is the prudent one for metrics of what is free."""
    host_pattern: HostPattern | None = None
    """What of the tag host is the host. Default: all of it."""
    lookback: PositiveDurationSeconds = 300.0
    """Points older than this are not looked for."""

    @property
    def api_address(self) -> str:
        """Where the API is."""
        return self.address or f"https://api.{self.site}"


def datadog_headers(arguments: DatadogArguments) -> dict[str, SecretHeader]:
    """Headers of the session that carry credentials."""
    return {
        "DD-API-KEY": SecretHeader(arguments.api_key),
        "DD-APPLICATION-KEY": SecretHeader(arguments.application_key),
    }


class DatadogProvider(MetricsProvider):
    """Samples by the newest minute of each host, history by its points. Cpu and memory of nodes; no pods.

    ``measured_at`` is the minute's own time.
    """

    name = "Datadog"
    arguments = DatadogArguments

    def __init__(self, arguments: DatadogArguments, http: HttpSession) -> None:
        """``http``: a session to ``arguments.api_address``, with the headers of ``datadog_headers``."""
        self._arguments = arguments
        self._http = http
        self._by_metric = {CPU: arguments.cpu, MEMORY: arguments.memory}

    @classmethod
    def made(cls, arguments: DatadogArguments, context: ProviderContext) -> Self:
        """With a session that sends its credentials."""
        return cls(arguments, context.session(cls.name, arguments, arguments.api_address, datadog_headers(arguments)))

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:  # noqa: ARG002
        """As MetricsProvider."""
        readings = NodeReadings(nodes, self._hosts(nodes), np.array([now]))
        warnings = self._read(readings, now - self._arguments.lookback, now, _LEAST_INTERVAL_SECONDS)
        told = (*warnings, *readings.warnings())
        return MetricsSample(readings.samples(), None, readings.unusable, told, bool(warnings))

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """As MetricsProvider; times are whole multiples of the step, of which one below a minute leaves gaps."""
        times, step = history_times(self._http, start, end, step_seconds)
        if not len(times) or not nodes:
            return None
        hosts, span = self._hosts(nodes), max(_LEAST_INTERVAL_SECONDS, step)
        readings = NodeReadings(nodes, hosts, times, step_seconds=step, span_seconds=span)
        warnings = self._read(readings, times[0] - span, times[-1], span)
        if warnings:
            raise self._http.error(f"its history is not whole: {'; '.join(warnings)}")
        return readings.samples()

    def _hosts(self, nodes: Sequence[Node]) -> Hosts:
        return Hosts(nodes, pattern=self._arguments.host_pattern)

    def _read(self, readings: NodeReadings, start: float, end: float, interval: float) -> list[str]:
        """Add all points; what the source says is missing. Raises MetricsError."""
        document = self._asked(self._body(start, end, interval))
        silent = dict.fromkeys(_METRICS)
        for one in self._series(document):
            described = self._by_metric[one.metric]
            silent.pop(one.metric, None)
            points = [(at, _fraction(found, described)) for at, found in one.points]
            readings.add_points(one.metric, one.host, points)
        for metric in silent:
            name = self._by_metric[metric].metric
            readings.note(f"{metric}: {name} has no points; check hostNameSuffix, clusterName and the metric's name")
        said = _said(document)
        return [said] if said else []

    def _body(self, start: float, end: float, interval: float) -> dict[str, Any]:
        queries = [
            {"data_source": "metrics", "name": metric, "query": self._query(described, interval)}
            for metric, described in self._by_metric.items()
        ]
        attributes = {
            "from": round(start * 1000),
            "to": round(end * 1000),
            "interval": round(interval * 1000),
            "queries": queries,
            "formulas": [{"formula": metric} for metric in self._by_metric],
        }
        return {"data": {"type": "timeseries_request", "attributes": attributes}}

    def _query(self, described: DatadogMetric, interval: float) -> str:
        arguments = self._arguments
        scope = f"host:*{arguments.host_name_suffix}"
        if arguments.cluster_name is not None:
            scope += f", cluster_name:{arguments.cluster_name}"
        how = arguments.rollup
        return f"{how}:{described.metric}{{{scope}}} by {{host}}.rollup({how}, {round(interval)})"

    def _asked(self, body: dict[str, Any]) -> _Document:
        try:
            return msgspec.convert(self._http.post_json("/api/v2/query/timeseries", body), _Document)
        except msgspec.ValidationError as error:
            said = printable(str(error), 200)
            raise self._http.error(f"answered something that is no time series: {said}") from None

    def _series(self, document: _Document) -> Iterator[_HostSeries]:
        """The points of each host. Raises MetricsError where series, values and times do not fit together."""
        if document.data is None:
            raise self._http.error(
                _said(document) or "answered something that is no time series: there is no data in it"
            )
        found = document.data.attributes
        if len(found.series) != len(found.values):
            raise self._http.error(f"answered {len(found.series)} series with the values of {len(found.values)}")
        for series, values in zip(found.series, found.values, strict=True):
            if len(values) != len(found.times):
                raise self._http.error(f"answered a series of {len(values)} values for {len(found.times)} times")
            if not 0 <= series.query_index < len(_METRICS):
                raise self._http.error(f"answered a series of query {series.query_index}, which was not asked")
            host = next((tag.removeprefix(_HOST) for tag in series.group_tags or [] if tag.startswith(_HOST)), "")
            pairs = zip(found.times, values, strict=True)
            points = [(number(time, 1e-3), value) for time, value in pairs if value is not None]
            if host and points:
                yield _HostSeries(_METRICS[series.query_index], host, points)


def _fraction(found: object, described: DatadogMetric) -> float:
    value = number(found, 0.01 if described.unit == "Percent" else 1.0)
    return 1.0 - value if described.is_free else value


def _said(document: _Document) -> str:
    errors = document.errors
    said = errors if isinstance(errors, str) else "; ".join(map(str, errors or ()))
    return f"the source says: {printable(said, 300)}" if said else ""
