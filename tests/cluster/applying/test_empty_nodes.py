"""Plans of many moves on a real scheduler: emptied nodes are empty, pods are where planned, nothing is left."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.plane.kwok import GONE_AFTER
from tests.cluster.shapes import deployment, disruption_budget, stateful_set
from tests.cluster.tool import HOLDS, Tool
from tests.cluster.waiting import wait_until

SIZES = ("250m", "500m", "1", "1500m", "750m", "2")
LABEL = "app.kubernetes.io/managed-by=rescheduler"


def spread_out(cluster: Cluster, nodes: int, replicas: Iterable[int]) -> int:
    """Nodes of 8 CPU with Deployments of several sizes, each with a budget, as the scheduler spreads them."""
    cluster.add_nodes(nodes, prefix="n", cpu="8", memory="32Gi")
    pods = 0
    for number, count in enumerate(replicas):
        name = f"app{number}"
        cluster.create(disruption_budget(name, maxUnavailable=2))
        cluster.create(deployment(name, replicas=count, cpu=SIZES[number % len(SIZES)], memory="256Mi"))
        pods += count
    cluster.wait_pods_running(pods)
    return pods


def in_use(cluster: Cluster) -> set[str]:
    """Nodes with a pod of a workload on them."""
    return {name for name in cluster.pods_by_node("default") if name}


def refused(tool: Tool) -> tuple[list[str], int]:
    """Names of pods evicted since the last look, and how many evictions were refused, dry runs included."""
    found = tool.writes()
    evictions = [write for write in found if write.subresource == "eviction"]
    done = [write.name for write in evictions if not write.is_dry_run and write.code < 300]
    return done, sum(write.code >= 300 for write in evictions)


@pytest.mark.timeout(600)
def test_nodes_that_are_emptied_are_empty_and_stay_so(cluster: Cluster, tool: Tool) -> None:
    """Half of 24 nodes that are 40 % full: as many evictions as planned, none refused, and no pod comes back."""
    pods = spread_out(cluster, 24, (8, 9, 6, 7, 11, 9, 10, 8, 7, 5, 9, 4))
    before = in_use(cluster)
    tool.writes()
    answer = tool.run(
        "apply", "--objective", "EmptyNodes", "--max-evictions", "100", "--yes", "-o", "json", timeout=400
    )
    result = answer.document
    promised = result["objectives"][0]["value"]
    evicted, refusals = refused(tool)
    assert promised >= 10
    assert sorted(evicted) == sorted(move["pod"]["name"] for move in result["moves"])
    assert refusals == 0
    assert {move["outcome"] for move in result["moves"]} == {"Landed"}, answer.errors
    assert (result["message"], answer.warnings) == ("", [])
    cluster.wait_pods_running(pods)
    assert len(before) - len(in_use(cluster)) == promised
    tool.assert_nothing_left()
    time.sleep(2)
    assert len(before) - len(in_use(cluster)) == promised, "still so when nothing is held any more"


def hand_made(cluster: Cluster, tool_folder: Path, moves: list[dict[str, Any]], objective: str) -> str:
    """A plan in a file, as somebody might write it by hand; returns its path."""
    pods = {pod["metadata"]["name"]: pod for pod in cluster.api.list("pods", "default")}
    plan = {
        "apiVersion": "rescheduler/v1alpha1", "kind": "Plan",
        "snapshot": {"takenAt": None, "nodes": 0, "pods": len(pods), "pendingPods": 0, "source": "by hand"},
        "objectives": [{"name": objective, "status": "FEASIBLE", "value": 1, "bound": None, "gap": None, "unit": "",
                        "seconds": 0.0, "message": ""}],
        "moves": [
            {
                "pod": {"namespace": "default", "name": move["pod"], "uid": pods[move["pod"]]["metadata"]["uid"]},
                "fromNode": pods[move["pod"]]["spec"]["nodeName"], "toNode": move["to"], "wave": move["wave"],
                "objective": objective, "reason": "by hand", "needsGuidance": move.get("guided", False),
            }
            for move in moves
        ],
        "placements": [], "refusals": [], "warnings": [],
    }  # fmt: skip
    path = tool_folder / "by-hand.json"
    path.write_text(json.dumps(plan))
    return str(path)


def test_pods_of_full_nodes_come_to_new_ones(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Eight full nodes and four new ones: each pod lands on the very node of the plan, and none comes back."""
    cluster.add_nodes(8, prefix="full", cpu="4")
    cluster.create(deployment("web", replicas=32, cpu="900m"))
    cluster.wait_pods_running(32)
    cluster.add_nodes(4, prefix="new", cpu="4")
    standing = cluster.pods_by_node("default")
    moves = [
        {"pod": pod, "to": f"new-{number % 4}", "wave": number // 4 + 1}
        for number, pod in enumerate(pod for node in sorted(standing) for pod in standing[node][:1])
    ]
    plan = hand_made(cluster, tmp_path, moves, "SpreadLoad")
    policy = tool.policy("disruption: {workloads: {maxUnavailable: 50%}}")
    tool.writes()
    answer = tool.run("apply", "--plan", plan, "--policy", policy, "--yes", "-o", "json")
    assert {outcome for outcome, _ in answer.outcomes().values()} == {"Landed"}, answer.output
    cluster.wait_pods_running(32)
    assert {name: len(pods) for name, pods in cluster.pods_by_node("default").items()} == {
        **{f"full-{number}": 3 for number in range(8)}, **{f"new-{number}": 2 for number in range(4)},
    }  # fmt: skip
    assert len(refused(tool)[0]) == len(moves)
    tool.assert_nothing_left()


@pytest.mark.parametrize("make", [deployment, stateful_set])
def test_a_move_that_needs_guidance_lands_where_the_scheduler_would_not_go(
    cluster: Cluster, tool: Tool, tmp_path: Path, make: Any
) -> None:
    """Onto the fullest node, past emptier ones, two replicas of one owner in one wave."""
    cluster.add_nodes(1, prefix="busy", cpu="8")
    cluster.create(deployment("base", replicas=4, cpu="1"))
    cluster.wait_pods_running(4)
    cluster.add_nodes(4, prefix="idle", cpu="8")
    cluster.create(make("web", replicas=4, cpu="500m"))
    cluster.wait_pods_running(4, labels="app=web")
    movers = [
        name for node, pods in cluster.pods_by_node("default", labels="app=web").items() if node != "busy-0"
        for name in pods
    ]  # fmt: skip
    moves = [
        {"pod": name, "to": "busy-0", "wave": number // 2 + 1, "guided": True} for number, name in enumerate(movers)
    ]
    policy = tool.policy("disruption: {workloads: {maxUnavailable: 99%}}")
    plan = hand_made(cluster, tmp_path, moves, "Defragment")
    answer = tool.run("apply", "--plan", plan, "--policy", policy, "--yes", "-o", "json")
    assert set(answer.outcomes().values()) == {("Landed", "busy-0")}, answer.output
    cluster.wait_pods_running(8)
    assert len(cluster.pods_by_node("default", labels="app=web")["busy-0"]) == 4
    tool.assert_nothing_left()


def placeholders(cluster: Cluster) -> list[str]:
    """Jobs and pods of ours."""
    return [
        item["metadata"]["name"] for kind in ("jobs", "pods") for item in cluster.api.list(kind, HOLDS, labels=LABEL)
    ]


def test_killed_amid_many_moves_it_leaves_nothing_and_can_go_on(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """All placeholders are gone by their deadline and five seconds; the same plan then empties the rest."""
    cluster.add_nodes(12, prefix="n", cpu="4")
    cluster.create(deployment("web", replicas=24, cpu="1", annotations={GONE_AFTER: "1s"}))
    cluster.wait_pods_running(24)
    standing = cluster.pods_by_node("default")
    leaving = [pod for node in sorted(standing)[6:] for pod in standing[node]]
    moves = [
        {"pod": pod, "to": f"{sorted(standing)[number // 2]}", "wave": number // 2 + 1}
        for number, pod in enumerate(leaving)
    ]
    plan = hand_made(cluster, tmp_path, moves, "EmptyNodes")
    policy = tool.policy("hold: {deadline: 8s}\ndisruption: {workloads: {maxUnavailable: 99%}}")
    process = tool.start("apply", "--plan", plan, "--policy", policy, "--yes")
    try:
        wait_until(lambda: len(in_use(cluster)) < 12, "the first node to be empty")
        assert len(placeholders(cluster)) > 6
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    wait_until(lambda: not placeholders(cluster), "the placeholders to be gone", timeout_seconds=8 + 5)
    tool.run("apply", "--plan", plan, "--policy", policy, "--yes", "-o", "json", code=None)
    cluster.wait_pods_running(24)
    assert len(in_use(cluster)) == 6
    assert len(refused(tool)[0]) == len(moves)
    tool.assert_nothing_left()
