"""Repairing each sort of violation, under limits, with words for what stays."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from rescheduler.checker.recounts.fault_domains import violations_left
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import NodeAffinityRules, NodeSelectorTerm, PodAffinityTerm, Requirement
from rescheduler.model.objects.constraints import TopologySpreadConstraint as Spread
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.model.plan.plan import Status
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from tests.builders import NOW, cluster, node, pod, selector, taint
from tests.unit.planning.asked import plan_fault_domains
from tests.unit.planning.objectives.fault_domains.random_clusters import HOST, ZONE, clusters
from tests.unit.planning.objectives.separate_antagonists.questions import plan_of, question, violations

NAME = "FaultDomains"
APART = (PodAffinityTerm(HOST, selector(app="a")),)
EVEN = (Spread(ZONE, 1, selector=selector(app="a")),)


def answer_to(asked: PlanRequest) -> ObjectivePlan:
    """The planner's answer, after the checker and the recount have agreed with it."""
    answer = plan_fault_domains(asked)
    plan = plan_of(asked, answer, NAME)
    assert violations(asked, plan) == []
    assert violations_left(asked.prediction.columns.cluster, plan) == answer.value
    assert answer.unit == "violations"
    return answer


def zones(*sizes: int, **fields: Any) -> Cluster:
    """A zone for each number, of one node with so many pods of app ``a``."""
    nodes = [node(f"n{number}", cpu="32", zone=f"z{number}") for number in range(len(sizes))]
    pods = [
        pod(f"a-{n}{m}", node=f"n{n}", labels={"app": "a"}, **fields)
        for n, size in enumerate(sizes)
        for m in range(size)
    ]
    return cluster(*nodes, *pods)


def test_without_violations_nothing_is_done() -> None:
    """An empty cluster, pods without labels, and rules that hold."""
    unlabelled = cluster(node("n0"), pod("x", node="n0", labels={}))
    for found in (cluster(), unlabelled, zones(2, 1, topology_spread=EVEN)):
        answer = answer_to(question(found))
        assert (answer.status, answer.value, answer.bound, answer.moves) == (Status.OPTIMAL, 0, 0, ())
        assert answer.message == "nothing violates spread or affinity"


@pytest.mark.parametrize(
    ("sizes", "violated", "least"), [((4, 0), 3, 2), ((5, 0, 0), 4, 3), ((3, 3, 0), 4, 2), ((9, 9, 6), 4, 2)]
)
def test_an_uneven_spread_is_evened_by_the_fewest_evictions(sizes: tuple[int, ...], violated: int, least: int) -> None:
    """Each pod above the least zone and the skew is one violation."""
    answer = answer_to(question(zones(*sizes, topology_spread=EVEN)))
    assert (answer.status, answer.value, len(answer.moves)) == (Status.OPTIMAL, 0, least)
    evictions = f"{least} eviction" + "s" * (least > 1)
    assert answer.message == f"{violated} violations of spread and affinity repaired by {evictions}"
    assert answer.moves[0].reason == f"repairs spread over {ZONE} (maxSkew 1) on n0"


def test_pods_that_must_keep_apart_are_parted() -> None:
    """Pairs count, evictions are one less than pods."""
    answer = answer_to(question(zones(3, 0, 0, anti_affinity=APART)))
    assert (answer.status, answer.value, len(answer.moves)) == (Status.OPTIMAL, 0, 2)
    assert answer.message.startswith("3 violations")


def test_a_pod_whose_node_lost_its_label_goes_where_it_is_admitted() -> None:
    """Selector and required affinity count for running pods too."""
    needs_ssd = NodeAffinityRules(required=(NodeSelectorTerm((Requirement("disk", "In", ("ssd",)),)),))
    found = cluster(
        node("n0"), node("n1", labels={"disk": "ssd"}),
        pod("a", node="n0", node_affinity=needs_ssd), pod("b", node="n0", node_selector=(("disk", "ssd"),)),
    )  # fmt: skip
    answer = answer_to(question(found))
    assert (answer.status, answer.value, {move.to_node for move in answer.moves}) == (Status.OPTIMAL, 0, {1})
    assert answer.moves[0].reason == "repairs nodes that would not admit them now on n0"


def test_taints_count_but_not_those_of_a_nodes_condition_nor_noexecute() -> None:
    """Kubernetes evicts for NoExecute by itself; a cordoned node keeps its pods."""
    for mark, moves in (
        (taint("dedicated", "x"), 1),
        (taint("dedicated", "x", "PreferNoSchedule"), 0),
        (taint("dedicated", "x", "NoExecute"), 0),
        (taint("node.kubernetes.io/unschedulable"), 0),
    ):
        found = cluster(node("n0", taints=[mark]), node("n1"), pod("a", node="n0"))
        assert len(answer_to(question(found)).moves) == moves


def test_a_pod_without_its_company_goes_to_it() -> None:
    """And where it may not move its company comes to it."""
    near = (PodAffinityTerm(ZONE, selector(app="b")),)
    found = cluster(
        node("n0", zone="x"), node("n1", zone="y"),
        pod("a", node="n0", affinity=near), pod("b", node="n1", labels={"app": "b"}),
    )  # fmt: skip
    assert [move.pod for move in answer_to(question(found)).moves] in ([0], [1])
    assert [move.pod for move in answer_to(question(found, fixed=["a"])).moves] == [1]
    assert [move.pod for move in answer_to(question(found, fixed=["b"])).moves] == [0]
    answer = answer_to(question(found, fixed=["a", "b"]))
    assert (answer.status, answer.value, answer.bound) == (Status.INFEASIBLE, 1, 1)
    assert (
        f"1 violation stays: 1 of affinity within {ZONE} by default/a; because default/a may not be moved"
        in answer.message
    )


def test_one_joint_plan_does_not_break_one_rule_to_mend_another() -> None:
    """Pods that must keep apart by node and spread by zone end well in both."""
    found = cluster(
        *(node(f"n{n}", zone="xy"[n % 2]) for n in range(6)),
        *(pod(f"a-{n}", node="n0", labels={"app": "a"}, anti_affinity=APART, topology_spread=EVEN) for n in range(4)),
    )
    answer = answer_to(question(found))
    assert (answer.status, answer.value, len(answer.moves)) == (Status.OPTIMAL, 0, 3)


def test_what_no_plan_can_repair_is_told_by_constraint() -> None:
    """More pods than nodes."""
    answer = answer_to(question(zones(3, 0, anti_affinity=APART)))
    assert (answer.status, answer.value, answer.bound) == (Status.INFEASIBLE, 1, 1)
    assert f"1 violation stays: 1 of anti-affinity within {HOST} by " in answer.message
    assert "; because " in answer.message
    assert answer.refusals


def test_limits_bind_and_are_named() -> None:
    """Within one eviction the most is repaired."""
    answer = answer_to(question(zones(4, 0, topology_spread=EVEN), limits=MoveLimits(1)))
    assert (answer.status, answer.value, answer.bound, len(answer.moves)) == (Status.INFEASIBLE, 1, 1, 1)
    assert "limits.maxEvictions allows no more evictions" in answer.message


def test_terminating_pods_are_no_matter() -> None:
    """They go by themselves."""
    found = cluster(
        node("n0"), node("n1"),
        pod("a-0", node="n0", labels={"app": "a"}, anti_affinity=APART),
        pod("a-1", node="n0", labels={"app": "a"}, anti_affinity=APART, deletion_at=NOW),
    )  # fmt: skip
    assert answer_to(question(found)).message == "nothing violates spread or affinity"


def test_schedule_anyway_is_a_wish_and_no_rule() -> None:
    """Only DoNotSchedule constraints are repaired."""
    wish = (Spread(ZONE, 1, "ScheduleAnyway", selector(app="a")),)
    assert answer_to(question(zones(4, 0, topology_spread=wish))).message == "nothing violates spread or affinity"


def test_too_few_domains_count_from_zero() -> None:
    """With minDomains 3 and two zones the least zone is an empty one that does not exist."""
    three = (Spread(ZONE, 1, selector=selector(app="a"), min_domains=3),)
    answer = answer_to(question(zones(2, 1, topology_spread=three)))
    assert (answer.status, answer.value, answer.moves) == (Status.INFEASIBLE, 1, ())


def test_pods_of_a_daemonset_are_where_they_belong() -> None:
    """They are not counted as misplaced, whatever their node's taints say."""
    found = cluster(node("n0", taints=[taint("t")]), node("n1"), pod("d-0", node="n0", kind="DaemonSet"))
    assert answer_to(question(found, fixed=["d-0"])).value == 0


def test_without_guidance_only_what_the_scheduler_does_by_itself_is_proposed() -> None:
    """The emptier zone is what it prefers, so the spread is repaired; nothing needs guidance."""
    answer = answer_to(question(zones(4, 0, topology_spread=EVEN), is_guided_by_holds=False))
    assert not any(move.needs_guidance for move in answer.moves)
    assert answer.value < 3


def test_a_move_must_gain_more_than_it_costs() -> None:
    """The second move of four to two zones repairs one violation only."""
    few = answer_to(question(zones(4, 0, topology_spread=EVEN), move_cost=3.0))
    assert len(few.moves) < 2
    assert few.bound == 0


@settings(max_examples=25, deadline=None)
@given(clusters())
def test_odd_clusters_get_plans_that_the_checker_allows(found: Cluster) -> None:
    """Rules of every sort, nodes without zones, taints, terminating pods and DaemonSets; limits only make it worse."""
    daemons = [item.name for item in found.pods if item.owners[0].kind == "DaemonSet"]
    answers = [answer_to(question(found, fixed=daemons, limits=MoveLimits(most))) for most in (0, 2, None)]
    values = [answer.value for answer in answers]
    assert values == sorted(values, reverse=True)
    assert all(answer.bound is not None and answer.bound <= answer.value for answer in answers)
    assert answer_to(question(found, fixed=daemons)) == answers[-1]
