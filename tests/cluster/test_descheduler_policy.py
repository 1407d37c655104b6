"""A DeschedulerPolicy foretold, and the real descheduler with the same file on the same cluster: the same victims."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.descheduler import descheduler_command, locate_descheduler
from tests.cluster.scenes import put
from tests.cluster.shapes import deployment, disruption_budget
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
