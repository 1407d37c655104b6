"""Tests of Karpenter's NodePools as the API tells them."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node_pool import NodePool, PoolBudget
from tests.unit.adapters.api_objects import api_object, list_of, node_object, read


def seen_with(disruption: Any = None, **spec: Any) -> Cluster:
    """A cluster of one node and one pool."""
    told = {"disruption": disruption, **spec}
    return read(list_of(node_object(), api_object("NodePool", "web", version="karpenter.sh/v1", spec=told)))


def test_a_pool_is_read() -> None:
    """With what it says of consolidation, its budgets, and how many nodes a static one has."""
    budgets = [
        {"nodes": "0", "reasons": ["Underutilized"]},
        {"nodes": "0%", "schedule": "0 9 * * *", "duration": "8h"},
        {"nodes": "10%"},
    ]
    told = {"consolidationPolicy": "Balanced", "consolidateAfter": "30s", "budgets": budgets}
    expected = (
        PoolBudget(("Underutilized",), is_always=True, forbids=True),
        PoolBudget((), is_always=False, forbids=True),
        PoolBudget((), is_always=True, forbids=False),
    )
    seen = seen_with(told, replicas=3)
    assert seen.node_pools == (NodePool("web", "Balanced", "30s", expected, 3),)
    assert not seen.warnings


def test_a_pool_that_says_nothing_has_karpenters_defaults() -> None:
    """It consolidates what is underutilised, at once."""
    assert seen_with().node_pools == (NodePool("web", "WhenEmptyOrUnderutilized", "0s"),)


def test_what_its_nodes_must_be_is_read() -> None:
    """As rules of labels; an entry that is none is named, and the rest counts."""
    rules = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
        {"key": "example.com/cpu", "operator": "Gt", "values": ["3"], "minValues": 2},
        {"key": "example.com/gpu", "operator": "DoesNotExist"},
    ]
    seen = seen_with(template={"spec": {"requirements": rules, "taints": []}})
    assert [(rule.key, rule.operator, rule.values) for rule in seen.node_pools[0].requirements] == [
        ("karpenter.sh/capacity-type", "In", ("spot",)),
        ("example.com/cpu", "Gt", ("3",)),
        ("example.com/gpu", "DoesNotExist", ()),
    ]
    assert not seen.warnings


@pytest.mark.parametrize(
    "requirements", ["none", ["spot"], [{"key": "a"}], [{"key": "a", "operator": "In", "values": [1]}]]
)
def test_requirements_that_cannot_be_read_are_named(requirements: Any) -> None:
    """The pool is read without them."""
    seen = seen_with(template={"spec": {"requirements": requirements}})
    assert seen.node_pools[0].requirements == ()
    assert any("NodePool web: spec.template.spec.requirements" in text for text in seen.warnings)


@pytest.mark.parametrize(
    ("disruption", "told"),
    [
        ({"consolidationPolicy": "Sometimes"}, "spec.disruption.consolidationPolicy is none of WhenEmpty, "),
        ({"consolidationPolicy": 7}, "spec.disruption.consolidationPolicy is not a text"),
        ({"consolidateAfter": 30}, "spec.disruption.consolidateAfter is not a text"),
        ({"budgets": "none"}, "spec.disruption.budgets is not a list of budgets"),
        ({"budgets": ["0"]}, "spec.disruption.budgets is not a list of budgets"),
    ],
)
def test_what_cannot_be_read_is_named_and_leaves_the_pool_to_karpenter(disruption: Any, told: str) -> None:
    """Another version may write other words; then the careful reading is that Karpenter acts itself."""
    seen = seen_with(disruption)
    assert seen.node_pools[0].consolidates
    assert any(text.startswith(f"NodePool web: {told}") for text in seen.warnings)


@pytest.mark.parametrize("replicas", [-1, "three", True, 1.5])
def test_a_number_of_nodes_that_is_none_is_named(replicas: Any) -> None:
    """And is as if it were not told."""
    seen = seen_with(replicas=replicas)
    assert seen.node_pools[0].replicas is None
    assert "NodePool web: spec.replicas is not a number of nodes" in seen.warnings[0]


@pytest.mark.parametrize(
    "budget",
    [{}, {"nodes": None}, {"nodes": "-1"}, {"nodes": "zero"}, {"nodes": {}}, {"nodes": "0", "reasons": "x"}],
)
def test_odd_budgets_never_raise(budget: dict[str, Any]) -> None:
    """Whatever stands there, the cluster is read."""
    assert len(seen_with({"budgets": [budget]}).node_pools) == 1
