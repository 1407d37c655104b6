"""Beside a real Karpenter: what a plan empties is sold, nothing is bought for it, and the money is right."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from rescheduler.model.objects.resources import offered_amount
from tests.cluster.api import Manifest
from tests.cluster.autoscaler.handing_over_scene import kept_empty
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, NO_RATES, daemon
from tests.cluster.karpenter.lab import USER, Karpenter, karpenter
from tests.cluster.shapes import deployment, pod
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

HOURS = 730
POLICY = """
objectives: [{name: EmptyNodes}]
limits: {maxEvictions: 100, deadline: 10s}
disruption: {workloads: {maxUnavailable: 50%}, singleReplicas: Allow}
"""
EXECUTE = f"""
mode: Execute
objectives: [{{name: EmptyNodes}}]
limits: {{maxEvictions: 100, deadline: 10s}}
disruption: {{workloads: {{maxUnavailable: 50%}}, singleReplicas: Allow, quiet: 1s, {NO_RATES}}}
{AT_ONCE}
"""


@pytest.fixture
def lab(cluster: Cluster) -> Iterator[Karpenter]:
    """Karpenter with a pool that sells nothing yet."""
    with karpenter(cluster.control_plane) as found:
        found.add_pool()
        yield found


def bought_and_scaled_down(cluster: Cluster) -> None:
    """Karpenter buys nodes for three workloads, which then need about half."""
    sizes = {"a": ("900m", "1Gi"), "b": ("600m", "2Gi"), "c": ("1500m", "1Gi")}
    for name, (cpu, memory) in sizes.items():
        cluster.create(deployment(name, replicas=6, cpu=cpu, memory=memory))
    cluster.wait_pods_running(18, timeout_seconds=120)
    for name in sizes:
        cluster.api.patch("deployments", name, {"spec": {"replicas": 3}}, "default")
    cluster.wait_pods_running(9)


@pytest.mark.timeout(900, func_only=True)
def test_a_plan_saves_the_money_it_says_and_nothing_is_bought_for_it(
    cluster: Cluster, lab: Karpenter, tool: Tool, tmp_path: Path
) -> None:
    """``cost.before`` and, once Karpenter is quiet, ``cost.after`` are what its metric says, to a cent.

    No machine is made while the plan is carried out, nor after it. A node whose NodeClaim nobody may take is no source.
    """
    bought_and_scaled_down(cluster)
    asked = ("--policy", tool.policy(POLICY), "--prices", str(lab.price_file(tmp_path)))
    plan = tool.run("plan", "-o", "json", *asked).document
    cost = plan["cost"]

    def metric() -> float:
        return round(lab.price_an_hour() * HOURS, 2)

    wait_until(
        lambda: metric() == cost["before"], lambda: f"{cost['before']} by the metric {metric()}", timeout_seconds=60
    )
    assert cost["complete"]
    assert cost["saving"] > 0
    (objective,) = plan["objectives"]
    assert objective["unit"] == "USD/month"

    emptied = {move["fromNode"] for move in plan["moves"]}
    kept = next(name for name, claim in lab.node_claims().items() if claim["status"]["nodeName"] in emptied)
    lab.forbid(kept, "true")
    barred = tool.run("plan", "-o", "json", *asked).document
    node = lab.node_claims()[kept]["status"]["nodeName"]
    assert node not in {move["fromNode"] for move in barred["moves"]}
    assert node in {one["node"] for one in barred["cost"]["kept"]}
    lab.forbid(kept, None)

    machines, mark = set(lab.node_claims()), cluster.control_plane.audit.mark()
    tool.run("apply", "--yes", "-o", "json", *asked, timeout=300)
    after = tool.run("plan", "-o", "json", *asked).document["cost"]
    lab.consolidate("5s")
    wait_until(
        lambda: metric() == after["after"],
        lambda: f"{after['after']} a month; the metric says {metric()}",
        timeout_seconds=180,
    )
    assert metric() <= cost["after"]
    assert made_since(cluster, mark) == []
    assert set(lab.node_claims()) < machines
    cluster.wait_pods_running(9)
    tool.assert_nothing_left()


def made_since(cluster: Cluster, mark: int) -> list[str]:
    """Machines that Karpenter has asked for, by the audit log."""
    writes = cluster.control_plane.audit.writes_since(mark, user=USER)
    return [write.name for write in writes if write.resource == "nodeclaims" and write.verb == "create"]


def evictions_of_a_round(cluster: Cluster, tool: Tool, policy: str) -> int:
    """How many evictions the audit log has of one round of ``run``."""
    mark = cluster.control_plane.audit.mark()
    with daemon(tool, "--once", "--policy", tool.policy(policy)) as process:
        process.wait_for("round ended", timeout_seconds=120)
        assert process.process.wait(30) == 0, process.told()
    writes = cluster.control_plane.audit.writes_since(mark)
    return sum(write.subresource == "eviction" and not write.is_dry_run for write in writes)


@pytest.mark.timeout(900, func_only=True)
def test_a_pool_that_karpenter_consolidates_is_left_to_it(cluster: Cluster, lab: Karpenter, tool: Tool) -> None:
    """``run`` moves nobody to empty its nodes and names the pool; ``plan`` warns; ``apply`` refuses taints that buy."""
    bought_and_scaled_down(cluster)
    asked = ("--policy", tool.policy(EXECUTE))
    lab.hand_over("WhenEmptyOrUnderutilized")
    plan = tool.run("plan", "-o", "json", *asked).document
    assert plan["moves"]
    assert any("out of EmptyNodes" in text and "NodePool default" in text for text in plan["warnings"])

    taints = ("--policy", tool.policy(f"guidance: Taint\n{POLICY}"))
    refused = tool.run("apply", "--yes", *taints, code=1)
    assert "autoscaler.taints: Allow" in refused.errors

    assert evictions_of_a_round(cluster, tool, EXECUTE) == 0
    assert evictions_of_a_round(cluster, tool, f"{EXECUTE}autoscaler: {{consolidation: Ours}}") > 0


@pytest.mark.timeout(900, func_only=True)
def test_emptied_nodes_are_kept_empty_until_karpenter_has_sold_them(
    cluster: Cluster, lab: Karpenter, tool: Tool
) -> None:
    """``scaleDown: Hold``: the placeholders are no pods to Karpenter, which sells the nodes and buys none for them."""
    bought_and_scaled_down(cluster)
    machines, mark = set(lab.node_claims()), cluster.control_plane.audit.mark()
    beside = "autoscaler: {scaleDown: Hold}\ntriggers: [{name: Schedule, args: {every: 5s}}]\n"
    with daemon(tool, "--policy", tool.policy(EXECUTE + beside)) as process:
        process.wait_for("nodes offered", timeout_seconds=120, how="Hold")
        held = kept_empty(cluster)
        assert held
        lab.consolidate("5s")
        nodes = {claim["status"]["nodeName"]: name for name, claim in lab.node_claims().items()}
        wait_until(
            lambda: not {nodes[node] for node in held} & set(lab.node_claims()),
            lambda: f"{held} sold; there are {sorted(lab.node_claims())}",
            timeout_seconds=120,
        )
        assert process.stop() == 0, process.told()
    assert made_since(cluster, mark) == []
    assert set(lab.node_claims()) < machines
    cluster.wait_pods_running(9)
    tool.assert_nothing_left()


LONGEST_WAIT, UNDISTURBED = 30.0, 300.0
"""Seconds: what a pod of a workload may wait for a node, and how long a node that was filled is left alone."""


@pytest.mark.campaign
@pytest.mark.timeout(1800, func_only=True)
def test_nobody_waits_long_and_what_was_filled_is_left_alone(cluster: Cluster, lab: Karpenter, tool: Tool) -> None:
    """No replacement waits longer than half a minute for a node, and no node that pods came to is disrupted after it.

    Karpenter sells what is empty for five seconds all the while, and is watched for five minutes.
    """
    bought_and_scaled_down(cluster)
    known = {one["metadata"]["uid"] for one in cluster.api.list("pods", "default")}
    lab.consolidate("5s")
    answer = tool.run("apply", "--yes", "-o", "json", "--policy", tool.policy(POLICY), timeout=300).document
    filled = {move["landedOn"] for move in answer["moves"] if move["landedOn"]}
    assert filled
    replacements = [one for one in cluster.wait_pods_running(9) if one["metadata"]["uid"] not in known]
    assert replacements
    assert max(map(wait_of, replacements)) <= LONGEST_WAIT

    ends_at = time.monotonic() + UNDISTURBED
    while time.monotonic() < ends_at:
        nodes = {one["metadata"]["name"]: one for one in cluster.api.list("nodes")}
        assert filled <= set(nodes)
        disturbed = [name for name in filled if is_disrupted(nodes[name])]
        assert disturbed == []
        time.sleep(2)
    cluster.wait_pods_running(9)


def wait_of(one: Manifest) -> float:
    """How long a pod waited for a node, by its own times."""
    (placed,) = (item for item in one["status"]["conditions"] if item["type"] == "PodScheduled")
    times = (placed["lastTransitionTime"], one["metadata"]["creationTimestamp"])
    until, since = (datetime.fromisoformat(text) for text in times)
    return (until - since).total_seconds()


def is_disrupted(node: Manifest) -> bool:
    """Whether Karpenter is about to take it."""
    taints = node["spec"].get("taints") or []
    return "deletionTimestamp" in node["metadata"] or any(one["key"] == "karpenter.sh/disrupted" for one in taints)


TYPES = ("-2x-amd64-linux", "-4x-amd64-linux")
"""What the pool may buy, as names of types end."""
KEYS = {
    "instanceType": "node.kubernetes.io/instance-type",
    "capacityType": "karpenter.sh/capacity-type",
    "zone": "topology.kubernetes.io/zone",
    "nodePool": "karpenter.sh/nodepool",
}


@contextmanager
def cordoned(cluster: Cluster) -> Iterator[None]:
    """No new pod comes to nodes that are there: one may be empty by now, and of the wanted type."""
    names = [node["metadata"]["name"] for node in cluster.api.list("nodes")]
    for name in names:
        cluster.api.patch("nodes", name, {"spec": {"unschedulable": True}})
    taint = "node.kubernetes.io/unschedulable"  # by which Karpenter sees it
    wait_until(
        lambda: all(
            taint in [one["key"] for one in cluster.api.get("nodes", name)["spec"].get("taints", ())] for name in names
        ),
        "the taint of cordoned nodes",
    )
    yield
    for name in names:
        cluster.api.patch("nodes", name, {"spec": {"unschedulable": None}})


@pytest.mark.timeout(900, func_only=True)
def test_cheaper_machines_are_real_and_replace_the_pool_for_the_money_that_was_said(
    cluster: Cluster, lab: Karpenter, tool: Tool, tmp_path: Path
) -> None:
    """``--replace-pool`` buys nothing; bought by hand the machines have the size that was said, and take all pods.

    Once Karpenter has sold what is then empty its metric says what the plan said, to a cent.
    """
    bought_and_scaled_down(cluster)
    mark, old = cluster.control_plane.audit.mark(), set(lab.node_claims())
    policy = tool.policy(POLICY)
    asked = ("--policy", policy, "--prices", str(lab.price_file(tmp_path, *TYPES)), "-o", "json")
    answer = tool.run("plan", "--replace-pool", "default", *asked)
    plan = answer.document
    figures, machines = plan["whatIf"]["replacement"], plan["whatIf"]["addedNodes"]
    assert figures["leastCost"] <= figures["newCost"] < figures["oldCost"]
    assert round(lab.price_an_hour() * HOURS, 2) == plan["cost"]["before"]

    file = tmp_path / "plan.json"
    file.write_text(answer.output)
    refused = tool.run("apply", "--yes", "--plan", str(file), "--policy", policy, code=1)
    assert "--buy has it made first" in " ".join(refused.errors.split())
    writes = cluster.control_plane.audit.writes_since(mark)
    assert not [write for write in writes if write.subresource == "eviction"]
    assert set(lab.node_claims()) == old

    with cordoned(cluster):
        for number, machine in enumerate(machines):
            selector = {label: machine[key] for key, label in KEYS.items()}
            cluster.create(pod(f"buyer-{number}", cpu=machine["allocatable"]["cpu"], spec={"nodeSelector": selector}))
        cluster.wait_pods_running(9 + len(machines), timeout_seconds=120)
    for number, machine in enumerate(machines):
        bought = cluster.api.get("nodes", cluster.api.get("pods", f"buyer-{number}", "default")["spec"]["nodeName"])
        for resource in ("cpu", "memory", "pods"):
            size, said = (
                offered_amount(resource, one[resource])
                for one in (bought["status"]["allocatable"], machine["allocatable"])
            )
            assert size == pytest.approx(said, rel=0.01), resource  # amounts of a plan are rounded for people
        cluster.api.delete("pods", f"buyer-{number}", "default")
    cluster.wait_pods_running(9)

    removed = [part for name in plan["whatIf"]["removedNodes"] for part in ("--remove-node", name)]
    file.write_text(tool.run("plan", *removed, *asked).output)
    tool.run("apply", "--yes", "--plan", str(file), "--policy", policy, timeout=300)
    lab.consolidate("5s")
    going = set(plan["whatIf"]["removedNodes"])
    wait_until(
        lambda: not going & {node["metadata"]["name"] for node in cluster.api.list("nodes")},
        lambda: f"{going} sold; left {set(lab.node_claims())}",
        timeout_seconds=180,
    )
    wait_until(
        lambda: round(lab.price_an_hour() * HOURS, 2) == plan["cost"]["after"],
        lambda: f"{plan['cost']} a month; the metric says {lab.price_an_hour() * HOURS}",
        timeout_seconds=60,
    )
    cluster.wait_pods_running(9)
