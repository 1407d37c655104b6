"""``rescheduler run`` with measured load: a node that runs hot asks for a round, and its load is spread."""

from __future__ import annotations

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.daemon.test_run import QUICK
from tests.cluster.daemon_process import AT_ONCE, STRAYS, daemon
from tests.cluster.load.metrics_server import RESOURCE_METRICS_PATH, metrics_server
from tests.cluster.plane.kwok import USED_CPU, USED_MEMORY, resource_metrics_path
from tests.cluster.shapes import deployment, node, pod
from tests.cluster.tool import Tool

POLICY = """\
mode: Execute
triggers: [{name: HotNode, args: {above: {cpu: 70%}, for: 1s}}]
objectives: [{name: SpreadLoad, args: {target: {cpu: 65%}}}]
usage:
  providers: [{name: MetricsServer}]
  interval: 5s
  windows: [30s]
  trust: {minimumSamples: 2, minimumNodeAge: 1s, frozenSamples: 1000, largestDrop: 1}
"""


@pytest.mark.timeout(600)
def test_a_hot_node_is_relieved(cluster: Cluster, tool: Tool) -> None:
    """By metrics-server's figures: the trigger names the node, and one of its pods runs elsewhere afterwards."""
    for name in ("hot-1", "cool-1", "cool-2"):
        cluster.create(node(name, cpu="4", annotations={RESOURCE_METRICS_PATH: resource_metrics_path(name)}))
    cluster.wait_nodes_ready()
    for name in ("cool-1", "cool-2"):
        cluster.api.patch("nodes", name, {"spec": {"unschedulable": True}})
    cluster.create(deployment("busy", 4, cpu="200m", annotations={USED_CPU: "800m", USED_MEMORY: "1Gi"}))
    cluster.wait_pods_running(4)
    assert set(cluster.pods_by_node("default")) == {"hot-1"}
    for name in ("cool-1", "cool-2"):
        cluster.api.patch("nodes", name, {"spec": {"unschedulable": False}})
    policy = tool.policy("\n".join([POLICY, QUICK, AT_ONCE, STRAYS]))
    for name in ("cool-1", "cool-2"):  # metrics-server tells nothing of a node that uses no memory
        idle = {USED_CPU: "100m", USED_MEMORY: "1Gi"}
        cluster.create(pod(f"idle-{name}", annotations=idle, spec={"nodeName": name}))
    cluster.wait_pods_running(6)
    with metrics_server(cluster.control_plane), daemon(tool, "--policy", policy) as process:
        fired = process.wait_for("trigger fired", trigger="HotNode", timeout_seconds=240)
        assert fired["nodes"] == ["hot-1"]
        process.wait_for("eviction sent")
        assert process.wait_for("round ended", outcome="done")["triggers"] == ["HotNode"]
        assert process.stop() == 0
    assert set(cluster.pods_by_node("default", labels="app=busy")) > {"hot-1"}
