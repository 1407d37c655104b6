"""Alerts whose runbook makes a pod anew or gives a right back: what hangs is ended with its pod, and begins again.

kwok's kubelets run no containers: a process of ours is the container of the pod that a Deployment has, and shares its
fate. It is killed when the runbook has the pod replaced, and another one begins for the new pod.
"""

from __future__ import annotations

import fcntl
import signal

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, daemon
from tests.cluster.load.metrics_server import RESOURCE_METRICS_PATH, metrics_server
from tests.cluster.plane.kwok import USED_CPU, USED_MEMORY, resource_metrics_path
from tests.cluster.shapes import deployment, node, pod
from tests.cluster.telemetry.alerting import EVERY_TWO, Prometheus, policy, slow
from tests.cluster.telemetry.runbooks import DAEMON, Operator
from tests.cluster.tool import LEASES, Tool
from tests.paths import READING

OBSERVER = "rescheduler-observer"
MEASURED = "usage: {providers: [{name: MetricsServer}], interval: 5s, windows: [30s]}"
pytestmark = pytest.mark.timeout(400)


def only_pod(cluster: Cluster, namespace: str, labels: str) -> str:
    """The uid of the one pod that has these labels, once it runs."""
    (found,) = cluster.wait_pods_running(1, namespace, labels=labels)
    uid: str = found["metadata"]["uid"]
    return uid


@slow
@pytest.mark.parametrize("alert", ["ReschedulerLoopStuck", "ReschedulerRoundsStopped"])
def test_a_loop_that_hangs(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator, alert: str
) -> None:
    """Nobody reads its standard error, which is full at once; the Deployment's pod is made anew, and rounds go on."""
    cluster.add_nodes(1)
    operator.carry_out("ReschedulerAbsent")
    before = only_pod(cluster, LEASES, DAEMON)
    file = tool.policy(policy(prometheus, AT_ONCE, triggers=EVERY_TWO))
    with daemon(tool, "--policy", file) as process:
        process.wait_for("round ended", count=2)
        assert process.process.stderr is not None
        fcntl.fcntl(process.process.stderr, fcntl.F_SETPIPE_SZ, 4096)
        process.hears.clear()
        prometheus.wait_firing("ReschedulerLoopStuck", timeout_seconds=150)
        prometheus.wait_firing("ReschedulerRoundsStopped")
        operator.carry_out(alert)
        assert only_pod(cluster, LEASES, DAEMON) != before
        assert process.stop(signal.SIGKILL) == -signal.SIGKILL
    with daemon(tool, "--policy", file) as process:
        process.wait_for("round ended", count=2)
        prometheus.wait_over("ReschedulerLoopStuck", "ReschedulerRoundsStopped")
        assert process.stop() == 0


@slow
def test_a_right_that_was_taken_away(cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator) -> None:
    """It is missed once the watches begin anew, with the API server; what deploy/ binds is bound again."""
    cluster.add_nodes(1)
    cluster.control_plane.apply_files(READING)
    tool.kubeconfig = cluster.control_plane.service_account_kubeconfig(OBSERVER, LEASES)
    with daemon(tool, "--policy", tool.policy(policy(prometheus, AT_ONCE, mode="DryRun"))) as process:
        prometheus.wait_value("rescheduler_kinds_out_of_sync == 0")
        cluster.api.delete("clusterrolebindings", "rescheduler-observe")
        cluster.control_plane.restart("kube-apiserver")
        prometheus.wait_firing("ReschedulerWatchStale", timeout_seconds=120)
        assert "403" in process.wait_for("watch out of sync", kind="Pod")["message"]
        assert operator.carry_out("ReschedulerWatchStale").startswith("ok")
        prometheus.wait_over("ReschedulerWatchStale", timeout_seconds=150)
        assert process.stop() == 0


@slow
def test_metrics_are_gone(cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator) -> None:
    """metrics-server hangs; its Deployment's pod is made anew, and load is measured again."""
    cluster.create(node("hot-1", annotations={RESOURCE_METRICS_PATH: resource_metrics_path("hot-1")}))
    cluster.wait_nodes_ready()
    cluster.create(pod("busy", annotations={USED_CPU: "1", USED_MEMORY: "1Gi"}))
    cluster.create(deployment("metrics-server", namespace="kube-system"))
    before = only_pod(cluster, "kube-system", "app=metrics-server")
    file = tool.policy(policy(prometheus, AT_ONCE, MEASURED))
    with metrics_server(cluster.control_plane) as server, daemon(tool, "--policy", file) as process:
        prometheus.wait_value("rescheduler_usage_age_seconds < 30")
        server.pause()
        prometheus.wait_firing("ReschedulerUsageStale", timeout_seconds=120)
        assert "metrics.k8s.io" in operator.carry_out("ReschedulerUsageStale")
        assert only_pod(cluster, "kube-system", "app=metrics-server") != before
        server.stop(gracefully=False)
        server.start()
        prometheus.wait_over("ReschedulerUsageStale", timeout_seconds=150)
        assert process.stop() == 0
