"""SignalFx: the points of every host by one query a metric, and which host a series belongs to by another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self, TypeVar

import msgspec
import numpy as np

from rescheduler.adapters.metrics.argument_text import HostPattern, PlainName, PlainSuffix
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
from rescheduler.policy.fields.values import PositiveDurationSeconds

_RESOLUTIONS_MS: Final = (60_000, 300_000, 3_600_000)
_PAGE: Final = 10_000
_MOST_PAGES: Final = 20
T = TypeVar("T")


class _Window(msgspec.Struct):
    data: dict[str, list[list[Any]] | None]
    errors: list[Any] | None = None


class _Metadata(msgspec.Struct):
    id: str
    dimensions: dict[str, str | None] | None = None


class _Page(msgspec.Struct):
    results: list[_Metadata]
    count: int = 0


class _Span(NamedTuple):
    start: float
    end: float
    resolution_ms: int


class SignalFxArguments(HttpAccess):
    """SignalFx, now Splunk Observability Cloud."""

    address: HttpAddress = "https://api.signalfx.com"
    """Its API, with the realm in it, such as https://api.us1.signalfx.com."""
    token: Credential
    """An access token, sent as X-SF-Token."""
    host_name_suffix: PlainSuffix = ""
    """What the names of this cluster's hosts end with, such as .example.com."""
    cluster_name: PlainName | None = None
    """The value of the dimension ``cluster``. Default: hosts of all clusters are read, and unknown ones left out."""
    cpu_metric: PlainName = "cpu.utilization"
    """Use of cpu in percent."""
    memory_metric: PlainName = "memory.utilization"
    """Use of memory in percent."""
    host_dimension: PlainName = "host"
    """The dimension that names the host."""
    host_pattern: HostPattern | None = None
    """What of the dimension's value is the host. Default: all of it."""
    lookback: PositiveDurationSeconds = 300.0
    """Points older than this are not looked for."""


def signalfx_headers(arguments: SignalFxArguments) -> dict[str, SecretHeader]:
    """Headers of the session that carry credentials."""
    return {"X-SF-Token": SecretHeader(arguments.token)}


class SignalFxProvider(MetricsProvider):
    """Samples by the newest point of each host, history by its points. Cpu and memory of nodes; no pods.

    ``measured_at`` is the point's own time.
    """

    name = "SignalFx"
    arguments = SignalFxArguments

    def __init__(self, arguments: SignalFxArguments, http: HttpSession) -> None:
        """``http``: a session to ``arguments.address``, with the headers of ``signalfx_headers``."""
        self._arguments = arguments
        self._http = http

    @classmethod
    def made(cls, arguments: SignalFxArguments, context: ProviderContext) -> Self:
        """With a session that sends its credentials."""
        return cls(arguments, context.session(cls.name, arguments, arguments.address, signalfx_headers(arguments)))

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:  # noqa: ARG002
        """As MetricsProvider."""
        readings = NodeReadings(nodes, self._hosts(nodes), np.array([now]))
        warnings, is_partial = self._read(readings, _Span(now - self._arguments.lookback, now, _RESOLUTIONS_MS[0]))
        told = (*warnings, *readings.warnings())
        return MetricsSample(readings.samples(), None, readings.unusable, told, is_partial)

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """As MetricsProvider; times are whole multiples of the step, of which one below a minute leaves gaps."""
        times, step = history_times(self._http, start, end, step_seconds)
        if not len(times) or not nodes:
            return None
        resolution = max((one for one in _RESOLUTIONS_MS if one <= step * 1000), default=_RESOLUTIONS_MS[0])
        hosts, span = self._hosts(nodes), resolution / 1000
        readings = NodeReadings(nodes, hosts, times, step_seconds=step, span_seconds=span)
        warnings, is_partial = self._read(readings, _Span(times[0] - max(step, span), times[-1], resolution))
        if is_partial:
            raise self._http.error(f"its history is not whole: {'; '.join(warnings)}")
        return readings.samples()

    def _hosts(self, nodes: Sequence[Node]) -> Hosts:
        return Hosts(nodes, pattern=self._arguments.host_pattern)

    def _read(self, readings: NodeReadings, span: _Span) -> tuple[list[str], bool]:
        """Add all points of the span; what was said of them, and whether some are missing. Raises MetricsError."""
        warnings: list[str] = []
        is_partial = False
        for metric, name in ((CPU, self._arguments.cpu_metric), (MEMORY, self._arguments.memory_metric)):
            query = self._query(name)
            window = self._window(query, span)
            if window.errors:
                is_partial = True
                warnings.append(f"{name}: the source says {printable(str(window.errors[0]), 200)}")
            hosts, is_whole = self._series_hosts(query)
            is_partial |= not is_whole
            if not is_whole:
                warnings.append(f"{name}: there are more than {_PAGE * _MOST_PAGES} series; the rest is missing")
            nameless = _add(readings, metric, window.data, hosts)
            if nameless:
                warnings.append(f"{name}: {nameless} series are of no host that could be found")
            if not window.data:
                readings.note(
                    f"{metric}: {name} has no points; check hostNameSuffix, clusterName and the metric's name"
                )
        return warnings, is_partial

    def _query(self, metric: str) -> str:
        arguments = self._arguments
        parts = [f"{arguments.host_dimension}:*{arguments.host_name_suffix}"]
        if arguments.cluster_name is not None:
            parts.append(f"cluster:{arguments.cluster_name}")
        return " AND ".join([*parts, f'sf_metric:"{metric}"'])

    def _window(self, query: str, span: _Span) -> _Window:
        times = {"startMs": round(span.start * 1000), "endMs": round(span.end * 1000)}
        parameters = {"query": query, **times, "resolution": span.resolution_ms}
        return self._as(_Window, self._http.get_json("/v1/timeserieswindow", parameters))

    def _series_hosts(self, query: str) -> tuple[dict[str, str], bool]:
        """The host of each series by its id, and whether these are all."""
        found: dict[str, str] = {}
        for at in range(_MOST_PAGES):
            parameters = {"query": query, "limit": _PAGE, "offset": at * _PAGE}
            page = self._as(_Page, self._http.get_json("/v2/metrictimeseries", parameters))
            for one in page.results:
                found[one.id] = (one.dimensions or {}).get(self._arguments.host_dimension) or ""
            if len(page.results) < _PAGE or len(found) >= page.count > 0:
                return found, True
        return found, False

    def _as(self, kind: type[T], answer: Any) -> T:
        try:
            return msgspec.convert(answer, kind)
        except msgspec.ValidationError as error:
            said = printable(str(error), 200)
            raise self._http.error(f"answered something that is no time series: {said}") from None


def _add(
    readings: NodeReadings, metric: str, data: Mapping[str, list[list[Any]] | None], hosts: Mapping[str, str]
) -> int:
    """Add the points of series whose host is known; how many series have none."""
    nameless = 0
    for identity, points in data.items():
        host = hosts.get(identity, "")
        nameless += not host
        pairs = [point for point in points or [] if len(point) == 2 and point[1] is not None] if host else []
        read = [(number(at, 1e-3), number(value, 1e-2)) for at, value in pairs]
        readings.add_points(metric, host, read, series=identity)
    return nameless
