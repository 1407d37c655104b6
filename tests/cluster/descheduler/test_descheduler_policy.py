"""A DeschedulerPolicy foretold, and the real descheduler with the same file on the same cluster: the same victims."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.cluster.building.descheduler import descheduler_command, locate_descheduler
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, daemon
from tests.cluster.load.metrics_server import RESOURCE_METRICS_PATH, metrics_server
from tests.cluster.plane.kwok import USED_CPU, USED_MEMORY, resource_metrics_path
from tests.cluster.scenes import put
from tests.cluster.shapes import deployment, disruption_budget, node, pod, replica_set
from tests.cluster.tool import Tool

POLICY = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
maxNoOfPodsToEvictTotal: 6
profiles:
- name: first
  pluginConfig:
  - {name: DefaultEvictor, args: {nodeFit: true}}
  - {name: RemovePodsViolatingNodeTaints}
  - {name: LowNodeUtilization, args: {thresholds: {cpu: 40, memory: 40, pods: 40}, targetThresholds: {cpu: 60, memory: 60, pods: 60}}}
  plugins:
    deschedule: {enabled: [RemovePodsViolatingNodeTaints]}
    balance: {enabled: [LowNodeUtilization]}
"""  # noqa: E501 - as such files are written


@pytest.fixture(scope="session")
def descheduler() -> Path:
    """The real binary, built before any test's time runs."""
    return locate_descheduler()


def by_workload(pods: Iterable[str]) -> Counter[str]:
    """How many pods of each deployment."""
    return Counter(name.partition("-")[0] for name in pods)


def test_plan_names_the_victims_of_the_real_descheduler(
    cluster: Cluster, tool: Tool, tmp_path: Path, descheduler: Path
) -> None:
    """Moves and our own refusals together; what a budget refuses is refused to the real one as well."""
    cluster.add_nodes(4, cpu="4")
    put(cluster, "node-0", deployment("busy", replicas=3, cpu="1"), 3)
    put(cluster, "node-1", deployment("wrong", replicas=2, cpu="500m"), 2)
    put(cluster, "node-1", deployment("kept", replicas=2, cpu="500m"), 2)
    cluster.create(disruption_budget("kept", minAvailable=2))
    taint = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
    cluster.api.patch("nodes", "node-1", {"spec": {"taints": [taint]}})
    policy = tmp_path / "descheduler.yaml"
    policy.write_text(POLICY)
    plan = tool.run("plan", "--policy", str(policy), "-o", "json").document
    refused = [item["pod"]["name"] for item in plan["refusals"] if item.get("serverWouldRefuse")]
    victims = {item["pod"]["name"] for item in plan["moves"]}
    victims |= {item["pod"]["name"] for item in plan["refusals"] if not item.get("serverWouldRefuse")}
    assert by_workload(refused) == {"kept": 2}
    assert {item["landing"] for item in plan["moves"]} <= {"OtherNode", "SameNode"}
    before = {item["metadata"]["name"] for item in cluster.api.list("pods", "default")}
    audit = cluster.control_plane.audit
    mark = audit.mark()
    command = descheduler_command(descheduler, cluster.control_plane.kubeconfig, policy)
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    sent = [write for write in audit.writes_since(mark) if write.subresource == "eviction"]
    evicted = {write.name for write in sent if write.code < 300}
    # Which of equal pods goes is chance there, so pods of one workload count together.
    assert by_workload(evicted) == by_workload(victims)
    assert by_workload(victims) == {"busy": 1, "wrong": 2}
    assert {write.name for write in sent if write.code >= 300} == set(refused)
    assert evicted <= before


CARRIED_OUT = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
gracePeriodSeconds: 1
profiles:
- name: first
  pluginConfig:
  - {name: DefaultEvictor}
  - {name: RemovePodsViolatingNodeTaints}
  - {name: RemoveFailedPods, args: {minPodLifetimeSeconds: 0}}
  plugins:
    deschedule: {enabled: [RemoveFailedPods, RemovePodsViolatingNodeTaints]}
"""


def wrongly_placed(cluster: Cluster) -> None:
    """Pods on a node whose taint they do not tolerate, a pair that a budget keeps, and one that has failed.

    One other node, so that where the replacements land is no matter of chance between equal nodes.
    """
    cluster.add_nodes(2, cpu="4")
    put(cluster, "node-1", deployment("wrong", replicas=3, cpu="500m"), 3)
    put(cluster, "node-1", deployment("kept", replicas=2, cpu="500m"), 2)
    cluster.create(disruption_budget("kept", minAvailable=2))
    put(cluster, "node-1", replica_set("broken", replicas=1, cpu="100m"), 1)
    (broken,) = cluster.pods_by_node("default", labels="app=broken")["node-1"]
    cluster.api.patch("pods", broken, {"status": {"phase": "Failed"}}, "default", subresource="status")
    taint = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
    cluster.api.patch("nodes", "node-1", {"spec": {"taints": [taint]}})


def told_on_pods(cluster: Cluster) -> Counter[str]:
    """Reasons of the Events that stand on victims."""
    return Counter(
        item["reason"]
        for item in cluster.api.list("events", "default")
        if item.get("action") == "Descheduled" and item["involvedObject"]["kind"] == "Pod"
    )


def test_apply_evicts_its_victims_within_our_own_rules(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """In waves of one replica; with the file's grace period; an Event under the plugin's name on each.

    What a budget keeps is not even asked for; a second apply finds nothing left to do.
    """
    wrongly_placed(cluster)
    policy = tmp_path / "descheduler.yaml"
    policy.write_text(CARRIED_OUT)
    audit = cluster.control_plane.audit
    mark = audit.mark()
    result = tool.run("apply", "--yes", "--policy", str(policy), "-o", "json").document
    assert {(move["objective"], move["outcome"]) for move in result["moves"]} == {
        ("RemoveFailedPods", "Landed"),
        ("RemovePodsViolatingNodeTaints", "Landed"),
    }
    assert by_workload(move["pod"]["name"] for move in result["moves"]) == {"broken": 1, "wrong": 3}
    assert [move["wave"] for move in result["moves"] if move["landing"] == "OtherNode"] == [1, 2, 3]
    assert all(move["landedOn"] == "node-0" for move in result["moves"] if move["landing"] == "OtherNode")
    sent = [write for write in audit.writes_since(mark, user=tool.user) if write.subresource == "eviction"]
    assert by_workload(write.name for write in sent if not write.is_dry_run) == {"broken": 1, "wrong": 3}
    assert told_on_pods(cluster) == {"RemoveFailedPods": 1, "RemovePodsViolatingNodeTaints": 3}
    again = tool.run("apply", "--yes", "--policy", str(policy), "-o", "json", code=None).document
    assert again["moves"] == []


def test_apply_improve_reaches_the_same_end_by_our_own_plan(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """A plan is only shown first; then finished pods go, others come where they were sent, and nobody waits.

    Each step is told as an event, and a second call finds nothing left to do.
    """
    wrongly_placed(cluster)
    policy = tmp_path / "descheduler.yaml"
    policy.write_text(CARRIED_OUT)
    options = ("--improve", "--policy", str(policy))
    tool.writes()
    plan = tool.run("plan", *options, "-o", "json").document
    assert [(move["toNode"], move["landing"]) for move in plan["moves"] if "landing" in move] == [
        (None, "NoReplacement")
    ]
    assert tool.writes() == []
    told = tool.run("apply", "--yes", *options, "--events", "-o", "json")
    *events, result = (json.loads(line) for line in told.output.splitlines())
    assert by_workload(move["pod"]["name"] for move in result["moves"]) == {"broken": 1, "wrong": 3}
    assert {move["outcome"] for move in result["moves"]} == {"Landed"}
    assert {move["landedOn"] for move in result["moves"] if move["toNode"]} == {"node-0"}
    last = {event["pod"]["name"]: event["state"] for event in events}
    assert last == {move["pod"]["name"]: "settled" for move in result["moves"]}
    sent = [write for write in tool.writes() if write.subresource == "eviction" and not write.is_dry_run]
    assert by_workload(write.name for write in sent) == {"broken": 1, "wrong": 3}
    assert sent[0].name.startswith("broken")
    assert told_on_pods(cluster) == {"RemoveFailedPods": 1, "RemovePodsViolatingNodeTaints": 3}
    again = tool.run("apply", "--yes", *options, "-o", "json", code=None).document
    assert again["moves"] == []


def test_apply_tells_each_step_of_a_victim(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """``--events`` with a DeschedulerPolicy alone: nothing else on standard output but the result, last."""
    wrongly_placed(cluster)
    policy = tmp_path / "descheduler.yaml"
    policy.write_text(CARRIED_OUT)
    told = tool.run("apply", "--yes", "--policy", str(policy), "--events", "-o", "json")
    *events, result = (json.loads(line) for line in told.output.splitlines())
    last = {event["pod"]["name"]: event["state"] for event in events}
    assert last == {move["pod"]["name"]: "settled" for move in result["moves"]}
    assert (result["kind"], by_workload(last)) == ("PlanResult", {"broken": 1, "wrong": 3})


def test_run_shows_its_cycles_by_default_and_writes_nothing(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """The file alone is a dry run, whatever it would evict; one cycle with an interval of 0."""
    wrongly_placed(cluster)
    policy = tmp_path / "descheduler.yaml"
    policy.write_text(CARRIED_OUT)
    calm = tool.policy(AT_ONCE)
    tool.writes()
    with daemon(tool, "--policy", str(policy), "--policy", calm, "--descheduling-interval", "0") as process:
        ended = process.wait_for("round ended")
        assert process.process.wait(30) == 0, process.told()
    assert ended["planned"] == 3  # the careful defaults of run: two of a workload an hour
    assert tool.writes() == []


def test_run_executes_where_a_policy_beside_says_so(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Within the careful defaults of run that the policy beside leaves in force: two pods of a workload an hour."""
    wrongly_placed(cluster)
    policy = tmp_path / "descheduler.yaml"
    policy.write_text(CARRIED_OUT)
    careful = "disruption: {rampUp: unlimited, rates: {perWorkloadPerHour: 2}}"
    beside = tool.policy("\n".join(["mode: Execute", "telemetry: {address: '127.0.0.1:0'}", AT_ONCE, careful]))
    with daemon(tool, "--policy", str(policy), "--policy", beside, "--once") as process:
        ended = process.wait_for("round ended")
        assert process.process.wait(60) == 0, process.told()
    assert (ended["planned"], ended["outcomes"]) == (3, {"Landed": 3}), ended
    sent = [write for write in tool.writes() if write.subresource == "eviction" and not write.is_dry_run]
    assert by_workload(write.name for write in sent) == {"broken": 1, "wrong": 2}


BY_USE = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
metricsProviders: [{source: KubernetesMetrics}]
profiles:
- name: first
  pluginConfig:
  - name: LowNodeUtilization
    args: {thresholds: {cpu: 30}, targetThresholds: {cpu: 50}, metricsUtilization: {source: KubernetesMetrics}}
  plugins: {balance: {enabled: [LowNodeUtilization]}}
"""


@pytest.mark.timeout(600)
def test_run_goes_by_what_the_real_metrics_server_measures(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """A cycle without metrics says so and evicts nobody; once metrics-server has measured, pods leave the busy node.

    By requests nothing would be above its target.
    """
    for name in ("busy-node", "calm-node"):
        cluster.create(node(name, cpu="4", annotations={RESOURCE_METRICS_PATH: resource_metrics_path(name)}))
    cluster.wait_nodes_ready()
    uses = {USED_CPU: "800m", USED_MEMORY: "1Gi"}
    put(cluster, "busy-node", deployment("hot", replicas=4, cpu="100m", annotations=uses), 4)
    idle = {USED_CPU: "100m", USED_MEMORY: "1Gi"}  # metrics-server tells nothing of a node that uses no memory
    cluster.create(pod("idle", annotations=idle, spec={"nodeName": "calm-node"}))
    cluster.wait_pods_running(5)
    file = tmp_path / "descheduler.yaml"
    file.write_text(BY_USE)
    careful = "disruption: {workloads: {maxUnavailable: 2}, rampUp: unlimited, rates: {perWorkloadPerHour: unlimited}}"
    beside = tool.policy("\n".join(["mode: Execute", "telemetry: {address: '127.0.0.1:0'}", AT_ONCE, careful]))
    options = ("--policy", str(file), "--policy", beside, "--descheduling-interval", "5s")
    tool.writes()
    with daemon(tool, *options) as process:
        ended = process.wait_for("round ended")
        (objective,) = ended["objectives"]
        assert (ended["planned"], "metrics.k8s.io" in objective["message"]) == (0, True), ended
        with metrics_server(cluster.control_plane):
            process.wait_for("round ended", outcome="done", timeout_seconds=240)
        assert process.stop() == 0
    sent = [write for write in tool.writes() if write.subresource == "eviction" and not write.is_dry_run]
    assert by_workload(write.name for write in sent) == {"hot": 2}
    assert len(cluster.pods_by_node("default", labels="app=hot")["calm-node"]) == 2
