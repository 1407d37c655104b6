"""A cluster's pods, machines and room as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from rescheduler.composition.what_if import AskingWhatIf, NodeChange
from rescheduler.cycle import CycleOptions
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.planning.replacement.replacement_problem import ReplacementProblem, replacement_problem
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, selector, taint, workload
from tests.clocks import FakeClock


def seen(world: Cluster, *, as_it_stands: bool = False) -> ReplacementProblem:
    """Pods leave ``old``, nodes called ``machine-…`` can be bought, the others stay."""
    change = NodeChange(("old",))
    asking = AskingWhatIf(Policy(), change, CycleOptions(FakeClock()))
    eligibility, model = asking.prediction(world)
    names = [item.name for item in model.columns.cluster.nodes]
    machines = [row for row, name in enumerate(names) if name.startswith("machine")]
    stay = [row for row, name in enumerate(names) if name.startswith("stays")]
    pods = [model.columns.pod_index[item.key] for item in world.pods_by_node["old"]]
    count = len(machines)
    return replacement_problem(
        model, eligibility, pods, machines, stay, np.ones(count), np.arange(count), as_it_stands=as_it_stands
    )


def with_old(*more: Any, **fields: Any) -> Cluster:
    """Two pods of 1500m on a node that goes."""
    pods = [pod(f"web-{number}", "1500m", node="old", **fields) for number in range(2)]
    return cluster(node("old"), *pods, workload("web", 3), *more)


def test_rooms_hold_what_they_have_room_for() -> None:
    """Of machines all of it, of nodes that stay what is free."""
    problem = seen(with_old(node("machine-1"), node("stays-1"), pod("other-0", "2", node="stays-1")))
    assert problem.count.tolist() == [2]
    assert problem.most_on_machine.tolist() == [[2]]
    assert problem.most_on_node.tolist() == [[1]]
    assert problem.node_room[0, 0] == 2000
    assert problem.without_nodes().node_room.shape[0] == 0


def test_nodes_whose_rules_keep_pods_off_take_none() -> None:
    """Taints of a machine, and of a node that stays."""
    closed = node("machine-1", taints=[taint("dedicated")]), node("stays-1", taints=[taint("dedicated")])
    problem = seen(with_old(*closed))
    assert (problem.most_on_machine.tolist(), problem.most_on_node.tolist()) == ([[0]], [[0]])


def test_pods_that_may_not_meet_take_a_room_each() -> None:
    """Those of anti-affinity by host among each other."""
    apart = (PodAffinityTerm("kubernetes.io/hostname", selector(app="web")),)
    problem = seen(with_old(node("machine-1"), anti_affinity=apart))
    assert problem.most_on_machine.tolist() == [[1]]


def test_pods_that_stay_keep_others_off() -> None:
    """Those of the same rule on a node that stays; those that leave with them do not."""
    apart = (PodAffinityTerm("kubernetes.io/hostname", selector(app="web")),)
    staying = pod("web-2", "1", node="stays-1", anti_affinity=apart)
    world = with_old(node("machine-1"), node("stays-1"), node("stays-2"), staying, anti_affinity=apart)
    assert seen(world).most_on_node.tolist() == [[0, 1]]


def test_rules_that_may_still_change_bind_only_as_it_stands() -> None:
    """An affinity may be met once others have moved, and closes nodes only for the careful question."""
    near = (PodAffinityTerm("kubernetes.io/hostname", selector(app="web")),)
    world = with_old(node("machine-1"), node("stays-1"), affinity=near)
    assert seen(world).most_on_node.tolist() == [[2]]
    assert seen(world, as_it_stands=True).most_on_node.tolist() == [[0]]
