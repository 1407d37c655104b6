"""Why a pod or a node would or would not move: plan, rules and the scheduler's verdicts together."""

from __future__ import annotations

import pytest

from rescheduler.explain import NotInClusterError, explain_node, explain_pod, find_node, find_pod
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan, PlannedPlacement
from rescheduler.policy.fields.policy import Policy
from rescheduler.report.explanation import Explanation
from tests.builders import cluster, node, pod, taint
from tests.unit.report.plans import objective, reference, small_cluster, small_plan


def of_pod(name: str, plan: Plan | None = None, among: Cluster | None = None) -> Explanation:
    """The explanation of one pod of the namespace ``default``."""
    among = small_cluster() if among is None else among
    plan = small_plan() if plan is None else plan
    return explain_pod(among, Policy(), Selection(), plan, find_pod(among, f"default/{name}"))


def of_node(name: str, among: Cluster | None = None) -> Explanation:
    """The explanation of one node."""
    among = small_cluster() if among is None else among
    return explain_node(among, Policy(), Selection(), small_plan(), find_node(among, name))


def test_a_pod_that_moves_says_where_to_and_why() -> None:
    """The plan's move and its reason, and the destination is feasible."""
    answer = of_pod("web-1")
    assert (answer.verdict, answer.on_node) == ("Moves", "n1")
    assert answer.message == "moves from n1 to n2 in wave 1: makes room for default/big-1"
    assert {verdict.node: verdict.feasible for verdict in answer.nodes} == {"n1": True, "n2": True}


def test_a_pod_that_is_refused_names_the_rule() -> None:
    """The rule and its reason, and no move."""
    answer = of_pod("db-1")
    assert (answer.verdict, answer.moves) == ("Refused", ())
    assert [refusal.rule for refusal in answer.refusals] == ["SingleReplica"]
    assert "SingleReplica" in answer.message


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (small_plan(), "the plan reaches what it does without it"),
        (small_plan(moves=(), placements=(), objectives=(objective(wanted=0, helped=0),)), "no pending pod waits"),
        (small_plan(moves=(), placements=(), objectives=(objective(helped=0),)), "proposes no moves at all"),
    ],
)
def test_a_pod_that_may_move_but_need_not_says_so(plan: Plan, reason: str) -> None:
    """Nothing refuses it; the plan does without it."""
    answer = of_pod("web-2", plan)
    assert answer.verdict == "Stays"
    assert reason in answer.message


def test_a_pending_pod_with_a_place_says_when_it_is_free() -> None:
    """After the moves that make its room, or already."""
    assert "on n1 at the end of wave 1, when 1 pod has moved" in of_pod("big-1").message
    at_once = small_plan(moves=(), placements=(PlannedPlacement(reference("big-1"), "n1", 0),))
    assert "fits on n1 already" in of_pod("big-1", at_once).message
    assert of_pod("big-1", at_once).verdict == "GetsAPlace"


def test_a_pending_pod_that_waits_counts_the_schedulers_reasons() -> None:
    """In the scheduler's own words, by node and in sum, with what the plan says."""
    among = cluster(
        node("n1", "2"),
        node("n2", "2"),
        node("n3", taints=[taint("dedicated", "x")]),
        pod("web-1", "1", node="n1"),
        pod("big-1", "3"),
    )
    plan = small_plan(moves=(), placements=(), objectives=(objective(helped=0, message="a node must be added"),))
    answer = of_pod("big-1", plan, among)
    assert answer.verdict == "Waits"
    assert "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) had untolerated taint" in answer.message
    assert answer.message.endswith("the plan says: a node must be added")
    reasons = {verdict.node: verdict.reasons for verdict in answer.nodes}
    assert reasons["n1"] == ("Insufficient cpu",)


@pytest.mark.parametrize(
    ("fields", "text"), [({"phase": "Succeeded"}, "finished"), ({"deletion_at": 1.0}, "terminating")]
)
def test_pods_on_their_way_out_are_left_alone(fields: dict[str, object], text: str) -> None:
    """Finished and terminating pods are not asked of the scheduler."""
    among = cluster(node("n1"), pod("old-1", node="n1", **fields))
    answer = of_pod("old-1", small_plan(moves=(), placements=()), among)
    assert (answer.verdict, answer.nodes) == ("Leaves", ())
    assert text in answer.message


def test_a_node_tells_who_leaves_arrives_and_stays() -> None:
    """Moves at both ends, placements, and the rule that keeps each of the others."""
    source, target = of_node("n1"), of_node("n2")
    assert "1 of its 2 pods leaves, 1 arrives" in source.message
    assert "0 of its pod leave, 1 arrives" in target.message
    assert [place.pod.name for place in source.placements] == ["big-1"]
    assert [refusal.rule for refusal in source.refusals] == ["SingleReplica"]
    assert source.verdict == target.verdict == "Moves"


def test_a_node_in_a_special_state_says_so() -> None:
    """Cordoned, not ready, virtual, unusable."""
    odd = node(
        "n1", labels={"type": "virtual-kubelet"}, is_unschedulable=True, is_ready=False, problem="no allocatable"
    )
    message = of_node("n1", cluster(odd)).message
    for text in ("cannot be used: no allocatable", "is virtual", "is cordoned", "is not ready"):
        assert text in message


def test_what_is_not_there_is_named_with_what_is_near() -> None:
    """The same name elsewhere first, then names that look alike."""
    with pytest.raises(NotInClusterError, match=r"no pod other/web-1; did you mean default/web-1\?"):
        find_pod(small_cluster(), "other/web-1")
    with pytest.raises(NotInClusterError, match=r"no node n11; did you mean n1"):
        find_node(small_cluster(), "n11")
    with pytest.raises(NotInClusterError, match=r"no node \\x1b\[2J$"):
        find_node(small_cluster(), "\x1b[2J")
