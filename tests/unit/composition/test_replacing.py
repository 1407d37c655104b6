"""Tests of "which cheaper machines could replace these nodes?"."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET, structs

from rescheduler.composition.replacing import NodesToReplace, plan_replacement, told_what_is_asked
from rescheduler.composition.what_if import NodeChange, plan_what_if
from rescheduler.cycle import CycleOptions
from rescheduler.explain import NotInClusterError
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.objects.resources import resources
from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.plan import ObjectiveResult, Plan
from rescheduler.model.plan.what_if import NodeReplacement, NodeShape, WhatIf
from rescheduler.model.prices import PriceRow, PriceTable
from rescheduler.policy.fields.policy import Policy
from tests.builders import PLENTY, budget, cluster, node, pod, selector, taint, workload
from tests.clocks import FakeClock

TYPE, POOL = "node.kubernetes.io/instance-type", "karpenter.sh/nodepool"
SIZES = {"big": (10.0, 16), "mid": (4.0, 8), "small": (1.5, 4), "tiny": (0.9, 2)}


def policy(**fields: Any) -> Policy:
    """One with four types in its table, at a price a month, that lets much move."""
    given = {"disruption": {"workloads": {"max_unavailable": 99}}, "limits": {"deadline": f"{PLENTY:.0f}s"}, **fields}
    read = Policy.model_validate({"prices": {"file": "prices.json"}, **given}, strict=False)
    rows = [
        PriceRow((name, None, None, None), price, resources({"cpu": cpu * 1000, "memory": cpu * 2**32}.items()))
        for name, (price, cpu) in SIZES.items()
    ]
    return read.model_copy(update={"prices": read.prices.with_table(PriceTable(rows, "USD", "month"))})


def of_type(name: str, kind: str, pool: str = "web", **fields: Any) -> Any:
    """A node of a type of the table."""
    cpu = SIZES[kind][1]
    return node(name, str(cpu), f"{cpu * 4}Gi", labels={TYPE: kind, POOL: pool}, **fields)


def answer(world: Cluster, *names: str, pools: tuple[str, ...] = (), **fields: Any) -> Plan:
    """The plan of a question; it was proven by the checker."""
    wanted = NodesToReplace(names, pools)
    plan, imagined = plan_replacement(world, policy(**fields), wanted, CycleOptions(FakeClock()))
    assert not [text for text in plan.warnings if "checker" in text]
    known = {item.name for item in imagined.nodes}
    assert {move.to_node for move in plan.moves} <= known
    return plan


def told(plan: Plan) -> tuple[ObjectiveResult, WhatIf, NodeReplacement, Cost]:
    """The objective, the question, its figures and the cost."""
    [objective] = plan.objectives
    assert isinstance(plan.what_if, WhatIf)
    assert isinstance(plan.what_if.replacement, NodeReplacement)
    assert isinstance(plan.cost, Cost)
    return objective, plan.what_if, plan.what_if.replacement, plan.cost


def six_pods(*more: Any, **fields: Any) -> Cluster:
    """Six pods of 1500m on a big node, and a small one with room for none of them."""
    pods = [pod(f"web-{number}", "1500m", node="a", **fields) for number in range(6)]
    return cluster(
        of_type("a", "big"), of_type("b", "small"), *pods, pod("web-6", "3", node="b"), workload("web", 7), *more
    )


def test_the_cheapest_set_replaces_a_node() -> None:
    """Proven, with the money that the plan saves; each machine is named with type and price."""
    plan = answer(six_pods(), "a")
    objective, question, figures, cost = told(plan)
    assert (objective.name, objective.status.value, objective.unit) == ("EmptyNodes", "OPTIMAL", "USD/month")
    assert (objective.value, objective.bound, objective.gap) == (5.5, 5.5, 0)
    assert objective.message.startswith("a could be replaced by 3 small (web): 4.50 USD a month in place of 10.00; ")
    assert [(item.instance_type, item.node_pool, item.price) for item in question.added_nodes] == [
        ("small", "web", 1.5)
    ] * 3
    assert (figures.old_cost, figures.new_cost, figures.least_cost) == (10.0, 4.5, 4.5)
    assert (cost.before, cost.after, cost.saving) == (11.5, 6.0, 5.5)
    assert {move.from_node for move in plan.moves} == {"a"}
    assert len(plan.moves) == 6
    assert any("exist in this plan only" in text for text in plan.warnings)


def test_what_the_plan_with_these_machines_says_is_what_a_what_if_says() -> None:
    """The same question asked by hand, with the machines that were chosen, has the same cost."""
    shapes = (NodeShape(3, place=("small", None, None, None)),)
    asked, _ = plan_what_if(six_pods(), policy(), NodeChange(("a",), shapes), CycleOptions(FakeClock()))
    assert asked.cost == answer(six_pods(), "a").cost


def test_the_room_that_there_is_needs_no_machine() -> None:
    """Then the plan is one that may be carried out."""
    plan = answer(six_pods(of_type("c", "mid")), "a", limits={"max_evictions": 10, "deadline": f"{PLENTY:.0f}s"})
    objective, question, figures, _ = told(plan)
    assert [item.instance_type for item in question.added_nodes] == ["tiny"]  # five find room on c, the sixth does not
    assert figures.new_cost == 0.9
    plan = answer(six_pods(of_type("c", "big")), "a")
    objective, question, figures, _ = told(plan)
    assert (question.added_nodes, figures.new_cost, objective.value) == ((), 0.0, 10.0)
    assert "by the room that there is, alone" in objective.message
    assert {move.to_node for move in plan.moves} == {"c"}


def test_where_nothing_is_cheaper_all_stays_as_it_is() -> None:
    """And that is proven."""
    pods = [pod(f"web-{number}", "3500m", node="a") for number in range(1)]
    plan = answer(
        cluster(of_type("a", "small"), *pods, pod("web-1", "2", node="b"), of_type("b", "tiny"), workload("web", 2)),
        "a",
    )
    objective, question, figures, cost = told(plan)
    assert (objective.status.value, objective.value, objective.bound) == ("OPTIMAL", 0.0, 0.0)
    assert objective.message.startswith("no cheaper machines found for a, 1.50 USD a month with 1 pod; ")
    assert (plan.moves, question.added_nodes, figures.new_cost, cost.saving) == ((), (), None, 0.0)


def test_nodes_are_replaced_together_or_not_at_all() -> None:
    """Two half-empty nodes by one machine."""
    pods = [pod(f"web-{number}", "1", node=where) for number, where in enumerate("aaab")]
    world = cluster(of_type("a", "mid"), of_type("b", "mid"), *pods, workload("web", 4))
    objective, question, *_ = told(answer(world, "a", "b"))
    assert [item.instance_type for item in question.added_nodes] == ["small"]
    assert objective.value == 6.5


def test_pods_that_must_stay_make_it_impossible() -> None:
    """The node is named, and each pod with its rule."""
    world = six_pods(pod("db-0", node="a"), pod("db-1", node="b"), workload("db", 2), budget("db", 0))
    plan = answer(world, "a")
    objective, *_ = told(plan)
    assert (objective.status.value, objective.value, objective.bound, plan.moves) == ("INFEASIBLE", 0.0, 0.0, ())
    assert objective.message == "a could not go: 1 of 7 pods must stay (1 by PodDisruptionBudget)"
    assert [item.rule for item in plan.refusals if item.pod is not UNSET] == ["PodDisruptionBudget"]


def test_a_node_of_a_pool_that_is_such_a_machine_already_is_one_of_them() -> None:
    """It is not bought anew: it stays with its pods, and takes others; one that was asked for by name goes."""
    pods = [pod(f"web-{number}", "1500m", node=where) for number, where in enumerate("aaaaac")]
    nodes = [of_type("a", "big"), of_type("b", "small"), of_type("c", "small"), of_type("d", "tiny")]
    world = cluster(*nodes, *pods, workload("web", 6))
    plan = answer(world, pools=("web",))
    objective, question, figures, cost = told(plan)
    assert question.removed_nodes == ("a", "d")
    assert [item.instance_type for item in question.added_nodes] == ["small"]
    assert (figures.old_cost, figures.new_cost, figures.least_cost) == (10.9, 1.5, 1.5)
    assert figures.old_prices == {"a": 10.0, "d": 0.9}
    assert objective.status.value == "OPTIMAL"
    assert (cost.before, cost.after) == (13.9, 4.5)
    assert len(plan.moves) == 5
    assert {"b", "c"} <= {text.split()[0] for text in plan.warnings if "is there already" in text}

    _, question, figures, cost = told(answer(world, "b", pools=("web",)))
    assert question.removed_nodes == ("b", "a", "d")
    assert [item.instance_type for item in question.added_nodes] == ["small", "small"]
    assert cost.after == 4.5

    plan = answer(cluster(*nodes, *pods[1:], workload("web", 5)), pools=("web",))
    _, question, figures, cost = told(plan)
    assert (question.removed_nodes, question.added_nodes) == (("a",), ())  # two small ones and the tiny one
    assert (figures.new_cost, cost.after) == (0.0, 3.9)


@pytest.mark.parametrize(
    "change",
    [
        {"is_unschedulable": True},
        {"is_ready": False},
        {"allocatable": resources({"cpu": 2000, "memory": 2**34, "pods": 110}.items())},
    ],
)
def test_a_node_that_takes_nobody_or_is_smaller_is_none_of_them(change: dict[str, Any]) -> None:
    """It goes like the others."""
    pods = [pod(f"web-{number}", "1500m", node="a") for number in range(4)]
    small = structs.replace(of_type("b", "small"), **change)
    plan = answer(cluster(of_type("a", "big"), small, *pods, workload("web", 4)), pools=("web",))
    _, question, figures, _ = told(plan)
    assert question.removed_nodes == ("a", "b")
    assert [item.instance_type for item in question.added_nodes] == ["small", "small"]
    assert figures.new_cost == 3.0


def test_of_a_pool_the_nodes_go_whose_pods_may() -> None:
    """The others are told; a pool of which no node can go is refused, and one that there is not."""
    lonely = of_type("c", "big"), pod("lone-0", node="c", owner=None)
    leaving = of_type("d", "big", taints=[taint("karpenter.sh/disrupted")])
    plan = answer(six_pods(*lonely, leaving, of_type("e", "big", pool="other")), pools=("web",))
    _, question, *_ = told(plan)
    assert question.removed_nodes == ("a", "b")
    assert "c is not replaced: 1 of 1 pod must stay (1 by Ownerless)" in plan.warnings
    with pytest.raises(
        ReschedulerError, match=r"each node has pods that may not be moved: c is not replaced: 1 of 1 pod"
    ):
        answer(cluster(*lonely), pools=("web",))
    with pytest.raises(ReschedulerError, match="--replace-pool gone: no node that stays is of this NodePool"):
        answer(six_pods(), pools=("gone",))


def test_pods_that_may_not_meet_need_a_machine_of_their_own() -> None:
    """Though there is room where the other one is; and that is proven."""
    apart = (PodAffinityTerm("kubernetes.io/hostname", selector(app="web")),)
    pods = [pod(f"web-{number}", "1", node="ab"[number], anti_affinity=apart) for number in range(2)]
    plan = answer(cluster(of_type("a", "mid"), of_type("b", "mid"), *pods, workload("web", 2)), "a")
    objective, question, *_ = told(plan)
    assert [item.instance_type for item in question.added_nodes] == ["tiny"]
    assert (objective.status.value, objective.value) == ("OPTIMAL", 3.1)


def test_rules_that_room_does_not_tell_are_met_by_another_choice() -> None:
    """Pods that want to be near one that stays elsewhere: the bound holds, and the plan is proven by the checker."""
    apart = (PodAffinityTerm("topology.kubernetes.io/zone", selector(app="db")),)
    nodes = of_type("a", "mid", zone="x"), of_type("b", "mid", zone="y"), of_type("c", "tiny", zone="y")
    pods = pod("web-0", "1", node="a", anti_affinity=apart), pod("db-0", "1", node="b"), pod("web-1", "1", node="c")
    plan = answer(cluster(*nodes, *pods, workload("web", 2), workload("db", 1)), "a")
    objective, question, figures, _ = told(plan)
    assert (objective.status.value, figures.new_cost, figures.least_cost) == ("FEASIBLE", 0.9, 0.0)
    assert [(item.instance_type, item.zone) for item in question.added_nodes] == [("tiny", "x")]


def test_moves_must_be_worth_it() -> None:
    """``moveCost`` and margin of the policy's EmptyNodes are taken off what is saved."""
    objectives = ({"name": "EmptyNodes", "move_cost": 0.9},)
    objective, *_ = told(answer(six_pods(), "a", objectives=objectives))
    assert objective.value == 5.5
    limits = {"margin": 0.1, "deadline": f"{PLENTY:.0f}s"}
    plan = answer(six_pods(), "a", objectives=objectives, limits=limits)
    objective, *_ = told(plan)
    assert (objective.status.value, objective.value, objective.bound, plan.moves) == ("FEASIBLE", 0.0, 5.5, ())
    assert "what would be saved is worth less than the moves (0.99 each" in objective.message


def test_a_limit_that_binds_is_named() -> None:
    """And nothing is half done."""
    plan = answer(six_pods(), "a", limits={"max_evictions": 3, "deadline": f"{PLENTY:.0f}s"})
    objective, *_ = told(plan)
    assert (objective.value, objective.bound, plan.moves) == (0.0, 5.5, ())
    assert "a could not go: its pods do not all leave within room and limits" in objective.message


def test_what_cannot_be_asked_says_why() -> None:
    """A node that there is not, and one without a price."""
    with pytest.raises(NotInClusterError, match="no node z"):
        answer(six_pods(), "z")
    with pytest.raises(ReschedulerError, match="node c has no price"):
        answer(six_pods(node("c"), pod("web-9", node="c")), "a", "c")


def test_what_would_be_asked_for_is_told_with_the_nodes_that_are_filled_meanwhile() -> None:
    """One line for each machine, and one for a node of its type that stands empty."""
    pods = [pod(f"web-{number}", "1500m", node="a") for number in range(6)]
    world = cluster(of_type("a", "big"), of_type("b", "small", "other"), *pods, workload("web", 6))
    plan = answer(world, "a")
    lines = told_what_is_asked(plan, world, policy()).warnings[len(plan.warnings) :]
    assert [text.split(":")[0] for text in lines if "asks for" in text] == [
        "apply --buy asks for added-1",
        "apply --buy asks for added-2",
    ]
    assert not [text for text in lines if "fills" in text]  # b, of another pool, takes two pods

    world = cluster(*world.nodes, of_type("c", "small", taints=[taint("team")]), *pods, workload("web", 6))
    lines = told_what_is_asked(plan, world, policy()).warnings[len(plan.warnings) :]
    assert [text for text in lines if text.startswith("apply --buy fills node c with a placeholder")]
