"""Tests of "could this node go?" and "would one more of these help?"."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET, structs

from rescheduler.composition.what_if import NodeChange, plan_what_if
from rescheduler.cycle import CycleOptions
from rescheduler.explain import NotInClusterError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import resources
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan
from rescheduler.model.plan.what_if import NodeShape, WhatIf
from rescheduler.policy.fields.policy import Objective, Policy
from tests.builders import PLENTY, budget, cluster, node, pod, taint, workload
from tests.clocks import FakeClock

SHAPE = NodeShape(resources=resources({"cpu": 4000, "memory": 16 * 2**30}.items()))


def answer(world: Cluster, change: NodeChange, selection: Selection | None = None, **policy: Any) -> Plan:
    """The plan of a question, under a policy that lets much move."""
    given = {"disruption": {"workloads": {"max_unavailable": 5}}, "limits": {"deadline": f"{PLENTY:.0f}s"}, **policy}
    rules = Policy.model_validate(given, strict=False)
    plan, _ = plan_what_if(world, rules, change, CycleOptions(FakeClock(), selection=selection or Selection()))
    assert not [text for text in plan.warnings if "checker" in text]
    return plan


def three_nodes(*more: Any) -> Cluster:
    """Three nodes of 4 cpu: one pod of 1 cpu on a, two on b, one on c."""
    pods = [pod(f"web-{number}", "1", node=where) for number, where in enumerate("abbc")]
    return cluster(*(node(name) for name in "abc"), *pods, workload("web", 4), *more)


def test_a_node_whose_pods_find_room_could_go() -> None:
    """The plan empties it and nothing else, and may be carried out."""
    plan = answer(three_nodes(), NodeChange(removed=("a",)))
    [objective] = plan.objectives
    assert (objective.name, objective.status.value, objective.value) == ("EmptyNodes", "OPTIMAL", 1)
    assert objective.message.startswith("a could go: 1 pod moves elsewhere; ")
    assert {move.from_node for move in plan.moves} == {"a"}
    assert isinstance(plan.what_if, WhatIf)
    assert (plan.what_if.removed_nodes, plan.what_if.added_nodes) == (("a",), ())


def test_nodes_that_go_together_do_not_receive_each_others_pods() -> None:
    """Both at once, or as many as can be."""
    plan = answer(three_nodes(), NodeChange(removed=("a", "c")))
    assert plan.objectives[0].status.value == "OPTIMAL"
    assert {(move.from_node, move.to_node) for move in plan.moves} == {("a", "b"), ("c", "b")}
    crowded = answer(three_nodes(), NodeChange(removed=("a", "b", "c")))
    assert crowded.objectives[0].status.value == "INFEASIBLE"
    assert (crowded.moves, crowded.objectives[0].value) == ((), 0)


def test_an_empty_node_could_go_at_once() -> None:
    """Pods that belong to it do not count."""
    world = three_nodes(node("d"), pod("agent-0", node="d", kind="DaemonSet"))
    plan = answer(world, NodeChange(removed=("d",)))
    assert plan.objectives[0].status.value == "OPTIMAL"
    assert plan.objectives[0].message.startswith("d could go: it is empty already")
    assert plan.moves == ()


@pytest.mark.parametrize(
    ("more", "rule", "told"),
    [
        ((pod("lone-0", node="a", owner=None),), "Ownerless", "1 of 2 pods must stay (1 by Ownerless)"),
        ((pod("db-0", node="a"), pod("db-1", node="b"), workload("db", 2), budget("db", 0)), "PodDisruptionBudget",
         "1 of 2 pods must stay (1 by PodDisruptionBudget)"),
        ((pod("tied-0", node="a", node_selector=(("kubernetes.io/hostname", "a"),)), pod("tied-1", node="b"),
          workload("tied", 2)), "NoRoom",
         "1 of 2 pods fits on no other node"),
    ],
    ids=["ownerless", "budget", "no room"],
)  # fmt: skip
def test_a_node_that_could_not_go_says_which_pods_keep_it(more: tuple[Any, ...], rule: str, told: str) -> None:
    """Each with its reason, in the message and among the refusals."""
    plan = answer(three_nodes(*more), NodeChange(removed=("a",)))
    [objective] = plan.objectives
    assert (objective.status.value, plan.moves) == ("INFEASIBLE", ())
    assert objective.message.startswith(f"a could not go: {told}; ")
    [found] = [item for item in plan.refusals if item.pod is not UNSET]
    assert found.rule == rule


def test_a_limit_may_keep_a_node() -> None:
    """Its pods might leave, but not within the limits; the message names what binds."""
    plan = answer(three_nodes(), NodeChange(removed=("b",)), limits={"max_evictions": 1, "deadline": f"{PLENTY:.0f}s"})
    assert plan.objectives[0].status.value == "INFEASIBLE"
    assert plan.objectives[0].message.startswith("b could not go: its pods do not all leave within room and limits; ")
    assert "limits.maxEvictions" in plan.objectives[0].message


def test_a_marked_node_is_left_to_its_autoscaler() -> None:
    """It goes anyway."""
    leaving = structs.replace(node("a"), taints=(taint("ToBeDeletedByClusterAutoscaler"),))
    world = cluster(leaving, node("b"), pod("web-0", node="a"), pod("web-1", node="b"), workload("web", 2))
    plan = answer(world, NodeChange(removed=("a",)))
    assert "a could not go: it an autoscaler is about to remove" in plan.objectives[0].message


def full(*more: Any) -> Cluster:
    """Two full nodes and two pods that wait."""
    pods = [pod(f"web-{number}", "2", node=where) for number, where in enumerate("aabb")]
    return cluster(node("a"), node("b"), *pods, workload("web", 4), pod("big-0", "3"), pod("big-1", "3"), *more)


def test_a_node_that_helps_is_named_so_that_nobody_takes_it_for_a_real_one() -> None:
    """What it brings is told against what there is without it, and by scheduling alone."""
    plan = answer(full(), NodeChange(added=(SHAPE,)))
    [objective] = plan.objectives
    assert (objective.helped, objective.wanted) == (1, 2)
    assert objective.message.startswith(
        "added-1 would help 1 more pending pod: 1 of 2 get a place by 0 evictions, 1 by scheduling alone; "
        "without it 0 by 0 evictions; "
    )
    assert [place.node for place in plan.placements] == ["added-1"]
    assert isinstance(plan.what_if, WhatIf)
    assert plan.what_if.added_nodes[0].allocatable == {"cpu": "4", "memory": "16Gi", "pods": "110"}
    assert "added-1 exists in this plan only, which cannot be carried out" in plan.warnings


def test_moves_count_beside_plain_scheduling() -> None:
    """A new node that the pod itself may not use takes those that stand in its way."""
    world = cluster(
        node("a"), *(pod(f"web-{number}", "2", node="a") for number in range(2)), workload("web", 2),
        pod("big-0", "4", node_selector=(("kubernetes.io/hostname", "a"),)),
    )  # fmt: skip
    plan = answer(world, NodeChange(added=(SHAPE,)))
    assert plan.objectives[0].message.startswith(
        "added-1 would help 1 more pending pod: 1 of 1 get a place by 2 evictions, 0 by scheduling alone"
    )
    assert {move.to_node for move in plan.moves} == {"added-1"}


def test_a_node_may_spare_evictions_or_not_help() -> None:
    """Both are said."""
    spare = cluster(
        node("a"), node("b"), *(pod(f"web-{n}", "1", node=where) for n, where in enumerate("aabb")),
        workload("web", 4), pod("big-0", "3"),
    )  # fmt: skip
    plan = answer(spare, NodeChange(added=(SHAPE,)))
    assert plan.objectives[0].message.startswith("added-1 would spare 1 eviction: ")
    small = NodeShape(2, resources=resources({"cpu": 500, "memory": 2**30}.items()))
    plan = answer(full(), NodeChange(added=(small,)))
    assert plan.objectives[0].message.startswith("added-1, added-2 would not help: ")


def test_a_node_like_another_has_its_labels_and_not_its_troubles() -> None:
    """Nor the room that pods of every node take; a name that is taken is not used again."""
    model = structs.replace(
        node("a", labels={"pool": "x"}, taints=[taint("dedicated"), taint("node.kubernetes.io/unreachable")]),
        is_unschedulable=True,
    )
    wanting = pod("big-0", "3", node_selector=(("pool", "x"),), tolerations=())
    world = cluster(model, node("added-1"), pod("agent-0", "1500m", node="a", kind="DaemonSet"), wanting)
    plan = answer(world, NodeChange(added=(NodeShape(like="a"),)))
    assert isinstance(plan.what_if, WhatIf)
    [added] = plan.what_if.added_nodes
    assert (added.name, added.like, added.node_pods) == ("added-2", "a", 1)
    assert added.allocatable == {"cpu": "2.5", "memory": "15Gi", "pods": "109"}
    assert plan.objectives[0].helped == 0


def test_pods_of_every_node_come_to_a_plain_shape_too() -> None:
    """Of DaemonSets that run on each open node; others are not known to come."""
    agents = [pod(f"agent-{name}", "1", node=name, owner="agent", kind="DaemonSet") for name in "ab"]
    some = pod("gpu-a", "1", node="a", owner="gpu", kind="DaemonSet")
    plan = answer(cluster(node("a"), node("b"), *agents, some, pod("big-0", "3500m")), NodeChange(added=(SHAPE,)))
    assert isinstance(plan.what_if, WhatIf)
    assert (plan.what_if.added_nodes[0].allocatable["cpu"], plan.what_if.added_nodes[0].node_pods) == ("3", 1)


def test_both_ask_whether_one_could_replace_another() -> None:
    """With what would be without it."""
    world = cluster(node("a"), pod("web-0", "1", node="a"), pod("web-1", "1", node="a"), workload("web", 2))
    plan = answer(world, NodeChange(removed=("a",), added=(SHAPE,)))
    assert plan.objectives[0].message.startswith(
        "a could go: 2 pods move elsewhere; without added-1 0 of 1 node would be emptied; "
    )
    assert {move.to_node for move in plan.moves} == {"added-1"}


def test_other_objectives_may_be_asked_for() -> None:
    """Then they are planned for as they are."""
    objectives = (Objective(name="EmptyNodes"),)
    plan = answer(three_nodes(), NodeChange(added=(SHAPE,), keeps_objectives=True), objectives=objectives)
    assert [item.name for item in plan.objectives] == ["EmptyNodes"]


def test_unknown_nodes_are_refused_with_a_hint() -> None:
    """Whichever way they are named."""
    with pytest.raises(NotInClusterError, match=r"no node worker-l; did you mean worker-1\?"):
        answer(cluster(node("worker-1")), NodeChange(removed=("worker-l",)))
    with pytest.raises(NotInClusterError, match="no node z"):
        answer(three_nodes(), NodeChange(added=(NodeShape(like="z"),)))


def test_an_empty_cluster_takes_an_added_node() -> None:
    """The first node of all."""
    plan = answer(cluster(pod("big-0", "3")), NodeChange(added=(SHAPE,)))
    assert plan.objectives[0].helped == 1
