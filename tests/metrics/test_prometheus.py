"""PrometheusProvider against a real Prometheus and a real VictoriaMetrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.adapters.metrics.prometheus.prometheus import PrometheusProvider
from rescheduler.adapters.metrics.prometheus.prometheus_arguments import PrometheusArguments
from rescheduler.model.objects.node import Node
from tests.metrics.contract import ProviderContract
from tests.metrics.exporters import Exporter, cadvisor, containers, kubelet, new_rules, node_exporter, old_rules
from tests.metrics.prometheus_server import Point, prometheus_server
from tests.metrics.scenes import SECRET, TIMEOUT_SECONDS, Scene
from tests.metrics.victoria_metrics_server import victoria_metrics_server

pytestmark = pytest.mark.e2e


def provider_at(address: str, **arguments: object) -> PrometheusProvider:
    """A provider that asks this address."""
    read = PrometheusArguments.model_validate({"address": address, **arguments})
    return PrometheusProvider(read, http_session(read, None, provider="Prometheus", address=address))


class PrometheusWorld:
    """A server of its own for each scene, whose series one exporter wrote."""

    tolerance = 1e-3
    lag = 1.0
    has_history = has_pods = has_rivals = True

    def __init__(self, folder: Path, stack: ExitStack, exporter: Exporter, server: Callable[..., object]) -> None:
        self.now = time.time() - 3  # servers look back from the last whole second or so
        self._folder = folder
        self._stack = stack
        self._exporter = exporter
        self._server = server
        self._count = 0

    def points(self, scene: Scene, nodes: Sequence[Node]) -> list[Point]:
        """What the exporters wrote."""
        return [*self._exporter(scene, nodes), *containers(scene, nodes)]

    def provider(self, scene: Scene, nodes: Sequence[Node]) -> PrometheusProvider:
        """As World."""
        self._count += 1
        started = self._server(self._folder / str(self._count), self.points(scene, nodes))
        return provider_at(self._stack.enter_context(started))  # type: ignore[arg-type]

    def reaching(self, address: str) -> PrometheusProvider:
        """As World."""
        token = self._folder / "token"
        token.write_text(SECRET)
        return provider_at(address, bearerToken={"file": str(token)}, timeout=f"{TIMEOUT_SECONDS}s")


class _Contract(ProviderContract):
    exporter: Exporter = staticmethod(node_exporter)
    server: Callable[..., object] = staticmethod(prometheus_server)

    @pytest.fixture
    def world(self, tmp_path: Path) -> Iterator[PrometheusWorld]:
        """A world whose servers end with the test."""
        with ExitStack() as stack:
            yield PrometheusWorld(tmp_path, stack, type(self).exporter, type(self).server)


class TestNodeExporter(_Contract):
    """node-exporter's raw series."""


class TestVictoriaMetrics(_Contract):
    """The same series in another server, which reads PromQL its own way."""

    server = staticmethod(victoria_metrics_server)


class TestOldRules(_Contract):
    """Recording rules under the names that Trimaran's load watcher asks for."""

    exporter = staticmethod(old_rules)


class TestNewRules(_Contract):
    """Recording rules under their later names."""

    exporter = staticmethod(new_rules)


class TestCadvisor(_Contract):
    """The kubelet's cAdvisor."""

    exporter = staticmethod(cadvisor)


class TestKubelet(_Contract):
    """The kubelet's resource metrics."""

    exporter = staticmethod(kubelet)
