"""What NodePools of Karpenter say about who consolidates, and what is sold."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.node_pool import NodePool, PoolBudget

FORBIDDEN = PoolBudget(forbids=True)
AT_NIGHT = PoolBudget(forbids=True, is_always=False)


def about(reason: str) -> PoolBudget:
    """A budget of no node for one reason."""
    return PoolBudget((reason,), forbids=True)


@pytest.mark.parametrize(
    ("pool", "is_consolidating"),
    [
        (NodePool("a"), True),
        (NodePool("a", "Balanced", "30s"), True),
        (NodePool("a", "WhenEmpty", "30s"), False),
        (NodePool("a", consolidate_after="Never"), False),
        (NodePool("a", replicas=3), False),
        (NodePool("a", budgets=(FORBIDDEN,)), False),
        (NodePool("a", budgets=(about("Underutilized"), PoolBudget())), False),
        (NodePool("a", budgets=(about("Empty"),)), True),
        (NodePool("a", budgets=(AT_NIGHT,)), True),
        (NodePool("a", budgets=(PoolBudget(),)), True),
    ],
)
def test_karpenter_consolidates_where_policy_time_and_budgets_let_it(pool: NodePool, is_consolidating: bool) -> None:
    """A budget that binds only at times lets it act at others, so that the pool is Karpenter's."""
    assert pool.consolidates is is_consolidating


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        (NodePool("a"), None),
        (NodePool("a", "WhenEmpty", "30s"), None),
        (NodePool("a", consolidate_after="Never"), "consolidateAfter: Never"),
        (NodePool("a", replicas=3), "replicas: 3"),
        (NodePool("a", budgets=(about("Empty"),)), "0 nodes for Empty"),
        (NodePool("a", budgets=(about("Underutilized"),)), None),
        (NodePool("a", budgets=(AT_NIGHT,)), None),
    ],
)
def test_an_empty_node_is_sold_unless_the_pool_says_otherwise(pool: NodePool, reason: str | None) -> None:
    """The reason names the pool and its field."""
    told = pool.keeps_empty_nodes
    assert told is None if reason is None else told is not None and told.startswith("NodePool a: ") and reason in told
