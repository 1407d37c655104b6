"""LowNodeUtilization by measured use, foretold and by the real descheduler, which reads the same real sources."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.api import ApiError
from tests.cluster.building.descheduler import as_in_a_pod, descheduler_command, locate_descheduler
from tests.cluster.cluster import Cluster
from tests.cluster.load.metrics_server import RESOURCE_METRICS_PATH, metrics_server
from tests.cluster.plane.kubeconfig import read_kubeconfig
from tests.cluster.plane.kwok import USED_CPU, USED_MEMORY, resource_metrics_path
from tests.cluster.scenes import put
from tests.cluster.shapes import node, replica_set
from tests.cluster.telemetry.alerting import Prometheus
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until
from tests.metrics.prometheus_server import prometheus_server

GIB = 2**30
NODES = ("busy-0", "busy-1", "calm-0", "calm-1")
SHARE = f"node_memory_working_set_bytes / {8 * GIB}"
"""Of the 8 Gi that each node has; the label instance is the node's name, as descheduler wants it."""


@pytest.fixture(scope="session")
def descheduler() -> Path:
    """The real binary, built before any test's time runs."""
    return locate_descheduler()


def crowd(cluster: Cluster) -> None:
    """Two nodes whose memory is in use for the most part and two where little is, by requests all alike.

    Nobody but descheduler and kwok works on the cluster afterwards, so that both read the same one.
    """
    for name in NODES:
        annotations = {RESOURCE_METRICS_PATH: resource_metrics_path(name)}
        cluster.create(node(name, cpu="4", memory="8Gi", annotations=annotations))
    cluster.wait_nodes_ready()
    for target, app, replicas, memory in (
        ("busy-0", "hot", 7, "1Gi"), ("busy-1", "warm", 3, "2Gi"), ("busy-1", "kept", 1, "1Gi"),
        ("calm-0", "idle", 1, "512Mi"), ("calm-1", "lazy", 1, "512Mi"),
    ):  # fmt: skip
        uses = {USED_CPU: "100m", USED_MEMORY: memory}
        spec = {"volumes": [{"name": "scratch", "emptyDir": {}}]} if app == "kept" else {}
        put(cluster, target, replica_set(app, replicas=replicas, cpu="100m", annotations=uses, spec=spec), replicas)
    for component in ("kube-scheduler", "kube-controller-manager"):
        cluster.control_plane.kill(component)


def used(cluster: Cluster) -> float:
    """Bytes that all pods which are there say that they use."""
    amounts = {"1Gi": 1.0, "2Gi": 2.0, "512Mi": 0.5}
    return sum(
        amounts[pod["metadata"]["annotations"][USED_MEMORY]] * GIB for pod in cluster.api.list("pods", "default")
    )


@contextmanager
def prometheus(cluster: Cluster, folder: Path) -> Iterator[Prometheus]:
    """A real one that scrapes every node's resource metrics each second."""
    scrapes = [
        {
            "job_name": name, "metrics_path": resource_metrics_path(name),
            "static_configs": [{"targets": [f"127.0.0.1:{cluster.control_plane.kubelet_port}"]}],
            "relabel_configs": [{"target_label": "instance", "replacement": name}],
        }
        for name in NODES
    ]  # fmt: skip
    settings = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": scrapes}
    with prometheus_server(folder, [], scrapes=yaml.safe_dump(settings)) as url:
        yield Prometheus(url, "")


def written(file: Path, provider: dict[str, Any], **arguments: Any) -> Path:
    """A DeschedulerPolicy of LowNodeUtilization alone."""
    config = [{"name": "DefaultEvictor", "args": {}}, {"name": "LowNodeUtilization", "args": arguments}]
    profile = {
        "name": "measured", "pluginConfig": config, "plugins": {"balance": {"enabled": ["LowNodeUtilization"]}},
    }  # fmt: skip
    head = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}
    file.write_text(yaml.safe_dump({**head, "metricsProviders": [provider], "profiles": [profile]}))
    return file


class Sides:
    """One policy after the other: whom ``plan`` foretells, and whom the real descheduler evicts right after."""

    def __init__(self, cluster: Cluster, tool: Tool, binary: Path) -> None:
        self._cluster, self._tool, self._binary = cluster, tool, binary
        self.message = ""

    def victims(self, policy: Path) -> tuple[Counter[str], Counter[str]]:
        """Foretold and evicted pods by workload, since which of equal ones goes is chance."""
        plan = self._tool.run("plan", "--policy", str(policy), "-o", "json").document
        (objective,) = plan["objectives"]
        self.message = objective.get("message", "")
        foretold = by_workload(item["pod"]["name"] for item in (*plan["moves"], *plan["refusals"]))
        return foretold, by_workload(self._evicted(policy))

    def _evicted(self, policy: Path) -> list[str]:
        plane = self._cluster.control_plane
        command = descheduler_command(self._binary, plane.kubeconfig, policy)
        authority = read_kubeconfig(plane.kubeconfig).authority
        mark = plane.audit.mark()
        subprocess.run(as_in_a_pod(command, authority, "any"), check=True, capture_output=True, timeout=120)
        sent = [write for write in plane.audit.writes_since(mark) if write.subresource == "eviction"]
        assert all(write.code < 300 for write in sent)
        return [write.name for write in sent]


def by_workload(names: Iterable[str]) -> Counter[str]:
    """How many pods of each ReplicaSet."""
    return Counter(name.partition("-")[0] for name in names)


@pytest.mark.campaign
def test_both_read_one_prometheus_and_choose_alike(
    cluster: Cluster, tool: Tool, tmp_path: Path, descheduler: Path
) -> None:
    """One pod of each busy node without a limit, as many as the limit with one, by distance from the mean too.

    Where the sample is no share, neither chooses anybody, and the plan says why. By requests no node would be above.
    """
    if shutil.which("unshare") is None:
        pytest.skip("no unshare on the path (Debian package util-linux)")
    crowd(cluster)
    sides = Sides(cluster, tool, descheduler)
    with prometheus(cluster, tmp_path / "prometheus") as server:

        def policy(query: str = SHARE, low: int = 30, high: int = 50, **more: Any) -> Path:
            wait_until(
                lambda: server.value("sum(node_memory_working_set_bytes)") == used(cluster),
                lambda: f"{used(cluster)}, scraped {server.value('sum(node_memory_working_set_bytes)')}",
            )
            provider = {"source": "Prometheus", "prometheus": {"url": server.url}}
            metrics = {"source": "Prometheus", "prometheus": {"query": query}}
            bounds = {"thresholds": {"MetricResource": low}, "targetThresholds": {"MetricResource": high}}
            return written(tmp_path / "policy.yaml", provider, metricsUtilization=metrics, **bounds, **more)

        for arguments, expected in (
            ({"high": 95}, {}),
            ({"query": "node_memory_working_set_bytes"}, {}),
            ({}, {"hot": 1, "warm": 1}),
            ({"evictionLimits": {"node": 2}}, {"hot": 2, "warm": 2}),
            ({"low": 10, "high": 10, "useDeviationThresholds": True}, {"hot": 1}),
        ):
            assert sides.victims(policy(**arguments)) == (expected, expected), (arguments, sides.message)
            assert ("wanted one from 0 to 1" in sides.message) is ("query" in arguments)


@pytest.mark.campaign
def test_both_read_one_metrics_server_and_choose_alike(
    cluster: Cluster, tool: Tool, tmp_path: Path, descheduler: Path
) -> None:
    """Here each pod's use is known: pods go until their node is at its target, without a limit."""
    crowd(cluster)
    provider, metrics = {"source": "KubernetesMetrics"}, {"source": "KubernetesMetrics"}
    bounds = {"thresholds": {"memory": 30}, "targetThresholds": {"memory": 50}}
    policy = written(tmp_path / "policy.yaml", provider, metricsUtilization=metrics, **bounds)
    sides = Sides(cluster, tool, descheduler)
    with metrics_server(cluster.control_plane):
        wait_until(lambda: len(measured(cluster)) == len(cluster.api.list("pods", "default")), "metrics of all pods")
        assert sides.victims(policy) == ({"hot": 3, "warm": 2}, {"hot": 3, "warm": 2}), sides.message


def measured(cluster: Cluster) -> list[Any]:
    """Pods of which metrics-server tells something."""
    try:
        found: list[Any] = cluster.api.request("GET", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods")["items"]
    except ApiError:  # it has not scraped yet
        return []
    return found
