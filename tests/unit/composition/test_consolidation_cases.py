"""Where an autoscaler's consolidation comes to fewer or cheaper nodes, so do we, or a rule says why not; as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from msgspec import UNSET

from rescheduler.composition.replacing import NodesToReplace, plan_replacement
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.model.objects.resources import resources
from rescheduler.model.plan.plan import Plan
from rescheduler.model.plan.what_if import WhatIf
from rescheduler.model.prices import PriceRow, PriceTable
from rescheduler.policy.fields.policy import Policy
from tests.builders import PLENTY, budget, cluster, node, pod, selector, taint, workload
from tests.clocks import FakeClock

TYPE, HOST, ZONE = "node.kubernetes.io/instance-type", "kubernetes.io/hostname", "topology.kubernetes.io/zone"
TYPES = {"large": (8.0, 8), "medium": (4.0, 4), "small": (2.0, 2)}
"""Price a month, and CPUs."""
DO_NOT_DISRUPT = {"karpenter.sh/do-not-disrupt": "true"}


def policy() -> Policy:
    """Prices, and limits that keep nobody."""
    given = {
        "objectives": [{"name": "EmptyNodes"}],
        "disruption": {"workloads": {"max_unavailable": 99}, "single_replicas": "Allow"},
        "limits": {"deadline": f"{PLENTY:.0f}s"},
        "prices": {"file": "prices.json"},
    }
    read = Policy.model_validate(given, strict=False)
    rows = [
        PriceRow((name, None, None, None), price, resources({"cpu": cpu * 1000, "memory": cpu * 2**32}.items()))
        for name, (price, cpu) in TYPES.items()
    ]
    return read.model_copy(update={"prices": read.prices.with_table(PriceTable(rows, "USD", "month"))})


def machine(name: str, kind: str, **fields: Any) -> Any:
    """A node of a type of the table."""
    cpu = TYPES[kind][1]
    return node(name, str(cpu), f"{cpu * 4}Gi", labels={TYPE: kind}, **fields)


def web(cpu: str, on: str, **fields: Any) -> list[Any]:
    """Pods of one workload, on a node for each letter, and their owner."""
    pods = [pod(f"web-{number}", cpu, node=where, **fields) for number, where in enumerate(on)]
    return [*pods, workload("web", len(on))]


@dataclass(frozen=True)
class Case:
    """``gone``: nodes that EmptyNodes empties; ``rule``: what keeps those that are not.

    ``replaced`` and ``bought``: what replaces these nodes, asked for together; None: nothing cheaper does.
    """

    world: Cluster
    gone: frozenset[str] = frozenset()
    rule: str = ""
    replaced: tuple[str, ...] = ()
    bought: tuple[str, ...] | None = None


LARGES = [machine(name, "large") for name in "ab"]
APART = (PodAffinityTerm(HOST, selector(app="web")),)
SPREAD = (TopologySpreadConstraint(ZONE, 1, selector=selector(app="web")),)
CASES = {
    "a node whose pods fit on another goes": Case(cluster(*LARGES, *web("2", "aab")), frozenset("b")),
    "one whose pods fit nowhere else stays": Case(cluster(*LARGES, *web("3", "aabb"))),
    "of two that could go the dearer one does": Case(
        cluster(machine("a", "medium"), machine("b", "large"), *web("1", "ab")), frozenset("b")
    ),
    "room of a node that nobody sells counts too": Case(
        cluster(machine("a", "large"), machine("b", "small", annotations=DO_NOT_DISRUPT), *web("1", "a")),
        frozenset("a"), "KeptNode",
    ),
    "a node that nobody may take stays": Case(
        cluster(machine("a", "large", annotations=DO_NOT_DISRUPT), machine("b", "small"), *web("1", "ab")),
        frozenset("b"), "KeptNode",
    ),
    "a pod that may not be disrupted keeps its node": Case(
        cluster(*LARGES, *web("1", "ab", annotations=DO_NOT_DISRUPT)), rule="DoNotDisrupt"
    ),
    "a budget that allows nothing keeps nodes": Case(
        cluster(*LARGES, *web("1", "ab"), budget("web", 0)), rule="PodDisruptionBudget"
    ),
    "pods without an owner keep their node": Case(
        cluster(*LARGES, pod("lone-0", "1", node="a", owner=None), pod("lone-1", "1", node="b", owner=None)),
        rule="Ownerless",
    ),
    "pods that may not meet stay apart": Case(cluster(*LARGES, *web("1", "ab", anti_affinity=APART))),
    "spread over zones is kept": Case(
        cluster(
            *(machine(name, "large", zone=f"zone-{name}") for name in "ab"), *web("1", "ab", topology_spread=SPREAD)
        )
    ),
    "a node that is not there yet is no room": Case(
        cluster(
            machine("a", "large"), machine("b", "large", taints=[taint("karpenter.sh/unregistered")]), *web("1", "a")
        )
    ),
    "a node that is about to go is no room": Case(
        cluster(machine("a", "large"), machine("b", "large", taints=[taint("karpenter.sh/disrupted")]), *web("1", "a"))
    ),
    "a cheaper machine replaces a node": Case(
        cluster(machine("a", "large"), *web("1500m", "a")), replaced=("a",), bought=("small",)
    ),
    "nothing replaces the cheapest one": Case(cluster(machine("a", "small"), *web("1500m", "a")), replaced=("a",)),
    "three become one": Case(
        cluster(*(machine(name, "medium") for name in "abc"), *web("2500m", "abc")),
        replaced=("a", "b", "c"), bought=("large",),
    ),
    "two do not become one that costs as much": Case(
        cluster(*(machine(name, "medium") for name in "ab"), *web("3", "ab")), replaced=("a", "b")
    ),
    "a node selector keeps to its type": Case(
        cluster(machine("a", "large"), *web("1", "a", node_selector=((TYPE, "large"),))), replaced=("a",)
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_comes_to_the_cheaper_set_or_says_why_not(case: Case) -> None:
    """The plan was proven by the checker; what nothing could better is proven too."""
    if case.replaced:
        plan, _ = plan_replacement(case.world, policy(), NodesToReplace(case.replaced), CycleOptions(FakeClock()))
        assert isinstance(plan.what_if, WhatIf)
        assert plan.what_if.replacement is not UNSET
        assert tuple(str(item.instance_type) for item in plan.what_if.added_nodes) == (case.bought or ())
        is_cheaper = plan.what_if.replacement.new_cost is not None  # type: ignore[union-attr]
        assert is_cheaper == (case.bought is not None)
    else:
        plan = make_plan(case.world, policy(), CycleOptions(FakeClock()))
        assert emptied(plan, case.world) == case.gone
        assert {item.rule for item in plan.refusals} >= ({case.rule} if case.rule else set())
    [objective] = plan.objectives
    assert objective.value == objective.bound
    assert not [text for text in plan.warnings if "checker" in text]


def emptied(plan: Plan, world: Cluster) -> frozenset[str]:
    """Nodes that pods were on, and none is on in the end."""
    at = {item.key: item.node_name for item in world.pods} | {move.pod.key: move.to_node for move in plan.moves}
    return frozenset(str(item.node_name) for item in world.pods) - frozenset(map(str, at.values()))
