"""The world moves between planning and carrying out: nothing wrong is evicted, and nothing is done twice."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.scenes import add_pending, fragmented, put
from tests.cluster.shapes import deployment, stateful_set
from tests.cluster.tool import Tool


def test_a_plan_applied_twice_does_nothing_the_second_time(cluster: Cluster, tool: Tool) -> None:
    """The first time evicts, the second time writes nothing at all and exits 0."""
    fragmented(cluster)
    plan = tool.plan_file()
    tool.run("apply", "--yes", "--plan", plan)
    assert len(tool.evictions()) == 2
    again = tool.run("apply", "--yes", "--plan", plan, "-o", "json")
    assert tool.writes() == []
    assert {outcome for outcome, _ in again.outcomes().values()} <= {"Landed", "LandedElsewhere"}


def test_a_pod_recreated_under_its_name_is_not_evicted(cluster: Cluster, tool: Tool) -> None:
    """The StatefulSet's new pods of the old names are other pods: the plan does not touch them."""
    cluster.add_nodes(3, prefix="n", cpu="4")
    put(cluster, "n-0", stateful_set("db", replicas=2, cpu="1500m"), 2)
    put(cluster, "n-1", deployment("side", cpu="2500m"))
    put(cluster, "n-2", deployment("more", cpu="2500m"))
    big = add_pending(cluster, deployment("big", cpu="2600m"))
    plan = tool.plan_file()
    assert [name in Path(plan).read_text() for name in ("db-0", "db-1")] == [True, True]
    for other in ("n-1", "n-2"):
        cluster.api.patch("nodes", other, {"spec": {"unschedulable": True}})
    for name in ("db-0", "db-1"):
        uid = cluster.api.get("pods", name, "default")["metadata"]["uid"]
        cluster.api.delete("pods", name, "default")
        cluster.wait_gone("pods", name, "default", uid=uid)
        cluster.wait_pods_running(2, labels="app=db")
    for other in ("n-1", "n-2"):
        cluster.api.patch("nodes", other, {"spec": {"unschedulable": None}})
    tool.writes()
    answer = tool.run("apply", "--yes", "--plan", plan, code=None)
    assert answer.code == 1
    assert tool.evictions() == []
    assert cluster.node_of(big) == ""
    tool.assert_nothing_left()


def test_a_moved_pod_deleted_meanwhile_is_not_made_up_for_by_another(cluster: Cluster, tool: Tool) -> None:
    """Only pods that the plan names may be evicted, whatever took their place."""
    fragmented(cluster)
    plan = tool.plan_file()
    before = {pod["metadata"]["name"] for pod in cluster.api.list("pods", "default")}
    victim = next(name for name in before if f'"{name}"' in Path(plan).read_text() and name.startswith("web"))
    cluster.api.delete("pods", victim, "default")
    cluster.wait_gone("pods", victim, "default")
    cluster.wait_pods_running(12, labels="app=web")
    tool.writes()
    tool.run("apply", "--yes", "--plan", plan, code=None)
    for name in tool.evictions():
        assert name in before
        assert name != victim
        assert f'"{name}"' in Path(plan).read_text()
    tool.assert_nothing_left()


def test_a_plan_for_a_pod_that_was_helped_meanwhile_evicts_nobody(cluster: Cluster, tool: Tool) -> None:
    """A new node took the pending pod in: no move is needed any more."""
    fragmented(cluster)
    plan = tool.plan_file()
    cluster.add_nodes(1, prefix="new", cpu="4")
    cluster.wait_pods_running(13)
    tool.writes()
    tool.run("apply", "--yes", "--plan", plan, code=None)
    assert tool.writes() == []
