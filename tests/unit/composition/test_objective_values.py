"""What objectives are worth as a cluster stands: lower is better, and what a plan repairs makes them better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rescheduler.composition.objective_values import objective_values
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.policy.fields.objectives import ANTAGONISTS_LABEL, ARGUMENTS
from rescheduler.policy.fields.policy import Objective, Policy
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import cluster, node, pod, taint, workload
from tests.unit.daemon.triggers.loads import load


def value(world: Cluster, name: str, usage: Any = None, **args: Any) -> float:
    """The value of a policy's one objective."""
    policy = Policy(objectives=(Objective(name=name, args=args),))
    values: Mapping[str, float] = objective_values(world, policy, DEFAULTS, usage)
    assert set(values) == {name}
    return values[name]


def test_every_objective_has_a_value() -> None:
    """Of a cluster without anything too; those that were asked for alone."""
    args = {"Defragment": {"shapes": [{"cpu": "1"}]}}
    objectives = tuple(Objective(name=name, args=args.get(name, {})) for name in ARGUMENTS)
    policy = Policy(objectives=objectives)
    assert objective_values(cluster(), policy, DEFAULTS, None) == dict.fromkeys(ARGUMENTS, 0.0)
    assert set(objective_values(cluster(), policy, DEFAULTS, None, ["MakeRoom"])) == {"MakeRoom"}


def test_make_room_counts_pods_that_may_be_helped() -> None:
    """Not the gated, nor those of a scheduler that nobody knows."""
    waiting = (pod("a-1"), pod("b-1"), pod("c-1", scheduling_gates=("x",)), pod("d-1", scheduler_name="other"))
    assert value(cluster(node("n1"), *waiting), "MakeRoom") == 2


def test_empty_nodes_adds_up_the_price_of_nodes_in_use() -> None:
    """Pods of a DaemonSet use none; nodes that it may not empty do not count."""
    nodes = [node(f"n{number}", labels={"size": size}) for number, size in enumerate(["small", "large", "large"])]
    pods = [pod("a-1", node="n0"), pod("b-1", node="n1"), pod("c-1", node="n2", kind="DaemonSet")]
    world = cluster(*nodes, *pods)
    assert value(world, "EmptyNodes") == 2
    price = {"label": "size", "table": {"small": 1.5, "large": 4.0}}
    assert value(world, "EmptyNodes", price=price) == 5.5
    assert value(world, "EmptyNodes", price=price, nodeSelector={"size": "small"}) == 1.5


def test_spread_load_goes_by_measured_use_where_there_is_any() -> None:
    """Else by requests."""
    world = cluster(node("n1"), node("n2"), pod("a-1", "1", node="n1"), pod("b-1", "1", node="n2"))
    assert value(world, "SpreadLoad", target={"cpu": 0.7}) == 0
    measured = UsageWindows({300.0: load(0, [90, 10]).by_seconds[300.0]})
    assert value(world, "SpreadLoad", measured, target={"cpu": 0.7}) == pytest.approx(0.2)
    assert value(world, "SpreadLoad", target={"cpu": 0.2}) == pytest.approx(0.1)


def test_separate_antagonists_counts_pairs() -> None:
    """Three pods of one mark on one node are three pairs."""
    marked = [pod(f"{name}-1", node="n1", labels={ANTAGONISTS_LABEL: "x"}) for name in "abc"]
    assert value(cluster(node("n1"), *marked), "SeparateAntagonists") == 3


def test_fault_domains_counts_violations() -> None:
    """A pod on a node whose taint it does not tolerate."""
    world = cluster(node("n1", taints=[taint("mine")]), pod("a-1", node="n1"))
    assert value(world, "FaultDomains") == 1


def test_defragment_is_better_the_more_fits() -> None:
    """Weights count."""
    shapes = [{"cpu": "2", "weight": 3}]
    free = cluster(node("n1", cpu="4"), node("n2", cpu="4"))
    used = cluster(node("n1", cpu="4"), node("n2", cpu="4"), *(pod(f"{n}-1", node=n) for n in ("n1", "n2")))
    assert value(free, "Defragment", shapes=shapes) == -12
    assert value(used, "Defragment", shapes=shapes) == -6


def test_scheduler_score_adds_up_what_moves_would_gain() -> None:
    """Two pods on one node beside an empty one would be placed elsewhere now; it is an estimate."""
    pods = [pod(f"a-{number}", "1500m", "6Gi", node="n1") for number in (1, 2)]
    crowded = cluster(node("n1"), node("n2"), *pods, workload("a", 2))
    assert value(crowded, "SchedulerScore", minimumGain=1e6) == 0
    spread = cluster(node("n1"), node("n2"), pods[0], pod("a-2", "1500m", "6Gi", node="n2"), workload("a", 2))
    assert value(crowded, "SchedulerScore") > value(spread, "SchedulerScore")
