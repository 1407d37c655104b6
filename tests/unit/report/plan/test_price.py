"""What a plan costs, and who pays."""

from __future__ import annotations

from rescheduler.model.plan.plan import OutcomeKind
from rescheduler.report.plan.price import price_lines, price_of
from tests.builders import cluster, node, pod, selector, workload
from tests.unit.report.large_plans import carried_out, chain, emptying, nothing_to_do, spreading
from tests.unit.report.plans import small_cluster, small_plan


def test_evictions_are_counted_by_objective_namespace_and_workload() -> None:
    """Each list sums up to all of them."""
    found, plan = spreading()
    price = price_of(plan, found)
    assert (price.evictions, price.waves, price.guided) == (300, 60, 8)
    assert price.objectives == (("FaultDomains", 30), ("SpreadLoad", 270))
    for counts in (price.namespaces, price.workloads):
        assert sum(count for _, count in counts) == 300
        assert list(counts) == sorted(counts, key=lambda item: (-item[1], item[0]))


def test_a_pod_counts_for_the_workload_at_the_top() -> None:
    """The Deployment, not its ReplicaSet."""
    owner = workload("web", 1, kind="Deployment", selector=selector(app="web-abc"))
    below = workload("web-abc", 1, owner=pod("x", owner="web", kind="Deployment").controller)
    found = cluster(node("n1"), node("n2"), pod("web-1", node="n1", owner="web-abc"), owner, below)
    assert price_of(small_plan(), found).workloads == (("Deployment default/web", 1),)


def test_without_a_cluster_only_what_the_plan_says_is_known() -> None:
    """No workload is guessed from a name."""
    price = price_of(small_plan())
    assert (price.evictions, price.namespaces, price.workloads, price.emptied) == (1, (("default", 1),), (), ())


def test_a_result_costs_what_was_evicted() -> None:
    """Refused moves and those that were not tried cost nothing."""
    found, plan = emptying()
    price = price_of(carried_out(plan, [OutcomeKind.LANDED, OutcomeKind.REFUSED, OutcomeKind.NOT_ATTEMPTED]), found)
    assert price.evictions == 12
    assert price.moves_ended == (("Landed", 12), ("NotAttempted", 12), ("Refused", 12))


def test_the_lines_of_a_small_plan_are_few() -> None:
    """Its list of moves says whose pods they are."""
    found, plan = chain()
    assert list(price_lines(price_of(plan, found))) == ["Price: 3 evictions in 3 waves; 1 of them needs guidance"]
    assert list(price_lines(price_of(small_plan(), small_cluster()))) == ["Price: 1 eviction in 1 wave"]
    found, plan = nothing_to_do()
    assert list(price_lines(price_of(plan, found))) == ["Price: no pod is moved"]


def test_the_lines_of_a_large_plan_name_those_who_pay_most_and_what_is_emptied() -> None:
    """Everybody when wide."""
    found, plan = emptying(60, 20)
    price = price_of(plan, found)
    first, namespaces, workloads, emptied = price_lines(price)
    assert first == "Price: 60 evictions in 8 waves"
    assert namespaces == "  by namespace: team-0 12, team-1 12, team-2 12, team-3 12 and 1 more with 12"
    assert workloads.startswith("  by workload: ReplicaSet team-")
    assert emptied.endswith("node-00010, node-00011 and 8 more")
    wide = list(price_lines(price, wide=True))
    assert "team-4 12" in wide[1]
    assert wide[3].endswith("node-00018, node-00019")


def test_several_objectives_share_the_price() -> None:
    """Each with its part."""
    found, plan = spreading()
    assert next(price_lines(price_of(plan, found))) == (
        "Price: 300 evictions in 60 waves (FaultDomains 30, SpreadLoad 270); 8 of them need guidance"
    )


def test_the_lines_of_a_result_tell_how_moves_ended() -> None:
    """Counted by outcome."""
    found, plan = emptying()
    lines = list(price_lines(price_of(carried_out(plan, [OutcomeKind.LANDED, OutcomeKind.REFUSED]), found)))
    assert lines[0] == "Price: 18 evictions in 5 waves"
    assert lines[-1] == "Outcome of moves: Landed 18, Refused 18"
