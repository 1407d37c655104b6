"""What a cluster costs, by whom, and what each rule costs: confirmed by planning again without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import UNSET

from rescheduler.composition.costing.costing import costs_of
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.costs import Costs, RuleCost
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.policy import Policy
from tests.builders import PLENTY, budget, cluster, node, pod, workload
from tests.clocks import FakeClock

PRICE = "example.com/price"
NO_DISRUPTION = {"karpenter.sh/do-not-disrupt": "true"}


def policy(**fields: Any) -> Policy:
    """A label of nodes is their price a month; everything else as it is by default."""
    prices = {"label": PRICE, "per": "month"}
    limits = {"deadline": PLENTY}
    more = {"disruption": {"workloads": {"max_unavailable": 9}}, "objectives": ({"name": "EmptyNodes"},)}
    return Policy.model_validate({"prices": prices, "limits": limits, **more, **fields})


def costs(seen: Cluster, asked: Policy) -> Costs:
    """What ``costs`` tells."""
    return costs_of(seen, asked, CycleOptions(FakeClock()))


def saving(seen: Cluster, asked: Policy) -> float:
    """What a plan saves."""
    found = make_plan(seen, asked, CycleOptions(FakeClock()))
    assert found.cost is not UNSET
    return found.cost.saving  # type: ignore[union-attr]


def world(**marks: Any) -> Cluster:
    """Nodes of 8 CPUs; a and b hold one pod of cart each, c one of web and d room for all."""
    nodes = [
        node(name, "8", labels={PRICE: price}) for name, price in zip("abcd", ("100", "60", "20", "5"), strict=True)
    ]
    pods = [pod("cart-0", "2", node="a", **marks), pod("cart-1", "2", node="b", **marks), pod("web-0", "1", node="c")]
    more = [pod("web-1", "1", node="d")]
    return cluster(*nodes, *pods, *more, workload("cart", 2), workload("web", 2))


def test_a_budget_that_keeps_nodes_costs_what_a_plan_without_it_saves() -> None:
    """Of the two nodes 155 a month, for the pods then fill a cheap one: proven, and confirmed by planning again."""
    seen = replace(world(), budgets=(budget("cart", 0, expected_pods=2),))
    found = costs(seen, policy())
    assert found.rules == (RuleCost("PodDisruptionBudget", "default/cart", 2, 2, 155, 155),)
    assert saving(replace(seen, budgets=()), policy()) - saving(seen, policy()) == 155


def test_marks_are_counted_by_the_owner_of_the_pods() -> None:
    """The annotation of a workload's pods is one rule."""
    found = costs(world(annotations=NO_DISRUPTION), policy())
    assert found.rules == (RuleCost("DoNotDisrupt", "ReplicaSet default/cart", 2, 2, 155, 155),)


def test_a_field_of_the_policy_is_a_rule() -> None:
    """Single replicas stay by default, and that keeps a node."""
    nodes = [node(name, labels={PRICE: "10"}) for name in "ab"]
    seen = cluster(*nodes, pod("one-0", node="a"), pod("two-0", node="b"), workload("one", 1), workload("two", 1))
    found = costs(seen, policy())
    assert found.rules == (RuleCost("SingleReplica", "disruption.singleReplicas", 2, 2, 10, 10),)


def test_a_limit_is_a_rule() -> None:
    """One eviction is allowed, where three would save the most."""
    asked = policy(limits={"max_evictions": 1, "deadline": PLENTY})
    found = costs(world(), asked)
    (rule,) = found.rules
    assert (rule.rule, rule.object, rule.saving, rule.at_most) == ("Limit", "limits.maxEvictions", 80, 80)


def test_a_rule_beside_another_that_keeps_the_same_node_costs_nothing() -> None:
    """Without the budget the annotation still keeps the nodes, so neither of both alone costs anything."""
    seen = replace(world(annotations=NO_DISRUPTION), budgets=(budget("cart", 0, expected_pods=2),))
    assert costs(seen, policy()).rules == ()


def test_who_pays_and_what_is_idle_sum_up_to_the_fleet() -> None:
    """Of each node the greater of the shares of CPU and memory; what nobody asks for is idle."""
    found = costs(world(), policy())
    paid = sum(one.cost for one in found.by_owner)
    assert found.cost.before == 185
    assert paid + found.idle == pytest.approx(185, abs=0.02)
    assert sum(one.cost for one in found.by_namespace) == pytest.approx(paid, abs=0.02)
    assert [(one.name, one.pods, one.cost) for one in found.by_owner] == [
        ("ReplicaSet default/cart", 2, 40),
        ("ReplicaSet default/web", 2, 3.12),
    ]
    assert [(one.name, one.nodes, one.cost) for one in found.by_pool] == [("none", 4, 185)]


def test_a_cluster_without_any_price_has_no_costs() -> None:
    """It says so."""
    with pytest.raises(ReschedulerError, match="no node has a price"):
        costs(cluster(node("a")), policy())
