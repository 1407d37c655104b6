"""A pending pod gets its room on a real scheduler, by the fewest evictions, and nothing of ours is left."""

from __future__ import annotations

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.scenes import SINGLE_REPLICAS_MAY_MOVE, add_pending, chained, empty, fill, fragmented, put, spread
from tests.cluster.shapes import deployment, disruption_budget, priority_class, replica_set
from tests.cluster.tool import Tool, crowd

ENDED = ("Landed", "LandedElsewhere")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("runs", [3, pytest.param(20, marks=pytest.mark.campaign)])
def test_every_run_makes_room_by_the_proven_minimum(cluster: Cluster, tool: Tool, runs: int) -> None:
    """Each time exactly two evictions, the pod runs, every evicted pod runs elsewhere, nothing of ours is left."""
    cluster.add_nodes(4, cpu="4")
    for _ in range(runs):
        fill(cluster, nodes=4)
        tool.writes()
        answer = tool.run("apply", "--yes", "-o", "json")
        result = answer.document
        assert (result["objectives"][0]["status"], result["objectives"][0]["value"]) == ("OPTIMAL", 2)
        evicted = tool.evictions()
        assert len(evicted) == 2
        assert sorted(evicted) == sorted(move["pod"]["name"] for move in result["moves"])
        assert all(outcome in ENDED for outcome, _ in answer.outcomes().values()), answer.output
        assert result["placements"][0]["outcome"] == "Landed"
        assert all(move["landedOn"] != move["fromNode"] for move in result["moves"])
        cluster.wait_pods_running(13, timeout_seconds=5)
        tool.assert_nothing_left()
        empty(cluster)


def test_a_chain_is_carried_out_wave_by_wave(cluster: Cluster, tool: Tool) -> None:
    """The second pod moves into the room that the first one gave up, and the pending pod into the second one's."""
    big = chained(cluster)
    answer = tool.run("apply", "--yes", "-o", "json", "--policy", tool.policy(SINGLE_REPLICAS_MAY_MOVE))
    assert [move["pod"]["name"].rpartition("-")[0] for move in answer.document["moves"]] == ["little", "mid"]
    assert cluster.node_of(big) == "a-0"
    assert set(cluster.pods_by_node("default", labels="app=mid")) == {"b-0"}
    assert set(cluster.pods_by_node("default", labels="app=little")) == {"c-0"}
    assert [name.rpartition("-")[0] for name in tool.evictions()] == ["little", "mid"]
    tool.assert_nothing_left()


def test_an_important_pod_moves_without_throwing_others_out(cluster: Cluster, tool: Tool) -> None:
    """Its replacement could preempt: it finds its room open, and no pod is lost that the plan does not name."""
    cluster.create(priority_class("important", 1000))
    big = chained(cluster, mid={"priorityClassName": "important"})
    before = {pod["metadata"]["uid"] for pod in cluster.api.list("pods", "default")}
    answer = tool.run("apply", "--yes", "-o", "json", "--policy", tool.policy(SINGLE_REPLICAS_MAY_MOVE))
    assert cluster.node_of(big) == "a-0"
    moved = {move["pod"]["uid"] for move in answer.document["moves"]}
    after = {pod["metadata"]["uid"] for pod in cluster.wait_pods_running(5)}
    assert before - after == moved
    assert len(tool.evictions()) == len(moved) == 2
    tool.assert_nothing_left()


def test_what_no_rearrangement_can_help_is_left_alone_with_a_certificate(cluster: Cluster, tool: Tool) -> None:
    """A pod larger than any node: exit 0, INFEASIBLE, the reason in words, and not one write."""
    cluster.add_nodes(3, cpu="4")
    cluster.create(deployment("web", replicas=6, cpu="1"))
    cluster.wait_pods_running(6, labels="app=web")
    add_pending(cluster, deployment("huge", cpu="5"))
    tool.writes()
    answer = tool.run("apply", "--yes", "-o", "json")
    objective = answer.document["objectives"][0]
    assert objective["status"] == "INFEASIBLE"
    assert objective["message"]
    assert objective["certificate"]
    assert tool.writes() == []


def test_a_budget_without_allowance_is_refused_by_name(cluster: Cluster, tool: Tool) -> None:
    """The only pods that could move are protected: nothing is evicted, and the budget is named."""
    cluster.create(disruption_budget("precious", app="web", minAvailable=12))
    fragmented(cluster)
    tool.writes()
    answer = tool.run("apply", "--yes", "-o", "json")
    assert "precious" in answer.output
    assert answer.document["moves"] == []
    assert tool.writes() == []


def test_a_budget_without_allowance_is_planned_around(cluster: Cluster, tool: Tool) -> None:
    """Protected pods stay although moving one of them would do; two others move instead."""
    cluster.add_nodes(3, prefix="n", cpu="4")
    put(cluster, "n-0", replica_set("precious", replicas=2, cpu="1500m"), 2)
    put(cluster, "n-1", replica_set("web", replicas=3, cpu="1"), 3)
    put(cluster, "n-2", replica_set("idle", replicas=1, cpu="2"))
    cluster.create(disruption_budget("precious", minAvailable=2))
    big = add_pending(cluster, deployment("big", cpu="2500m"))
    policy = tool.policy("disruption: {workloads: {maxUnavailable: 99%}}")
    tool.writes()
    answer = tool.run("apply", "--yes", "-o", "json", "--policy", policy)
    assert answer.outcomes()[big][0] == "Landed"
    assert {name.rpartition("-")[0] for name in tool.evictions()} == {"web"}
    assert crowd(cluster) == {"precious": 2, "web": 3, "idle": 1, "big": 1}
    tool.assert_nothing_left()


def test_two_pending_pods_of_different_shapes_both_get_a_place(cluster: Cluster, tool: Tool) -> None:
    """One needs CPU, the other memory; both run in the end, and so does everything else."""
    cluster.add_nodes(4, cpu="4", memory="8Gi")
    spread(cluster, deployment("web", replicas=12, cpu="1", memory="2Gi"))
    wide = add_pending(cluster, deployment("wide", cpu="2", memory="1Gi"))
    tall = add_pending(cluster, deployment("tall", cpu="500m", memory="4Gi"))
    answer = tool.run("apply", "--yes", "-o", "json")
    assert answer.document["objectives"][0]["helped"] == 2
    assert {answer.outcomes()[wide][0], answer.outcomes()[tall][0]} <= set(ENDED)
    cluster.wait_pods_running(14, timeout_seconds=10)
    assert len(tool.evictions()) == answer.document["objectives"][0]["value"]
    tool.assert_nothing_left()
