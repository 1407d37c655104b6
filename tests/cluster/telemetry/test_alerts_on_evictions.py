"""Alerts on what became of evictions: they fail or are somebody else's, and what the runbook says mends it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import yaml

from tests.cluster.api import Api, ApiError, Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, SHORT_BACK_OFF, daemon
from tests.cluster.plane.kwok import CANNOT_PULL
from tests.cluster.scenes import add_pending
from tests.cluster.shapes import deployment
from tests.cluster.telemetry.alerting import EVERY_TWO, PENDING, Prometheus, policy, slow
from tests.cluster.telemetry.runbooks import Operator
from tests.cluster.tool import LEASES, Tool
from tests.cluster.waiting import wait_until
from tests.paths import ACTING

NODES, WORKLOADS = 6, 6
"""Each node of 4 CPU has three pods of 1 CPU: one that leaves makes room for a pod of 2."""
MOVING = f"disruption: {{{SHORT_BACK_OFF}, workloads: {{maxUnavailable: 50%}}, breaker: {{rest: 10s}}}}"
pytestmark = pytest.mark.timeout(600)


def workloads(*, cannot_pull: bool) -> list[Manifest]:
    """Several, so that another one is there when one has a pod that does not work."""
    broken = {CANNOT_PULL: json.dumps(cannot_pull)}
    return [deployment(f"web-{number}", 3, cpu="1", annotations=broken) for number in range(WORKLOADS)]


def brittle(cluster: Cluster) -> list[str]:
    """Pods that run, and of which none can be replaced: their image is gone; names of nodes with three of them."""
    cluster.add_nodes(NODES, cpu="4")
    cluster.create(*workloads(cannot_pull=True))
    count = 3 * WORKLOADS
    wait_until(lambda: len(cluster.api.list("pods", "default")) == count, f"{count} pods")
    pulled = {"metadata": {"annotations": {CANNOT_PULL: None}}}
    for item in cluster.api.list("pods", "default"):
        cluster.api.patch("pods", item["metadata"]["name"], pulled, "default")
    cluster.wait_pods_running(count)
    return [name for name, pods in cluster.pods_by_node("default").items() if len(pods) == 3]


def ask_for_room(cluster: Cluster, node: str) -> None:
    """A pod that only fits on this node, once one of its pods has left."""
    place = {"nodeSelector": {"kubernetes.io/hostname": node}}
    add_pending(cluster, deployment(f"big-on-{node}", cpu="2", spec=place))


def mend(operator: Operator, alert: str) -> None:
    """Carry a runbook out with workloads whose image is there."""
    operator.write("workload.yaml", yaml.safe_dump_all(workloads(cannot_pull=False)))
    assert "ImagePullBackOff" in operator.carry_out(alert)


def moving(tool: Tool, prometheus: Prometheus) -> str:
    """A policy file; without a schedule the pods that wait would be asked about once a minute, in vain as they were."""
    return tool.policy(policy(prometheus, AT_ONCE, MOVING, triggers=f"{PENDING}, {EVERY_TWO}"))


def opened(prometheus: Prometheus, cluster: Cluster, nodes: list[str]) -> None:
    """Two evictions have come to nothing, and the breaker is open."""
    prometheus.wait_value("rescheduler_breaker_open == 0")
    for node in nodes[:2]:
        ask_for_room(cluster, node)
    prometheus.wait_firing("ReschedulerEvictionsFailing", timeout_seconds=150)
    prometheus.wait_firing("ReschedulerBreakerOpen", timeout_seconds=150)


@slow
@pytest.mark.parametrize("alert", ["ReschedulerEvictionsFailing", "ReschedulerBreakerOpen"])
def test_evictions_that_fail_until_their_workloads_are_mended(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator, alert: str
) -> None:
    """Two replacements cannot run; what is tried after the breaker's rest works, and it closes by itself."""
    nodes = brittle(cluster)
    with daemon(tool, "--policy", moving(tool, prometheus)) as process:
        process.wait_for("leading", is_leader=True)
        opened(prometheus, cluster, nodes)
        mend(operator, alert)
        cluster.wait_pods_running(3 * WORKLOADS + 2)
        ask_for_room(cluster, full_node(cluster))
        prometheus.wait_over("ReschedulerBreakerOpen", "ReschedulerEvictionsFailing", timeout_seconds=150)
        assert process.stop() == 0


def full_node(cluster: Cluster) -> str:
    """A node on which one pod has to leave before one of 2 CPU fits."""
    on_nodes = cluster.pods_by_node("default").items()
    return next(name for name, pods in on_nodes if len(pods) == 3 and all(pod.startswith("web") for pod in pods))


@slow
def test_a_trial_that_fails_too(cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator) -> None:
    """What is tried after the breaker's rest cannot run either; the workloads are mended, and the breaker is closed."""
    nodes = brittle(cluster)
    with daemon(tool, "--policy", moving(tool, prometheus)) as process:
        process.wait_for("leading", is_leader=True)
        opened(prometheus, cluster, nodes)
        ask_for_room(cluster, nodes[2])
        fired = prometheus.wait_firing("ReschedulerBreakerNeedsOperator", timeout_seconds=150)
        assert fired["labels"]["severity"] == "critical"
        mend(operator, "ReschedulerBreakerNeedsOperator")
        prometheus.wait_over("ReschedulerBreakerNeedsOperator", "ReschedulerBreakerOpen")
        assert process.stop() == 0


BY_TAINTS = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: first
  pluginConfig: [{name: RemovePodsViolatingNodeTaints}]
  plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}
"""
TAINT = {"key": "old", "effect": "NoSchedule"}
SENT = 'rescheduler_evictions_total{outcome="sent"}'
WITHOUT_LIMITS = """
disruption: {rates: {perHour: unlimited, perDay: unlimited, perWorkloadPerHour: 1}, rampUp: unlimited}
limits: {maxEvictions: 1000, inFlight: 1000}
"""
MANY = 220


@slow
@pytest.mark.timeout(900)
def test_a_policy_that_evicts_much(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator, tmp_path: Path
) -> None:
    """Somebody taints all nodes but new ones; the kill switch stops what follows in the middle of the plan."""
    cluster.control_plane.apply_files(*ACTING)
    old = cluster.add_nodes(5, cpu="8")
    cluster.create(*(deployment(f"web-{number}", 2, cpu="10m") for number in range(MANY)))
    cluster.wait_pods_running(2 * MANY, timeout_seconds=120)
    cluster.add_nodes(5, prefix="new", cpu="8")
    for name in old:
        cluster.api.patch("nodes", name, {"spec": {"taints": [TAINT]}})
    by_taints = tmp_path / "descheduler.yaml"
    by_taints.write_text(BY_TAINTS)
    beside = tool.policy(policy(prometheus, AT_ONCE, WITHOUT_LIMITS, triggers="{name: OnDemand}"))
    interval = ("--descheduling-interval", "5s")
    with daemon(tool, "--policy", str(by_taints), "--policy", beside, *interval) as process:
        fired = prometheus.wait_firing("ReschedulerEvictsMuch", timeout_seconds=420)
        assert fired["labels"]["severity"] == "warning"
        operator.carry_out("ReschedulerEvictsMuch")
        ended = process.wait_for("round ended", outcome="stopped")
        assert "evicts much" in ended["reason"]
        assert ended["outcomes"]["NotAttempted"] > 0
        sent = prometheus.value(SENT)
        prometheus.wait_over("ReschedulerEvictsMuch", timeout_seconds=400)
        assert prometheus.value(SENT) == sent == len(process.events("eviction sent"))
        assert process.stop() == 0


def evict(api: Api, names: list[str]) -> None:
    """One after another over a quarter of a minute, as whoever has an account that may evict."""
    for name in names:
        metadata = {"name": name, "namespace": "default"}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        api.request("POST", f"/api/v1/namespaces/default/pods/{name}/eviction", eviction)
        time.sleep(0.25)


@slow
def test_evictions_that_nobody_accounts_for(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator
) -> None:
    """Somebody evicts sixty pods by the rescheduler's account, until it is bound to that role no more."""
    cluster.control_plane.apply_files(*ACTING)
    thief = Api.from_kubeconfig(cluster.control_plane.service_account_kubeconfig("rescheduler", LEASES))
    cluster.add_nodes(2)
    cluster.create(deployment("web", 60))
    names = [item["metadata"]["name"] for item in cluster.wait_pods_running(60)]
    with daemon(tool, "--policy", tool.policy(policy(prometheus, AT_ONCE))) as process:
        process.wait_for("leading")
        prometheus.wait_value('apiserver_request_total{resource="pods"} > 0')
        evict(thief, names)
        fired = prometheus.wait_firing("ReschedulerEvictionsUnaccounted", timeout_seconds=30)
        assert fired["labels"]["severity"] == "critical"
        operator.carry_out("ReschedulerEvictionsUnaccounted")
        with pytest.raises(ApiError) as refused:
            evict(thief, [cluster.api.list("pods", "default")[0]["metadata"]["name"]])
        assert refused.value.code == 403
        prometheus.wait_over("ReschedulerEvictionsUnaccounted")
        assert process.stop() == 0
