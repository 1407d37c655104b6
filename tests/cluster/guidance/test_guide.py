"""Guided moves on a real control plane: pods on full nodes change places, and nobody else gets in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.guidance.guided_scenes import (
    GATE,
    POLICY,
    RULE,
    exchange,
    full_pair,
    gate_by_hand,
    gated,
    install,
    left_over,
    move,
    nodes_of,
    plan_of,
    pods_of,
    uninstall,
    wait_gated,
    why_unguided,
)
from tests.cluster.plane.audit import OUR_ACCOUNT
from tests.cluster.plane.kwok import GONE_AFTER
from tests.cluster.scenes import put
from tests.cluster.shapes import deployment, disruption_budget, priority_class, replica_set, stateful_set
from tests.cluster.tool import Tool
from tests.paths import ACTING, DEPLOY


def apply(tool: Tool, folder: Path, plan: str, *, policy: str = POLICY, code: int | None = 0) -> dict[str, Any]:
    """Carry a plan out and return the answer's document."""
    file = folder / "plan.json"
    file.write_text(plan)
    arguments = ["apply", "--yes", "--plan", str(file), "--policy", tool.policy(policy), "-o", "json"]
    return tool.run(*arguments, code=code).document


def outcomes(result: dict[str, Any]) -> list[str]:
    """Of the moves, in order."""
    return [item["outcome"] for item in result["moves"]]


def test_two_full_nodes_exchange_their_pods(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Against older pods of equal priority that wait for either place; nothing of ours stays, no pod is pinned."""
    install(cluster)
    full_pair(cluster)
    result = apply(tool, tmp_path, exchange(cluster))
    assert outcomes(result) == ["Landed", "Landed"]
    assert result["warnings"] == []
    assert nodes_of(cluster, "x", "y") == ["b-0", "a-0"]
    assert nodes_of(cluster, "rival-0", "rival-1") == ["", ""]
    assert left_over(cluster) == []
    for pod in [*pods_of(cluster, "x"), *pods_of(cluster, "y")]:
        assert "affinity" not in pod["spec"]
        assert "nodeSelector" not in pod["spec"]


def test_the_roles_that_we_ship_are_enough(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Those of observe, execute, hold and guide: no warning, and nothing was forbidden."""
    install(cluster)
    cluster.control_plane.apply_files(*ACTING, DEPLOY / "guide-binding.yaml", DEPLOY / "guards.yaml")
    full_pair(cluster)
    plan = exchange(cluster)
    tool.kubeconfig = cluster.control_plane.service_account_kubeconfig("rescheduler", "rescheduler-system")
    tool.user = OUR_ACCOUNT
    result = apply(tool, tmp_path, plan)
    assert outcomes(result) == ["Landed", "Landed"]
    assert result["warnings"] == []
    assert [item for item in tool.writes() if item.code == 403] == []
    assert left_over(cluster) == []


def test_only_pods_of_the_plan_are_gated(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """What was written beside evictions, placeholders and nominations: the rule, and one patch for each moved pod."""
    install(cluster)
    full_pair(cluster, rivals=0)
    tool.writes()
    apply(tool, tmp_path, exchange(cluster))
    found = [item for item in tool.writes() if not item.is_dry_run and item.code < 300]
    patches = [item for item in found if (item.verb, item.resource, item.subresource) == ("patch", "pods", "")]
    assert len(patches) == 2
    assert {item.namespace for item in patches} == {"default"}
    assert {item.name for item in found if item.resource == "configmaps"} >= {RULE}
    assert not [item for item in found if item.resource.startswith("mutating")]


def test_pods_of_stateful_sets_exchange_places(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Their replacements come only when the old pods are gone, under the same names."""
    install(cluster)
    for name in ("a", "b"):
        cluster.add_nodes(1, prefix=name, cpu="4")
    put(cluster, "a-0", stateful_set("x", cpu="4", annotations={GONE_AFTER: "2s"}))
    put(cluster, "b-0", stateful_set("y", cpu="4"))
    cluster.create(deployment("rival", cpu="4"))
    result = apply(tool, tmp_path, exchange(cluster))
    assert outcomes(result) == ["Landed", "Landed"]
    assert nodes_of(cluster, "x", "y", "rival") == ["b-0", "a-0", ""]
    assert left_over(cluster) == []


def test_a_guided_pod_goes_where_the_scheduler_would_not_put_it(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """The fuller of two nodes, which is the less liked one; no other node is shut for that."""
    install(cluster)
    for name in ("a", "b", "c"):
        cluster.add_nodes(1, prefix=name, cpu="4")
    put(cluster, "b-0", replica_set("ballast", cpu="3"))
    put(cluster, "a-0", replica_set("x", cpu="1"))
    tool.writes()
    result = apply(tool, tmp_path, plan_of(cluster, move(pods_of(cluster, "x")[0], "b-0")))
    assert outcomes(result) == ["Landed"]
    assert nodes_of(cluster, "x") == ["b-0"]
    jobs = [item.name for item in tool.writes() if (item.verb, item.resource) == ("create", "jobs")]
    assert len(jobs) <= 2, "the rule's Job and one that closes the origin"
    assert left_over(cluster) == []


def test_an_exchange_that_a_budget_forbids_moves_nobody(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Not even the pod that would have been allowed to go."""
    install(cluster)
    full_pair(cluster, rivals=0)
    plan = exchange(cluster)
    before = [pod["metadata"]["uid"] for app in ("x", "y") for pod in pods_of(cluster, app)]
    cluster.create(disruption_budget("y", minAvailable=1))
    result = apply(tool, tmp_path, plan, code=1)
    assert "NotAttempted" in outcomes(result)
    assert [pod["metadata"]["uid"] for app in ("x", "y") for pod in pods_of(cluster, app)] == before
    assert left_over(cluster) == []


@pytest.mark.parametrize("guidance", ["Hold", "Predict"])
def test_an_exchange_needs_the_mode(cluster: Cluster, tool: Tool, tmp_path: Path, guidance: str) -> None:
    """Refused before anything is written, with the reason."""
    full_pair(cluster, rivals=0)
    file = tmp_path / "plan.json"
    file.write_text(exchange(cluster))
    policy = tool.policy(POLICY.replace("Guide", guidance))
    tool.writes()
    answer = tool.run("apply", "--yes", "--plan", str(file), "--policy", policy, code=2)
    assert f"guidance: {guidance}" in answer.errors
    assert tool.writes() == []


def test_without_the_rule_installed_it_falls_back_and_says_so(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """A guided move is made as with Hold; an exchange is refused before the first eviction."""
    uninstall(cluster)
    cluster.add_nodes(1, prefix="c", cpu="4")
    full_pair(cluster, rivals=0)
    tool.writes()
    result = apply(tool, tmp_path, exchange(cluster), code=1)
    assert why_unguided(cluster) in result["message"]
    assert tool.evictions() == []
    result = apply(tool, tmp_path, plan_of(cluster, move(pods_of(cluster, "x")[0], "c-0")))
    assert outcomes(result) == ["Landed"]
    assert any("guidance: Hold" in warning for warning in result["warnings"])
    assert left_over(cluster) == []


def test_a_stronger_pod_takes_the_room_and_nobody_is_left_at_the_gate(
    cluster: Cluster, tool: Tool, tmp_path: Path
) -> None:
    """A hold keeps out equals only; whoever lost his place waits for a node like any other pod."""
    install(cluster)
    full_pair(cluster, rivals=0, annotations={GONE_AFTER: "3s"})
    plan = exchange(cluster)
    cluster.create(priority_class("strong", 1000, preemptionPolicy="Never"))
    cluster.create(deployment("bully", cpu="4", spec={"priorityClassName": "strong"}))
    result = apply(tool, tmp_path, plan, code=None)
    assert "Landed" in outcomes(result) or "Unknown" in outcomes(result)
    assert gated(cluster) == []
    assert left_over(cluster) == []


def test_the_next_run_lets_go_of_pods_that_nobody_looks_after(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Their plan has no Job any more, so it does not run; the answer tells."""
    install(cluster)
    for name in ("a", "b"):
        cluster.add_nodes(1, prefix=name, cpu="4")
    put(cluster, "a-0", replica_set("x", cpu="1"))
    cluster.create(gate_by_hand(replica_set("lost", cpu="1"), plan="gone"))
    wait_gated(cluster, 1)
    plan = plan_of(cluster, move(pods_of(cluster, "x")[0], "b-0"))
    result = apply(tool, tmp_path, plan, policy=POLICY.replace("Guide", "Hold"))
    assert any("left at the gate" in warning for warning in result["warnings"])
    cluster.wait_pods_running(1, labels="app=lost")
    assert left_over(cluster) == []


def test_clean_lets_pods_go_and_removes_the_rule(cluster: Cluster, tool: Tool) -> None:
    """Each is named; gates of others and other ConfigMaps stay."""
    install(cluster)
    cluster.add_nodes(1, cpu="4")
    foreign = replica_set("foreign", spec={"schedulingGates": [{"name": "example.com/other"}]})
    cluster.create(gate_by_hand(replica_set("lost"), plan="gone"), foreign)
    wait_gated(cluster, 1)
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rescheduler-holds"}})
    for name in (RULE, "other"):
        metadata = {"name": name, "namespace": "rescheduler-holds"}
        cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"owners": "nobody"}})
    answer = tool.run("clean", "--yes")
    assert f"Gate {GATE} on pod default/lost-" in answer.output
    assert f"ConfigMap rescheduler-holds/{RULE}" in answer.output
    cluster.wait_pods_running(1, labels="app=lost")
    assert left_over(cluster) == []
    assert "other" in [item["metadata"]["name"] for item in cluster.api.list("configmaps", "rescheduler-holds")]
    (pod,) = pods_of(cluster, "foreign")
    assert pod["spec"]["schedulingGates"] == [{"name": "example.com/other"}]
