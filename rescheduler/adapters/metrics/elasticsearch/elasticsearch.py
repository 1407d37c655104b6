"""Elasticsearch and OpenSearch with Metricbeat's fields: searches with aggregations over all hosts at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, Self

import numpy as np

from rescheduler.adapters.metrics.elasticsearch.elasticsearch_arguments import ElasticsearchArguments
from rescheduler.adapters.metrics.elasticsearch.reading import add_means, add_newest, add_rates, read_pods
from rescheduler.adapters.metrics.elasticsearch.search import Search
from rescheduler.adapters.metrics.http.credentials import SecretHeader
from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.node_readings import NodeReadings, history_times
from rescheduler.adapters.metrics.samples.range_times import pieces, unless_refused
from rescheduler.extension_points import MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK, MetricsSample, NodeSamples

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
