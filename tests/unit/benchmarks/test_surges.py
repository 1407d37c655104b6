"""The benchmark of surges: what it draws, and that surges reach what evictions cannot."""

from __future__ import annotations

from collections import Counter

from benchmarks.surges import Making, draw, measure


def test_a_share_of_the_workloads_has_one_replica_under_a_budget_that_allows_nothing() -> None:
    """And nothing protects them in the cluster of which the bound is asked."""
    drawn = draw(Making(8, 0.5, 0.4, 1))
    replicas = Counter(pod.labels["app"] for pod in drawn.cluster.pods)
    singles = {name for name, number in replicas.items() if number == 1}
    tight = {budget.name for budget in drawn.cluster.budgets if budget.disruptions_allowed == 0}
    assert 0.2 < len(singles) / len(replicas) < 0.6
    assert singles == tight
    assert not tight & {budget.name for budget in drawn.unprotected.budgets}
    assert drawn.cluster.pods == drawn.unprotected.pods


def test_surges_empty_nodes_that_evictions_cannot() -> None:
    """As many as the bound says, and the checker refuses no plan."""
    row = measure(draw(Making(20, 0.65, 0.4, 1)), 5.0)
    assert row.alone < row.surging <= row.bound
    assert row.surges > 0
    assert not row.is_refused
