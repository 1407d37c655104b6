"""``doctor`` on a real control plane: what it finds, and that it writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cluster.building.modules import kubernetes
from tests.cluster.cluster import Cluster
from tests.cluster.rights.test_rights import tool_of
from tests.cluster.shapes import deployment, disruption_budget
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until
from tests.paths import READING


def by_rule(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Findings of each rule."""
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in document["findings"]:
        found.setdefault(finding["rule"], []).append(finding)
    return found


def untried(cluster: Cluster) -> set[str]:
    """What is to know of a server of another minor version than the one that all tests run on."""
    asked, committed = (version.split(".")[1] for version in (cluster.control_plane.version, kubernetes().version))
    return set() if asked == committed else {"ServerVersion"}


def test_a_healthy_cluster_has_nothing_that_blocks(cluster: Cluster, tool: Tool) -> None:
    """An administrator's look: no metrics are served, which is a note; nothing is written."""
    cluster.add_nodes(2, cpu="4")
    cluster.create(deployment("web", replicas=4, cpu="1"))
    cluster.wait_pods_running(4)
    tool.writes()
    answer = tool.run("doctor", "-o", "json")
    assert answer.document["kind"] == "Diagnosis"
    assert not any(finding["blocks"] for finding in answer.document["findings"])
    found = by_rule(answer.document)
    assert set(found) == {"MetricsSource", *untried(cluster)}
    checked = tool.run("check", tool.policy(""), "--kubeconfig", str(tool.kubeconfig)).output
    assert f"On that cluster:\nNothing keeps it from working; {len(found)} other" in checked
    assert "MetricsSource usage.providers: " in checked  # not served, or, after another test's server, not answered
    assert tool.run("doctor").output.startswith(f"Nothing keeps it from working; {len(found)} other")
    questions = {request.verb for request in tool.writes() if "reviews" not in request.resource}
    assert questions == set()


def test_what_stands_in_the_way_is_named(cluster: Cluster, tool: Tool) -> None:
    """A scheduler that is not modelled, a budget that never allows anything, single replicas, a descheduler."""
    cluster.add_nodes(2, cpu="8")
    cluster.create(
        deployment("web", replicas=2, cpu="1"),
        deployment("single", cpu="1"),
        deployment("descheduler", replicas=2, cpu="1"),
        disruption_budget("web", app="web", maxUnavailable=0),
    )
    cluster.wait_pods_running(5)
    cluster.create(deployment("odd", cpu="1", spec={"schedulerName": "volcano"}))
    wait_until(
        lambda: cluster.api.get("poddisruptionbudgets", "web", "default").get("status", {}).get("expectedPods") == 2,
        "the budget's status",
    )
    wait_until(lambda: cluster.api.list("pods", "default", labels="app=odd"), "the pod of another scheduler")
    found = by_rule(tool.run("doctor", "-o", "json").document)
    assert [item["object"] for item in found["UnknownScheduler"]] == ["volcano"]
    assert [item["object"] for item in found["PodDisruptionBudget"]] == ["default/web"]
    assert found["SingleReplica"][0]["object"].startswith("default/single-")
    assert found["OtherEvictor"][0]["object"].startswith("default/descheduler-")
    assert all(item["fix"] for items in found.values() for item in items)


def test_an_account_without_rights_is_told_which(cluster: Cluster, tmp_path: Path) -> None:
    """The looking account of deploy/reading.yaml may look; it lacks what blocks only who would act."""
    cluster.control_plane.apply_files(READING)
    cluster.add_nodes(1, cpu="4")
    tool = tool_of(cluster, "rescheduler-observer", tmp_path)
    lacking = by_rule(tool.run("doctor", "-o", "json").document)["Rights"]
    assert {item["object"] for item in lacking} >= {"evict pods", "keep room", "write down what is evicted"}
    assert not any(item["blocks"] for item in lacking)
    blocked = tool.run("doctor", "-o", "json", "--policy", tool.policy("mode: Execute"), code=1)
    assert {item["object"] for item in by_rule(blocked.document)["Rights"] if item["blocks"]} >= {"evict pods"}


def test_an_account_that_may_not_look_is_blocked(cluster: Cluster, tmp_path: Path) -> None:
    """Every finding says so, and the cluster that cannot be read is one of them."""
    cluster.control_plane.apply_files(READING)
    tool = tool_of(cluster, "default", tmp_path)
    found = by_rule(tool.run("doctor", "-o", "json", code=1).document)
    assert found["Reading"][0]["blocks"]
    assert any(item["object"] == "see the cluster" and item["blocks"] for item in found["Rights"])
