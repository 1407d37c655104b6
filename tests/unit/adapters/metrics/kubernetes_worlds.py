"""Worlds of the contract whose source is the cluster itself, played by a loopback server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.extension_points import MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.builders import NOW
from tests.loopback_server import Answer, Request, json_answer, loopback_server
from tests.metrics.scenes import SECRET, Load, Scene


def connection_to(address: str, folder: Path) -> Connection:
    """A connection by a kubeconfig with SECRET as its token."""
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(
        f"""
apiVersion: v1
kind: Config
current-context: one
contexts: [{{name: one, context: {{cluster: one, user: one}}}}]
clusters: [{{name: one, cluster: {{server: "{address}"}}}}]
users: [{{name: one, user: {{token: {SECRET}}}}}]
"""
    )
    return connect(str(kubeconfig), None, read_only=True)


def stamp(at: float) -> str:
    """A time as Kubernetes writes it, with fractions of a second."""
    return datetime.fromtimestamp(at, UTC).isoformat()


class KubernetesWorld:
    """Routes with their documents; ``make`` makes the provider of a connection."""

    now = NOW
    tolerance = 1e-3
    lag = 1.0
    has_history = False
    has_rivals = True

    def __init__(
        self,
        folder: Path,
        stack: ExitStack,
        make: Callable[[Connection], MetricsProvider],
        routes: Callable[[Scene, Sequence[Node]], Mapping[str, Any]],
        *,
        has_pods: bool,
    ) -> None:
        self.has_pods = has_pods
        self._folder = folder
        self._stack = stack
        self._make = make
        self._routes = routes

    def provider(self, scene: Scene, nodes: Sequence[Node]) -> MetricsProvider:
        """As World."""
        routes = self._routes(scene, nodes)

        def answer(request: Request) -> Answer:
            known = routes.get(request.route)
            return Answer(b"404 page not found", 404) if known is None else json_answer(known)

        return self.reaching(self._stack.enter_context(loopback_server(answer)).address)

    def reaching(self, address: str) -> MetricsProvider:
        """As World."""
        return self._make(connection_to(address, self._folder))


def newest(scene: Scene) -> list[tuple[str, Load]]:
    """The last load of each host, and of each rival."""
    return [(host, loads[-1]) for part in (scene.hosts, scene.rivals) for host, loads in part.items()]


def resource_metrics(scene: Scene, nodes: Sequence[Node]) -> dict[str, Any]:
    """metrics.k8s.io as metrics-server answers: cpu in nanocores, memory in kibibytes."""
    capacity = {node.name: dict(node.capacity) for node in nodes}
    found = [
        {
            "metadata": {"name": host, "creationTimestamp": stamp(NOW)},
            "timestamp": stamp(load.at),
            "window": "20s",
            "usage": {
                "cpu": f"{round(load.cpu * capacity[host][CPU] * 1e6)}n",
                "memory": f"{round(load.memory * capacity[host][MEMORY] / 1024)}Ki",
            },
        }
        for host, load in newest(scene)
    ]
    pods = [
        {
            "metadata": {"name": key.name, "namespace": key.namespace},
            "timestamp": stamp(loads[-1].at),
            "containers": [
                {"usage": {"cpu": f"{round(share * loads[-1].millicores * 1e6)}n",
                           "memory": f"{round(share * loads[-1].memory_bytes / 1024)}Ki"}}
                for share in (0.75, 0.25)
            ],
        }
        for key, loads in scene.pods.items()
    ]  # fmt: skip
    return {
        "/apis/metrics.k8s.io/v1beta1/nodes": {"kind": "NodeMetricsList", "items": found},
        "/apis/metrics.k8s.io/v1beta1/pods": {"kind": "PodMetricsList", "items": pods},
    }


def custom_metrics(scene: Scene, nodes: Sequence[Node], version: str = "v1beta1") -> dict[str, Any]:
    """custom.metrics.k8s.io as prometheus-adapter answers: fractions in thousandths."""
    return {
        f"/apis/custom.metrics.k8s.io/{version}/nodes/*/{metric}": {
            "kind": "MetricValueList",
            "items": [
                {
                    "describedObject": {"kind": "Node", "name": host, "apiVersion": "/v1"},
                    "metricName": metric,
                    "timestamp": stamp(load.at),
                    "value": f"{round(1000 * getattr(load, field))}m",
                }
                for host, load in newest(scene)
            ],
        }
        for metric, field in (("node_cpu_usage_avg", "cpu"), ("node_memory_usage_avg", "memory"))
    }
