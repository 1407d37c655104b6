"""A cluster with load, which the real metrics-server measures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.load.metrics_server import RESOURCE_METRICS_PATH, metrics_server
from tests.cluster.plane.kwok import USED_CPU, USED_MEMORY, resource_metrics_path
from tests.cluster.shapes import node, pod

USE = {"n1": ("1", "4Gi"), "n2": ("500m", "2Gi")}
"""What the one pod of each of these nodes of 4 cpus and 16Gi uses."""
SILENT = "n3"
"""A node that nobody measures."""


@pytest.fixture
def loaded(cluster: Cluster) -> Iterator[Cluster]:
    """Two busy nodes, one that serves no metrics, and metrics-server running."""
    for name in (*USE, SILENT):
        found = node(name, cpu="4", memory="16Gi")
        if name in USE:
            found["metadata"].setdefault("annotations", {})[RESOURCE_METRICS_PATH] = resource_metrics_path(name)
        cluster.create(found)
    cluster.wait_nodes_ready()
    for name, (cpu, memory) in USE.items():
        annotations = {USED_CPU: cpu, USED_MEMORY: memory}
        cluster.create(pod(f"busy-{name}", annotations=annotations, spec={"nodeName": name}))
    cluster.wait_pods_running(len(USE))
    with metrics_server(cluster.control_plane):
        yield cluster
