"""``apply --buy`` beside a real Karpenter: it makes exactly the machines of the plan, and nothing moves before them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.karpenter.lab import NODE_POOLS, Karpenter, karpenter
from tests.cluster.karpenter.test_beside_karpenter import (
    HOURS,
    KEYS,
    POLICY,
    TYPES,
    bought_and_scaled_down,
    cordoned,
    made_since,
)
from tests.cluster.plane.audit import OUR_ACCOUNT, Request
from tests.cluster.shapes import pod
from tests.cluster.tool import HOLDS, Tool
from tests.cluster.waiting import wait_until
from tests.paths import DEPLOY

GRANTS = ("reading.yaml", "acting.yaml", "autoscaler.yaml", "guards.yaml", "eviction-guard.yaml")


@pytest.fixture
def lab(cluster: Cluster, tool: Tool) -> Iterator[Karpenter]:
    """Karpenter with a pool that sells nothing yet; and we have the rights of ``deploy/``, and its guards."""
    cluster.control_plane.apply_files(*(DEPLOY / name for name in GRANTS))
    tool.kubeconfig = cluster.control_plane.service_account_kubeconfig("rescheduler", "rescheduler-system")
    tool.user = OUR_ACCOUNT
    with karpenter(cluster.control_plane) as found:
        found.add_pool()
        yield found


def planned(tool: Tool, lab: Karpenter, folder: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A plan for cheaper machines in place of the pool's, and what carries it out."""
    policy = tool.policy(POLICY)
    prices = str(lab.price_file(folder, *TYPES))
    answer = tool.run("plan", "--replace-pool", "default", "--policy", policy, "--prices", prices, "-o", "json")
    file = folder / "plan.json"
    file.write_text(answer.output)
    assert answer.document["whatIf"]["addedNodes"]
    return answer.document, ("apply", "--yes", "--plan", str(file), "--policy", policy, "-o", "json")


def kinds_of(machines: list[dict[str, Any]]) -> Counter[tuple[str, ...]]:
    """Type, capacity type, zone and pool of machines as a plan names them."""
    return Counter(tuple(machine[key] for key in KEYS) for machine in machines)


def kinds_bought(nodes: list[Manifest]) -> Counter[tuple[str, ...]]:
    """The same of nodes that stand."""
    return Counter(tuple(node["metadata"]["labels"][label] for label in KEYS.values()) for node in nodes)


def evictions(writes: list[Request]) -> list[int]:
    """Where in the audit log something was evicted, or asked whether it might be."""
    return [place for place, write in enumerate(writes) if write.subresource == "eviction"]


def requests_left(cluster: Cluster) -> list[str]:
    """Jobs and pods in the namespace of placeholders."""
    return [item["metadata"]["name"] for kind in ("jobs", "pods") for item in cluster.api.list(kind, HOLDS)]


@pytest.mark.timeout(900, func_only=True)
def test_exactly_the_machines_of_the_plan_are_made_and_nothing_moves_before_they_are_ready(
    cluster: Cluster, lab: Karpenter, tool: Tool, tmp_path: Path
) -> None:
    """By NodeClaims and audit log; what is then empty Karpenter sells, and its metric says what the plan said.

    Carried out once more the plan buys nothing.
    """
    bought_and_scaled_down(cluster)
    plan, apply = planned(tool, lab, tmp_path)
    old = {node["metadata"]["name"] for node in cluster.api.list("nodes")}
    mark = cluster.control_plane.audit.mark()
    result = tool.run(*apply, "--buy", timeout=600).document
    writes = cluster.control_plane.audit.writes_since(mark)

    machines = plan["whatIf"]["addedNodes"]
    new = [node for node in cluster.api.list("nodes") if node["metadata"]["name"] not in old]
    assert kinds_bought(new) == kinds_of(machines)
    assert len(made_since(cluster, mark)) == len(machines)
    names = {node["metadata"]["name"] for node in new}
    first = evictions(writes)[0]
    ready = {write.name for write in writes[:first] if (write.resource, write.subresource) == ("nodes", "status")}
    assert names <= ready
    taken_back = {write.name for write in writes[:first] if (write.verb, write.resource) == ("delete", "jobs")}
    assert len([name for name in taken_back if name.startswith("rescheduler-buy-")]) == len(machines)
    assert {move["outcome"] for move in result["moves"]} <= {"Landed", "LandedElsewhere"}
    assert names & {move["landedOn"] for move in result["moves"]}
    cluster.wait_pods_running(9)
    assert requests_left(cluster) == []

    tool.run(*apply, "--buy", timeout=300)
    assert len(made_since(cluster, mark)) == len(machines)

    lab.consolidate("5s")
    wait_until(
        lambda: round(lab.price_an_hour() * HOURS, 2) == plan["cost"]["after"],
        lambda: f"{plan['cost']} a month; the metric says {lab.price_an_hour() * HOURS}",
        timeout_seconds=240,
    )
    cluster.wait_pods_running(9)
    tool.assert_nothing_left()


@pytest.mark.campaign
@pytest.mark.timeout(1800, func_only=True)
def test_machines_that_do_not_come_leave_everything_as_it_was(
    cluster: Cluster, lab: Karpenter, tool: Tool, tmp_path: Path
) -> None:
    """The pool is at its limit: exit 1, nobody was evicted, no machine made, and nothing asks any more.

    The same after a kill in the midst of waiting: the guardian takes back what asked.
    """
    bought_and_scaled_down(cluster)
    _, apply = planned(tool, lab, tmp_path)
    cluster.api.patch(NODE_POOLS, "default", {"spec": {"limits": {"cpu": "1"}}})
    mark = cluster.control_plane.audit.mark()
    result = tool.run(*apply, "--buy", "--timeout", "40s", timeout=300, code=1)
    assert {move["outcome"] for move in result.document["moves"]} == {"NotAttempted"}
    assert "the machines did not come within 20 s" in result.document["message"]
    assert requests_left(cluster) == []

    killed = tool.start(*apply, "--buy")
    wait_until(lambda: bool(requests_left(cluster)), "a placeholder to stand", timeout_seconds=120)
    killed.kill()
    killed.communicate(timeout=30)
    wait_until(lambda: not requests_left(cluster), "the guardian to take it back", timeout_seconds=120)
    assert evictions(cluster.control_plane.audit.writes_since(mark)) == []
    assert made_since(cluster, mark) == []
    cluster.wait_pods_running(9)
    tool.assert_nothing_left()


SMALL = "c-4x-amd64-linux"


def empty_node(cluster: Cluster) -> dict[str, str]:
    """Labels of a new node that Karpenter makes for a pod, which then goes."""
    selector = {KEYS["instanceType"]: SMALL}
    with cordoned(cluster):
        cluster.create(pod("opener", spec={"nodeSelector": selector}))
        cluster.wait_pods_running(10, timeout_seconds=120)
    node = cluster.api.get("nodes", cluster.api.get("pods", "opener", "default")["spec"]["nodeName"])
    cluster.api.delete("pods", "opener", "default")
    cluster.wait_pods_running(9)
    return {"name": node["metadata"]["name"], **node["metadata"]["labels"]}


def only_its_like_is_sold(node: dict[str, str], prices: Path) -> str:
    """The same prices, of which those of this node's type and zone alone have a size."""
    table = json.loads(prices.read_text())
    for row in table["prices"]:
        if any(row[key] != node[KEYS[key]] for key in ("instanceType", "zone")):
            del row["resources"]
    prices.write_text(json.dumps(table))
    return str(prices)


@pytest.mark.campaign
@pytest.mark.timeout(900, func_only=True)
def test_an_empty_node_of_the_type_is_filled_while_machines_are_made(
    cluster: Cluster, lab: Karpenter, tool: Tool, tmp_path: Path
) -> None:
    """What asks would find its room there, and no machine would be made; then it takes its share of the pods.

    Three nodes' worth of pods, and two machines are asked for.
    """
    bought_and_scaled_down(cluster)
    nodes = [node["metadata"]["name"] for node in cluster.api.list("nodes")]
    spare = empty_node(cluster)
    replaced = [part for name in nodes for part in ("--replace-node", name)]
    policy, prices = tool.policy(POLICY), only_its_like_is_sold(spare, lab.price_file(tmp_path, *TYPES))
    answer = tool.run("plan", *replaced, "--buy", "--policy", policy, "--prices", prices, "-o", "json")
    assert f"apply --buy fills node {spare['name']}" in " ".join(answer.document["warnings"])
    file = tmp_path / "plan.json"
    file.write_text(answer.output)
    mark = cluster.control_plane.audit.mark()
    result = tool.run("apply", "--yes", "--plan", str(file), "--policy", policy, "--buy", "-o", "json", timeout=600)

    assert len(made_since(cluster, mark)) == 2
    moves = result.document["moves"]
    assert {move["outcome"] for move in moves} <= {"Landed", "LandedElsewhere"}
    assert len({move["landedOn"] for move in moves}) == 3
    assert spare["name"] in {move["landedOn"] for move in moves}
    cluster.wait_pods_running(9)
    assert requests_left(cluster) == []
    tool.assert_nothing_left()
