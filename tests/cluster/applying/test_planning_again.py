"""Something comes in the way of a move while a plan is carried out: the rest is planned again, if nobody chose it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import Answered, Asked, FaultProxy, Forward
from tests.cluster.scenes import SINGLE_REPLICAS_MAY_MOVE, fragmented
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool


def at_first_eviction(proxy: FaultProxy, moves: Sequence[dict[str, Any]], blow: Any) -> None:
    """Let ``blow`` happen, with the destinations of all other moves, right before the first pod leaves."""
    begun: list[str] = []

    def meddle(asked: Asked, forward: Forward) -> Answered:
        if asked.is_eviction and not begun:
            begun.append(asked.path.split("/")[-2])
            blow({move["toNode"] for move in moves if move["pod"]["name"] != begun[0]})
        return forward()

    proxy.meddle = meddle


def cordon(cluster: Cluster, nodes: set[str]) -> None:
    """Close nodes to new pods."""
    for name in nodes:
        cluster.api.patch("nodes", name, {"spec": {"unschedulable": True}})


def planned(tool: Tool, *options: str) -> tuple[str, list[dict[str, Any]]]:
    """The plan that the same options make: its file, and its moves."""
    file = tool.plan_file(*options)
    moves: list[dict[str, Any]] = json.loads(Path(file).read_text())["moves"]
    assert len({move["toNode"] for move in moves}) == 2
    return file, moves


def test_a_pod_whose_destination_is_cordoned_on_the_way_lands_elsewhere(
    cluster: Cluster, tool: Tool, proxied: FaultProxy
) -> None:
    """The pending pod gets its room by the second attempt; the move that was dropped keeps its outcome; exit 0."""
    fragmented(cluster)
    policy = tool.policy(SINGLE_REPLICAS_MAY_MOVE)
    _, moves = planned(tool, "--policy", policy)
    at_first_eviction(proxied, moves, lambda nodes: cordon(cluster, nodes))
    answer = tool.run("apply", "--yes", "--policy", policy, "-o", "json")
    found = [(move["outcome"], move.get("attempt")) for move in answer.document["moves"]]
    assert found == [("Landed", None), ("Refused", None), ("Landed", 2)]
    assert answer.document["moves"][1]["pod"] == answer.document["moves"][2]["pod"]
    assert [place["outcome"] for place in answer.document["placements"]] == ["Landed"]
    assert "is cordoned" in answer.errors
    assert len(tool.evictions()) == 2
    tool.assert_nothing_left()
    history = json.loads(tool.run("history", "-o", "json").output)["entries"]
    assert [one["attempt"] for one in history[-2:]] == [1, 2]


@pytest.mark.campaign
def test_a_destination_that_fills_up_on_the_way_is_left_to_others(
    cluster: Cluster, tool: Tool, proxied: FaultProxy
) -> None:
    """Somebody's pod is bound there by hand: the move goes elsewhere."""
    fragmented(cluster)
    policy = tool.policy(SINGLE_REPLICAS_MAY_MOVE)
    _, moves = planned(tool, "--policy", policy)

    def fill(nodes: set[str]) -> None:
        for name in nodes:
            spec = {"nodeSelector": {"kubernetes.io/hostname": name}, "priorityClassName": "system-cluster-critical"}
            cluster.create(deployment(f"late-{name}", cpu="1", namespace="kube-system", spec=spec))
            cluster.wait_pods_running(1, labels=f"app=late-{name}", namespace="kube-system")

    at_first_eviction(proxied, moves, fill)
    answer = tool.run("apply", "--yes", "--policy", policy, "-o", "json", code=None)
    landed = [move for move in answer.document["moves"] if move["outcome"] == "Landed"]
    assert [move.get("attempt") for move in landed] == [None, 2]
    tool.assert_nothing_left()


@pytest.mark.campaign
def test_a_plan_of_a_file_is_never_planned_again(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """What something came in the way of is left where it is, and the exit code is 1."""
    fragmented(cluster)
    policy = tool.policy(SINGLE_REPLICAS_MAY_MOVE)
    file, moves = planned(tool, "--policy", policy)
    at_first_eviction(proxied, moves, lambda nodes: cordon(cluster, nodes))
    tool.writes()
    answer = tool.run("apply", "--yes", "--policy", policy, "--plan", file, "-o", "json", code=1)
    assert sorted(move["outcome"] for move in answer.document["moves"]) == ["Landed", "Refused"]
    assert len(tool.evictions()) == 1
    tool.assert_nothing_left()


@pytest.mark.campaign
def test_each_attempt_is_told_as_it_goes(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """One JSON object a line: the second pod is dropped, planned anew, and settled; the result comes last."""
    fragmented(cluster)
    policy = tool.policy(SINGLE_REPLICAS_MAY_MOVE)
    _, moves = planned(tool, "--policy", policy)
    at_first_eviction(proxied, moves, lambda nodes: cordon(cluster, nodes))
    answer = tool.run("apply", "--yes", "--policy", policy, "-o", "json", "--events")
    *lines, last = map(json.loads, answer.output.splitlines())
    assert last["kind"] == "PlanResult"
    second = last["moves"][-1]["pod"]["name"]
    states = [line["state"] for line in lines if line["pod"]["name"] == second]
    assert states[0] == "planned"
    assert states[states.index("dropped") + 1] == "planned"
    assert states[-1] == "settled"
