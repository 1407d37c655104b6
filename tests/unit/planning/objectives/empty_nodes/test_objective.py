"""What plans to empty nodes do and say in clusters small enough to see why."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.model.plan.disruption import DisruptionGroup, MoveLimits
from rescheduler.model.plan.plan import Status
from rescheduler.planning.problem.plan_request import ObjectivePlan
from tests import builders
from tests.unit.planning.asked import EmptyingRequest, plan_empty_nodes
from tests.unit.planning.objectives.empty_nodes.questions import emptied_names, question, violations
from tests.unit.planning.planning_requests import index

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def three_nodes(**more: object) -> Cluster:
    """Nodes a, b, c of 4 cores with 2, 2 and 1 pods of one core."""
    pods = [
        builders.pod(f"web-{name}{number}", node=name)
        for name, count in (("a", 2), ("b", 2), ("c", 1))
        for number in range(count)
    ]
    return builders.cluster(*(builders.node(name) for name in "abc"), *pods, **more)


def planned(request: EmptyingRequest) -> tuple[list[str], ObjectivePlan]:
    """Names of emptied nodes and the answer, which the checker has nothing against."""
    names, answer = emptied_names(request)
    assert violations(request, answer) == []
    return names, answer


def test_the_node_with_the_fewest_pods_is_emptied() -> None:
    """Of nodes that are worth the same the one that costs the fewest evictions goes, and the plan is proven best."""
    names, answer = planned(question(three_nodes(), limits=MoveLimits(max_evictions=2)))
    assert names == ["c"]
    assert (answer.status, answer.value, answer.bound, len(answer.moves)) == (Status.OPTIMAL, 1, 1, 1)
    assert answer.binding_limits == ("limits.maxEvictions",)
    assert "limits.maxEvictions leaves too little" in answer.message


def test_emptied_nodes_stay_empty() -> None:
    """No pod goes to a node that is being emptied."""
    names, answer = planned(question(three_nodes(), limits=MoveLimits(max_evictions=3)))
    cluster = three_nodes()
    assert len(names) == 1
    assert not {cluster.nodes[move.to_node].name for move in answer.moves} & set(names)


def test_daemon_set_and_mirror_pods_do_not_count() -> None:
    """A node on which only such pods are left is empty, and one that has only such pods was so before."""
    pods = [
        builders.pod("web-1", node="a"),
        builders.pod("agent-1", node="a", kind="DaemonSet"),
        builders.pod("proxy-1", node="a", owner=None, annotations={"kubernetes.io/config.mirror": "x"}),
        builders.pod("agent-2", node="b", kind="DaemonSet"),
        builders.pod("web-2", node="c"),
    ]
    cluster = builders.cluster(*(builders.node(name) for name in "abc"), *pods)
    fixed = ("agent-1", "proxy-1", "agent-2", "web-2")
    names, answer = planned(question(cluster, fixed=fixed))
    assert names == ["a"]
    assert answer.value == 1
    assert cluster.nodes[answer.moves[0].to_node].name == "c"  # b would then be in use


def test_a_finished_pod_does_not_keep_a_node() -> None:
    """Pods that have run to their end hold nothing."""
    done = builders.pod("job-1", node="c", kind="Job", phase="Succeeded")
    cluster = three_nodes()
    cluster = builders.cluster(*cluster.nodes, *cluster.pods, done)
    names, _ = planned(question(cluster, fixed=("job-1",), limits=MoveLimits(max_evictions=1)))
    assert names == ["c"]


def test_a_node_with_a_pod_that_must_stay_is_told_with_the_pod() -> None:
    """The refusal names the node, the rule and the pod."""
    cluster = three_nodes()
    group = DisruptionGroup("PodDisruptionBudget", "default/web", 0, (index(cluster, "web-c0"),))
    names, answer = planned(question(cluster, groups=(group,), limits=MoveLimits(max_evictions=2)))
    assert names in (["a"], ["b"])
    told = [(refusal.node, refusal.rule) for refusal in answer.refusals]
    assert told == [("c", "PodDisruptionBudget")]
    assert "default/web-c0" in answer.refusals[0].message
    assert "allows no disruption" in answer.refusals[0].message


def test_a_budget_bounds_each_wave() -> None:
    """Pods of one budget leave in waves of its allowance."""
    cluster = three_nodes()
    pods = tuple(range(len(cluster.pods)))
    group = DisruptionGroup("PodDisruptionBudget", "default/web", 1, pods)
    names, answer = planned(question(cluster, groups=(group,), fixed=("web-c0", "web-b0")))
    assert names == ["a"]
    assert sorted(move.wave for move in answer.moves) == [1, 2]


def test_only_selected_nodes_are_emptied() -> None:
    """A node outside of the selection stays in use however cheap it is."""
    names, answer = planned(question(three_nodes(), is_selected=np.array([True, False, False])))
    assert names == ["a"]
    assert answer.value == 1


def test_prices_decide() -> None:
    """With prices the dearest node goes, and value and bound are in price."""
    request = question(three_nodes(), price=np.array([5.0, 1.0, 1.5]), limits=MoveLimits(max_evictions=2))
    names, answer = planned(request)
    assert names == ["a"]
    assert (answer.value, answer.bound) == (5.0, 5.0)
    assert "worth 5" in answer.message


@pytest.mark.parametrize("price", [np.array([1.0]), np.array([1.0, -1.0, 1.0]), np.array([1.0, np.nan, 1.0])])
def test_prices_that_make_no_sense_are_refused(price: np.ndarray) -> None:
    """Prices must be finite, not negative, and one for each node."""
    with pytest.raises(ValueError, match="price: wanted 3 finite numbers"):
        plan_empty_nodes(question(three_nodes(), price=price))


def test_virtual_and_broken_nodes_are_neither_emptied_nor_reported() -> None:
    """A virtual kubelet's node, or one that could be read in part only, is left alone."""
    nodes = [
        builders.node("a", labels={"type": "virtual-kubelet"}),
        builders.node("b", problem="it has no allocatable"),
        builders.node("c"),
    ]
    pods = [builders.pod(f"web-{name}", node=name) for name in "abc"]
    names, answer = planned(question(builders.cluster(*nodes, *pods), fixed=("web-a", "web-b", "web-c")))
    assert names == []
    assert [refusal.node for refusal in answer.refusals] == ["c"]


def test_limits_for_a_node_and_a_namespace_bind() -> None:
    """A node with more pods than may be evicted from it, or of a namespace, stays; the message names the limit."""
    by_node = question(three_nodes(), limits=MoveLimits(max_evictions_per_node=1))
    by_namespace = question(three_nodes(), limits=MoveLimits(max_evictions_per_namespace=1))
    for request, name in (
        (by_node, "limits.maxEvictionsPerNode"),
        (by_namespace, "limits.maxEvictionsPerNamespace"),
    ):
        names, answer = planned(request)
        assert names == ["c"]
        assert answer.value == answer.bound == 1
        assert name in answer.binding_limits


def test_no_evictions_allowed_says_so() -> None:
    """Without any eviction the plan is empty, proven, and names the limit."""
    names, answer = planned(question(three_nodes(), limits=MoveLimits(max_evictions=0)))
    assert names == []
    assert (answer.status, answer.value, answer.bound) == (Status.OPTIMAL, 0, 0)
    assert "limits.maxEvictions" in answer.message


def test_no_room_elsewhere_says_so() -> None:
    """Full nodes cannot be emptied, and the message says that room lacks."""
    cluster = builders.cluster(
        builders.node("a"),
        builders.node("b"),
        *(builders.pod(f"web-{name}", cpu="3", node=name) for name in "ab"),
    )
    names, answer = planned(question(cluster))
    assert names == []
    assert answer.bound == 0
    assert "do not find room elsewhere" in answer.message


def test_an_empty_cluster_has_nothing_to_empty() -> None:
    """Without pods, or without nodes, the answer is zero and proven."""
    for cluster in (builders.cluster(), builders.cluster(builders.node("a"))):
        answer = plan_empty_nodes(question(cluster))
        assert (answer.status, answer.value, answer.bound, answer.moves) == (Status.OPTIMAL, 0, 0, ())


def test_pods_are_not_just_shuffled_to_an_empty_node() -> None:
    """To fill a node that was empty wins nothing."""
    cluster = builders.cluster(builders.node("a"), builders.node("b"), builders.pod("web-1", node="a"))
    names, answer = planned(question(cluster))
    assert names == []
    assert (answer.value, answer.bound) == (0, 0)


def test_anti_affinity_decides_where_pods_may_go() -> None:
    """Replicas that keep apart never meet, so that of three nodes none can be emptied."""
    apart = (PodAffinityTerm(HOST, builders.selector(app="db")),)
    pods = [builders.pod(f"db-{name}", node=name, anti_affinity=apart) for name in "abc"]
    names, answer = planned(question(builders.cluster(*(builders.node(name) for name in "abc"), *pods)))
    assert names == []
    assert answer.bound == 0


def test_host_ports_decide_where_pods_may_go() -> None:
    """A pod with a host port goes to a node on which it is free."""
    pods = [builders.pod("edge-1", node="a", ports=(80,)), builders.pod("edge-2", node="b", ports=(80,))]
    pods.append(builders.pod("web-1", cpu="3", node="c"))
    cluster = builders.cluster(*(builders.node(name) for name in "abc"), *pods)
    names, answer = planned(question(cluster, fixed=("web-1", "edge-2")))
    assert names == ["a"]
    assert cluster.nodes[answer.moves[0].to_node].name == "c"


def test_at_equal_count_the_departure_that_harms_no_spread_is_chosen() -> None:
    """A node whose pod keeps others evenly spread is left in use where another one can go instead."""
    spread = (TopologySpreadConstraint(ZONE, 1, selector=builders.selector(app="web")),)
    nodes = [builders.node(name, zone=zone) for name, zone in (("a", "x"), ("b", "y"), ("c", "y"), ("d", "x"))]
    pods = [
        builders.pod("web-1", node="a", topology_spread=spread),
        builders.pod("web-2", node="b", topology_spread=spread),
        builders.pod("plain-1", node="c"),
        builders.pod("fixed-1", cpu="3", node="d"),
    ]
    cluster = builders.cluster(*nodes, *pods)
    names, answer = planned(question(cluster, fixed=("fixed-1",), limits=MoveLimits(max_evictions=1)))
    assert names == ["c"]
    assert answer.value == 1


def test_pods_moved_by_earlier_objectives_stay_and_count() -> None:
    """A pod that has moved already does not move again, and its eviction is taken off the limits."""
    cluster = three_nodes()
    request = question(cluster, limits=MoveLimits(max_evictions=2))
    placement = Placement(request.prediction.columns)
    moved = index(cluster, "web-a0")
    placement.move(moved, 2)
    placement.settle()
    later = question(cluster, limits=MoveLimits(max_evictions=2), placement=placement)
    answer = plan_empty_nodes(later)
    assert [cluster.nodes[node].name for node in answer.closes] == ["a"]
    assert [move.pod for move in answer.moves] == [index(cluster, "web-a1")]
    assert ("c", "MovedAlready") in {(refusal.node, refusal.rule) for refusal in answer.refusals}


def test_with_holds_the_scheduler_spreads_the_pods_by_itself() -> None:
    """Where its own choice seats everybody no move needs guidance."""
    names, answer = planned(question(three_nodes(), limits=MoveLimits(max_evictions=1)))
    assert names == ["c"]
    assert not any(move.needs_guidance for move in answer.moves)


def test_seats_that_the_scheduler_would_not_choose_are_marked() -> None:
    """Where its own choice leaves a pod without a place the planner's seats are used, and marked."""
    nodes = [builders.node("a", cpu="4"), builders.node("b", cpu="3"), builders.node("c", cpu="8")]
    pods = [
        builders.pod("big-1", cpu="3", memory="1Mi", node="a"),
        builders.pod("small-1", cpu="1", memory="1Mi", node="a"),
        builders.pod("rest-1", cpu="5", memory="1Mi", node="c"),
        builders.pod("rest-2", cpu="2", memory="1Mi", node="b"),
    ]
    cluster = builders.cluster(*nodes, *pods)
    names, answer = planned(question(cluster, fixed=("rest-1", "rest-2")))
    assert names == ["a"]
    assert {cluster.pods[m.pod].name: cluster.nodes[m.to_node].name for m in answer.moves} == {
        "big-1": "c",
        "small-1": "b",
    }


def test_without_holds_the_message_says_why_nodes_stay() -> None:
    """A scheduler that prefers the emptiest node would send the pods back, so nothing is proposed."""
    cluster = builders.cluster(
        builders.node("a"), builders.node("b"), *(builders.pod(f"web-{name}", node=name) for name in "ab")
    )
    names, answer = planned(question(cluster, is_guided_by_holds=False))
    assert names == []
    assert "without guidance" in answer.message
    assert answer.bound == 1
    assert answer.status is not Status.OPTIMAL


def test_no_time_gives_a_plan_that_stands() -> None:
    """With no time at all the answer is a plan that is allowed, perhaps the empty one."""
    request = question(three_nodes(), deadline_seconds=0.0)
    answer = plan_empty_nodes(request)
    assert violations(request, answer) == []
    assert answer.bound >= answer.value
