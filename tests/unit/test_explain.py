"""Why a pod or a node would or would not move: plan, rules and the scheduler's verdicts together."""

from __future__ import annotations

import pytest
from msgspec import UNSET, structs

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.disruption.methods.could_surge import with_surge_for_the_rest
from rescheduler.explain import NotInClusterError, explain_node, explain_pod, find_node, find_pod, gained_by_surge
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan, PlannedPlacement
from rescheduler.planning.lexicographic.document import summary_of
from rescheduler.policy.fields.policy import Policy
from rescheduler.report.explanation import Explanation
from rescheduler.report.plan.moves import why
from rescheduler.report.plan.price import price_lines, price_of
from tests.builders import cluster, node, pod, taint
from tests.clocks import FakeClock
from tests.unit.disruption.cases import policy
from tests.unit.disruption.surge_cases import deployment, tight_budget
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


def kept_by_budgets() -> Cluster:
    """Two nodes with a single replica each, under budgets that allow nothing."""
    objects = [*deployment("a", ["n1"]), *deployment("b", ["n2"]), tight_budget("a", 1), tight_budget("b", 1)]
    return cluster(node("n1"), node("n2"), *objects, pod("naked", cpu="100m", node="n2", owner=None))


def test_a_pod_that_could_move_by_surge_says_so() -> None:
    """Where a rule would be enough, and only there; what a rule names already is not told."""
    among = kept_by_budgets()
    note = ("could move by surge if a rule named it: default/a-h1-0 (policy: disruption.moveBy)",)
    assert of_pod("a-h1-0", Plan(summary_of(among)), among).notes == note
    assert of_pod("naked", Plan(summary_of(among)), among).notes is UNSET
    assert of_node("n1", among).notes == note
    named = policy(disruption={"moveBy": [{"method": "Evict"}]})
    told = explain_pod(among, named, Selection(), Plan(summary_of(among)), find_pod(among, "default/a-h1-0"))
    assert told.refusals
    assert told.notes is UNSET
    silent = policy(guidance="Predict")
    told = explain_pod(among, silent, Selection(), Plan(summary_of(among)), find_pod(among, "default/a-h1-0"))
    assert told.notes is UNSET


def test_what_a_rule_would_gain_is_told_in_nodes() -> None:
    """By a plan in which every pod moves by surge that can."""
    among = cluster(*(item for item in kept_by_budgets().nodes), *deployment("a", ["n1"]), *deployment("b", ["n2"]),
                    tight_budget("a", 1), tight_budget("b", 1))  # fmt: skip
    asked = policy(objectives=[{"name": "EmptyNodes"}])
    now = make_plan(among, asked, CycleOptions(FakeClock()))
    then = make_plan(among, with_surge_for_the_rest(asked) or asked, CycleOptions(FakeClock()))
    assert gained_by_surge(now, then) == (
        "if a rule named all pods that can move by surge: EmptyNodes would empty 1 node more",
    )
    assert gained_by_surge(now, now) == ()


def test_a_move_by_surge_is_told_as_one() -> None:
    """In the sentence, in the reason, and in the price."""
    among = kept_by_budgets()
    move = structs.replace(small_plan().moves[0], pod=reference("a-h1-0"), method=MoveMethod.SURGE)
    plan = small_plan(moves=(move,), placements=())
    answer = of_pod("a-h1-0", plan, among)
    assert answer.message.startswith("moves by surge from n1 to n2 in wave 1")
    assert why(move).endswith("(by surge: its replacement is Ready first)")
    assert next(price_lines(price_of(plan))) == "Price: 1 eviction in 1 wave; 1 of them by surge"
