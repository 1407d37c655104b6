"""LowNodeUtilization by measured use: drawn use, served to the real descheduler as metrics.k8s.io.

The API is a stand-in behind the real API server that answers with what was drawn; who reads it is the real one.
Prometheus is left out: a descheduler that runs once has no client of it yet in its first cycle.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.descheduler_policy.drawing import PLUGINS, DrawnCase, draw
from benchmarks.descheduler_policy.recording import RecordedCase, Recorder
from tests.cluster.api import Manifest
from tests.cluster.load.metrics_stand_in import metrics_stand_in
from tests.cluster.plane.control_plane import ControlPlane

SOURCE: Final = "KubernetesMetrics"
GROUP: Final = "metrics.k8s.io/v1beta1"
_MEMORY: Final = 8 * 2**30
_SHARES: Final = ((0.0, 0.15), (0.0, 0.15), (0.5, 1.0), (0.0, 1.0))
"""From which and up to which share a node is used: idle ones give the plugin something to do."""


@dataclass
class DrawnUse:
    """Millicores and bytes: by node, and by namespace and drawn name of a pod."""

    nodes: dict[str, tuple[int, int]] = field(default_factory=dict)
    pods: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def of_node(self, name: str) -> Manifest | None:
        """Its NodeMetrics."""
        use = self.nodes.get(name)
        return None if use is None else {**_head("NodeMetrics", "", name), "usage": _usage(use)}

    def of_pod(self, space: str, name: str) -> Manifest | None:
        """PodMetrics of a pod by the name that it has in one run; None: the API does not know it yet."""
        use = self.pods.get((space, name.rpartition("-")[0]))
        containers = [{"name": "main", "usage": _usage(use)}] if use else []
        return {**_head("PodMetrics", space, name), "containers": containers} if use else None

    def document(self, below: list[str]) -> Manifest | None:
        """What the API answers to a request for one object; None: there is none."""
        return self.of_node(below[1]) if below[0] == "nodes" else self.of_pod(below[1], below[3])


def measured_case(number: int) -> tuple[DrawnCase, DrawnUse]:
    """A drawn cluster of LowNodeUtilization with use of its own; the same for the same number."""
    case, random, use = draw(number * len(PLUGINS)), Random(f"use {number}"), DrawnUse()
    for node in case.nodes:
        low, high = random.choice(_SHARES)
        cores = int(node["status"]["allocatable"]["cpu"])
        millicores = int(random.uniform(low, high) * cores * 1000)
        use.nodes[node["metadata"]["name"]] = (millicores, int(random.uniform(low, high) * _MEMORY))
    for pod in case.pods:
        if random.random() < 0.9:  # metrics lag behind new pods
            metadata = pod.manifest["metadata"]
            use.pods[metadata["namespace"], metadata["name"]] = (random.randint(1, 1500), random.randint(1, 2**30))
    policy: Manifest = json.loads(json.dumps(case.policy))
    arguments = policy["profiles"][0]["pluginConfig"][1]["args"]
    arguments["metricsUtilization"] = {"source": SOURCE}
    if random.random() < 0.3:
        arguments["evictionLimits"] = {"node": random.randint(1, 3)}
    return case._replace(policy={**policy, "metricsProviders": [{"source": SOURCE}]}), use


class MetricsStandIn:
    """The metrics API with the use of the case at hand."""

    def __init__(self, plane: ControlPlane) -> None:
        self.use = DrawnUse()
        self._plane = plane

    def objects(self) -> list[Manifest]:
        """All that it knows of nodes and pods that are there now."""
        pods = [item["metadata"] for item in self._plane.api.list("pods")]
        found = [self.use.of_node(name) for name in self.use.nodes]
        found += [self.use.of_pod(pod["namespace"], pod["name"]) for pod in pods]
        return [item for item in found if item is not None]


class MeasuredRecorder(Recorder):
    """Plays cases whose use was drawn, and records what the metrics API said."""

    def __init__(self, plane: ControlPlane, binary: Path, folder: Path, metrics: MetricsStandIn) -> None:
        super().__init__(plane, binary, folder)
        self._metrics = metrics

    def _played(self, case: DrawnCase, seed: int) -> RecordedCase:
        case, self._metrics.use = measured_case(seed)
        return super()._played(case, seed)

    def _objects(self) -> Manifest:
        found = super()._objects()
        return {**found, "items": [*found["items"], *self._metrics.objects()]}


@contextmanager
def drawn_metrics(plane: ControlPlane) -> Iterator[MetricsStandIn]:
    """The metrics API behind the API server, until the block ends."""
    metrics = MetricsStandIn(plane)
    with metrics_stand_in(plane, lambda below, _: metrics.use.document(below)):
        yield metrics


def _head(kind: str, space: str, name: str) -> Manifest:
    metadata = {"name": name, **({"namespace": space} if space else {})}
    return {
        "apiVersion": GROUP, "kind": kind, "metadata": metadata, "timestamp": "2027-01-15T08:00:00Z", "window": "30s",
    }  # fmt: skip


def _usage(use: tuple[int, int]) -> dict[str, str]:
    return {"cpu": f"{use[0]}m", "memory": str(use[1])}
