"""Prices of nodes, and what a cluster costs before and after a plan."""

from __future__ import annotations

from msgspec import UNSET

from rescheduler.composition.what_if import NodeChange, plan_what_if
from rescheduler.costs.node_prices import node_prices, price_warnings
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node_pool import NodePool
from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.plan import Plan
from rescheduler.model.plan.what_if import NodeShape
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, taint, workload
from tests.clocks import FakeClock

LABEL = "example.com/price"


def policy(**fields: object) -> Policy:
    """One that empties nodes for money, a node's label being its price a month."""
    prices = {"label": LABEL, "per": "month"}
    objectives = ({"name": "EmptyNodes"},)
    given = {"prices": prices, "objectives": objectives, "disruption": {"workloads": {"max_unavailable": 9}}}
    return Policy.model_validate({**given, **fields})


def priced(name: str, price: str | None, **fields: object) -> object:
    """A node of four CPUs with a price label."""
    return node(name, "4", labels={} if price is None else {LABEL: price}, **fields)  # type: ignore[arg-type]


def world(*nodes: object, on: str = "abb", size: str = "1") -> Cluster:
    """Pods of one workload, one on each of the nodes that are named by a letter."""
    pods = [pod(f"web-{number}", size, node=where) for number, where in enumerate(on)]
    return cluster(*nodes, *pods, workload("web", len(pods)))  # type: ignore[arg-type]


def planned(seen: Cluster, asked: Policy) -> tuple[Plan, Cost]:
    """The plan and its cost."""
    plan = make_plan(seen, asked, CycleOptions(FakeClock()))
    assert not [text for text in plan.warnings if "checker" in text]
    assert plan.cost is not UNSET
    return plan, plan.cost  # type: ignore[return-value]


def test_the_dearer_node_is_emptied_though_it_has_more_pods() -> None:
    """The most money, not the most nodes or the fewest evictions; value, bound and unit are money a month."""
    plan, cost = planned(world(priced("a", "10"), priced("b", "99.5"), on="abb"), policy())
    (objective,) = plan.objectives
    assert {move.from_node for move in plan.moves} == {"b"}
    assert (objective.value, objective.bound, objective.unit) == (99.5, 99.5, "USD/month")
    assert (cost.before, cost.after, cost.saving, cost.empty, cost.complete) == (109.5, 10, 99.5, 0, True)


def test_equal_money_costs_fewer_evictions() -> None:
    """Of two nodes of one price that with fewer pods."""
    plan, _ = planned(world(priced("a", "10"), priced("b", "10"), on="abb"), policy())
    assert {move.from_node for move in plan.moves} == {"a"}


def test_nodes_that_are_empty_already_are_saved_but_told_apart() -> None:
    """What was empty before is no merit of the plan; what is leaving is not counted at all."""
    leaving = priced("d", "1000", taints=[taint("karpenter.sh/disrupted")])
    plan, cost = planned(
        world(priced("a", "10"), priced("b", "20"), priced("c", "7", taints=[taint("gpu")]), leaving, on="bbaa"),
        policy(),
    )
    assert plan.objectives[0].value == 20
    assert (cost.before, cost.after, cost.saving, cost.empty) == (37, 10, 27, 7)


def test_a_node_without_a_price_weighs_nothing_and_is_named() -> None:
    """It is not emptied for money, it is named, and the cost is not complete."""
    plan, cost = planned(world(priced("a", "10"), priced("b", None), on="ab"), policy())
    assert {move.from_node for move in plan.moves} == {"a"}
    assert (cost.before, cost.unpriced, cost.complete) == (10, ("b",), False)
    assert any("without a price, and so without weight in money: b" in text for text in plan.warnings)


def test_a_node_that_nobody_takes_away_is_no_source_and_is_named() -> None:
    """To empty it would save nothing."""
    kept = priced("a", "10", annotations={"karpenter.sh/do-not-disrupt": "true"})
    plan, cost = planned(world(kept, priced("b", "5"), on="ab"), policy())
    assert {move.from_node for move in plan.moves} == {"b"}
    assert [(one.node, one.reason) for one in cost.kept] == [("a", 'karpenter.sh/do-not-disrupt: "true"')]


def test_a_move_cost_is_money() -> None:
    """A node whose price is below what its evictions cost stays."""
    seen = world(priced("a", "10"), priced("b", "15"), on="abb")
    asked = policy(objectives=({"name": "EmptyNodes", "move_cost": 7.0},))
    plan, cost = planned(seen, asked)
    assert len(plan.moves) == 1  # a: 10 less 7; b: 15 less 14, with the margin that a gain must have less than nothing
    assert cost.saving == 10
    assert plan.objectives[0].unit == "USD/month"


def test_without_any_price_nodes_are_counted() -> None:
    """No cost, one warning, and nodes count one each."""
    seen = world(priced("a", None), priced("b", "cheap"), on="abb")
    plan = make_plan(seen, policy(), CycleOptions(FakeClock()))
    assert plan.cost is UNSET
    assert (plan.objectives[0].value, plan.objectives[0].unit) == (1, "nodes")
    assert any("no node has a price" in text for text in plan.warnings)
    assert any(f"node b: label {LABEL}: found 'cheap', wanted a price" in text for text in plan.warnings)


def test_the_objective_s_own_price_still_wins() -> None:
    """What the objective is told decides what it empties; the cost is told all the same."""
    asked = policy(objectives=({"name": "EmptyNodes", "args": {"price": {"label": "rank"}}},))
    seen = world(
        node("a", "4", labels={LABEL: "1", "rank": "9"}), node("b", "4", labels={LABEL: "50", "rank": "1"}), on="ab"
    )
    plan, cost = planned(seen, asked)
    assert {move.from_node for move in plan.moves} == {"a"}
    assert (plan.objectives[0].unit, cost.saving) == ("price", 1)


def test_an_added_node_costs_only_afterwards() -> None:
    """Before it is not there; after it is, with its price."""
    seen = world(priced("a", "10"), priced("b", "10"), on="ab", size="3")
    change = NodeChange(("a",), (NodeShape(like="b"),))
    plan, _ = plan_what_if(seen, policy(), change, CycleOptions(FakeClock()))
    assert plan.cost is not UNSET
    assert (plan.cost.before, plan.cost.after) == (20, 20)  # type: ignore[union-attr]


def test_zero_is_a_price() -> None:
    """A node that costs nothing is priced, and not worth an eviction."""
    plan, cost = planned(world(priced("a", "0"), priced("b", "5"), on="ab"), policy())
    assert {move.from_node for move in plan.moves} == {"b"}
    assert cost.complete


def test_prices_nobody_asked_for_are_none() -> None:
    """Without the field nothing is told of money, nor warned of."""
    seen = world(priced("a", "1"))
    assert node_prices(Policy(), seen) is None
    assert list(price_warnings(Policy(), seen)) == []


def test_what_karpenter_never_sells_is_kept_and_no_source() -> None:
    """A pool that never consolidates, a static one, a node of no pool: emptying them saves nothing, each is named."""
    pools = (
        NodePool("sold", "WhenEmpty", "30s"),
        NodePool("never", "WhenEmpty", "Never"),
        NodePool("static", replicas=1),
    )
    names = {"a": "sold", "b": "never", "c": "static", "d": None}
    nodes = [
        node(name, "4", labels={LABEL: "10", **({"karpenter.sh/nodepool": pool} if pool else {})})
        for name, pool in names.items()
    ]
    pods = [pod(f"web-{number}", node=where) for number, where in enumerate("abcd")]
    plan, cost = planned(cluster(*nodes, *pods, workload("web", 4), node_pools=pools), policy())
    assert {move.from_node for move in plan.moves} == {"a"}
    assert (cost.before, cost.after) == (40, 30)
    kept = {item.node: item.reason for item in cost.kept}
    assert kept == {
        "b": "NodePool never: consolidateAfter: Never",
        "c": "NodePool static: replicas: 1",
        "d": "it is of no NodePool",
    }
