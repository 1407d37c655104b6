"""The watcher's own metrics for Prometheus: ticks, trust, ages and requests, with labels of a few values each."""

from __future__ import annotations

from collections import Counter as Count
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rescheduler import __version__
from rescheduler.daemon.load_watcher.record import Record
from rescheduler.daemon.load_watcher.source import Records
from rescheduler.extension_points import Clock
from rescheduler.model.usage.trust import TrustState
from rescheduler.usage.collecting.collected import Collected

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_PREFIX: Final = "rescheduler_watcher"
_PATHS: Final = frozenset({"/watcher", "/watcher/health", "/trust", "/healthz", "/readyz", "/metrics", "/openapi.json"})
_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


class Telemetry:
    """Counts requests, and asks the watcher for the rest when it is scraped."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_OfWatcher(records, clock))
        names = f"{_PREFIX}_http_requests", f"{_PREFIX}_http_request_seconds"
        self._requests = Counter(names[0], "Requests answered.", ["path", "code"], registry=self._registry)
        self._seconds = Histogram(names[1], "Time to answer.", ["path"], registry=self._registry, buckets=_BUCKETS)

    def count(self, path: str, status: int, seconds: float) -> None:
        """One request was answered."""
        known = path if path in _PATHS else "/watcher/{hostname}" if path.startswith("/watcher/") else "other"
        self._requests.labels(known, str(status)).inc()
        self._seconds.labels(known).observe(seconds)

    def text(self) -> bytes:
        """All metrics in the text form of Prometheus."""
        return generate_latest(self._registry)


@dataclass(frozen=True, eq=False)
class _OfWatcher(Collector):
    records: Records
    clock: Clock

    def collect(self) -> Iterator[Metric]:
        """What the watcher knows of itself now."""
        yield InfoMetricFamily(f"{_PREFIX}_build", "Version that runs.", {"version": __version__})
        collected = self.records.collected
        yield _counter("ticks", "Ticks since the start.", collected.ticks)
        yield _counter("ticks_overrun", "Ticks left out because earlier ones took too long.", collected.overrun_ticks)
        yield _counter("ticks_lost", "Ticks that could not be kept in the file.", collected.lost_ticks)
        yield _counter("pods_dropped", "Samples of pods that cannot be.", collected.dropped_pods)
        yield _gauge("store_up", "Whether samples are being kept in the file.", not collected.store_error)
        yield _gauge("cluster_up", "Whether nodes and pods were read the last time.", not collected.cluster_error)
        yield from _of_providers(collected)
        record = self.records.current()
        if record is not None:
            yield _gauge("last_tick_timestamp_seconds", "When the last tick was.", collected.at)
            yield from _of_record(record, self.clock.now())


def _of_providers(collected: Collected) -> Iterator[Metric]:
    """By name and place in the policy, since two may have one name."""
    labels = ["provider", "place"]
    up = GaugeMetricFamily(f"{_PREFIX}_provider_up", "Whether it answered the last time.", labels=labels)
    used = GaugeMetricFamily(f"{_PREFIX}_provider_used", "Whether its samples are those that count.", labels=labels)
    meaning = "Samples of nodes that cannot be."
    dropped = CounterMetricFamily(f"{_PREFIX}_provider_samples_dropped", meaning, labels=labels)
    for place, provider in enumerate(collected.providers):
        own = [provider.name, str(place)]
        up.add_metric(own, provider.is_answering)
        used.add_metric(own, provider.is_used)
        dropped.add_metric(own, provider.dropped)
    yield from (up, used, dropped)


def _of_record(record: Record, now: float) -> Iterator[Metric]:
    nodes = GaugeMetricFamily(f"{_PREFIX}_nodes", "Nodes by the trust in their load.", labels=["state"])
    counts = Count(trust.state for trust in record.assessment.nodes)
    for state in TrustState:
        nodes.add_metric([state.value], counts[state])
    yield nodes
    yield _gauge("pods", "Pods that are known.", len(record.collected.pods))
    yield _gauge("frozen", "Whether no node is moved by usage now.", bool(record.assessment.freeze))
    yield _gauge("falls_back", "Whether requests stand in for usage.", record.assessment.falls_back)
    measured_at = record.collected.measured_at
    ages = np.empty(0) if measured_at is None else now - measured_at[np.isfinite(measured_at)]
    if ages.size:
        yield _gauge("oldest_sample_age_seconds", "Age of the newest sample, worst node.", float(ages.max()))
        yield _gauge("median_sample_age_seconds", "Age of the newest sample, median node.", float(np.median(ages)))


def _counter(name: str, meaning: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"{_PREFIX}_{name}", meaning, float(value))


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{_PREFIX}_{name}", meaning, float(value))


@dataclass(frozen=True)
class Counting:
    """Stands before the application and counts what it answers."""

    app: ASGIApp
    telemetry: Telemetry
    clock: Clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand one request on."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        started = self.clock.monotonic()
        status = 500

        async def counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, counted)
        finally:
            self.telemetry.count(scope["path"], status, self.clock.monotonic() - started)
        return None
