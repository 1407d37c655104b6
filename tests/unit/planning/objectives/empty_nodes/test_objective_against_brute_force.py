"""On tiny clusters the nodes emptied, the evictions and the proofs equal those of an exhaustive search."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.plan.plan import Status
from tests.unit.planning.asked import plan_empty_nodes
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.empty_nodes.brute_force import best_emptying
from tests.unit.planning.objectives.empty_nodes.questions import question_for, violations
from tests.unit.planning.tiny import tiny_clusters

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@MANY
@given(tiny_clusters(most_running=6))
def test_nodes_and_evictions_are_those_of_an_exhaustive_search(tiny: TinyCluster) -> None:
    """The most nodes are emptied by the fewest evictions, it is proven, and the checker finds nothing against it."""
    request = question_for(tiny)
    answer = plan_empty_nodes(request)
    best = best_emptying(tiny)
    assert (answer.value, len(answer.moves)) == (best.value, best.evictions)
    assert answer.bound == best.value
    assert answer.status is Status.OPTIMAL
    assert violations(request, answer) == []


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(most_nodes=6, most_running=14, most_pending=0, least_pending=0, caps=(1, 2)))
def test_larger_clusters_with_few_evictions_allowed(tiny: TinyCluster) -> None:
    """Up to six nodes and fourteen pods, where the cap keeps the exhaustive search short."""
    request = question_for(tiny)
    answer = plan_empty_nodes(request)
    best = best_emptying(tiny)
    assert (answer.value, len(answer.moves), answer.bound) == (best.value, best.evictions, best.value)
    assert violations(request, answer) == []


@SLOW
@given(tiny_clusters(most_running=6), st.lists(st.sampled_from((0.0, 0.5, 1.0, 2.25, 7.0)), min_size=4, max_size=4))
def test_saved_cost_is_that_of_an_exhaustive_search(tiny: TinyCluster, drawn: list[float]) -> None:
    """With prices the plan saves as much as any could, and says so."""
    prices = tuple(drawn[: len(tiny.nodes)])
    answer = plan_empty_nodes(question_for(tiny, price=np.array(prices)))
    best = best_emptying(tiny, prices)
    assert abs(answer.value - best.value) < 1e-9
    assert answer.bound >= best.value - 1e-9
    assert len(answer.moves) == best.evictions


@MANY
@given(tiny_clusters(most_running=6), st.integers(1, 3))
def test_with_a_limit_on_nodes_the_plan_is_that_of_an_exhaustive_search(tiny: TinyCluster, most: int) -> None:
    """At most so many nodes are emptied, by the fewest evictions, and both are proven with the limit."""
    request = question_for(tiny, most_nodes=most)
    answer = plan_empty_nodes(request)
    best = best_emptying(tiny, most_nodes=most)
    assert (answer.value, len(answer.moves), answer.bound) == (best.value, best.evictions, best.value)
    assert answer.status is Status.OPTIMAL
    assert len(answer.closes) <= most
    assert violations(request, answer) == []


@SLOW
@given(
    tiny_clusters(most_running=6),
    st.lists(st.sampled_from((0.0, 0.5, 1.0, 2.25, 7.0)), min_size=4, max_size=4),
    st.integers(1, 2),
)
def test_with_a_limit_on_nodes_the_dearest_of_them_go(tiny: TinyCluster, drawn: list[float], most: int) -> None:
    """With prices the few nodes that may go are worth as much as any so few could be, and the bound holds."""
    prices = tuple(drawn[: len(tiny.nodes)])
    request = question_for(tiny, price=np.array(prices), most_nodes=most)
    answer = plan_empty_nodes(request)
    # nodes without a price do not count as emptied, as they are not asked for
    counted = [node for node, price in enumerate(prices) if price > 0]
    assert len(set(answer.closes) & set(counted)) <= most
    loose, tight = best_emptying(tiny, prices), best_emptying(tiny, prices, most)
    assert tight.value - 1e-9 <= answer.bound <= loose.value + 1e-9
    assert tight.value - 1e-9 <= answer.value <= loose.value + 1e-9


@SLOW
@given(tiny_clusters(most_running=6), st.randoms(use_true_random=False))
def test_names_and_order_of_nodes_do_not_matter(tiny: TinyCluster, shuffler: Random) -> None:
    """The same cluster with its nodes in another order has as good a plan."""
    order = list(range(len(tiny.nodes)))
    shuffler.shuffle(order)
    pods = tuple(replace(item, node=None if item.node is None else order.index(item.node)) for item in tiny.pods)
    other = replace(tiny, nodes=tuple(tiny.nodes[number] for number in order), pods=pods)
    first, second = plan_empty_nodes(question_for(tiny)), plan_empty_nodes(question_for(other))
    assert (first.value, first.bound, len(first.moves)) == (second.value, second.bound, len(second.moves))


@SLOW
@given(tiny_clusters(most_running=6), st.integers(0, 4))
def test_a_larger_budget_never_gives_a_worse_plan(tiny: TinyCluster, budget: int) -> None:
    """One more eviction allowed empties at least as many nodes."""
    less = plan_empty_nodes(question_for(replace(tiny, max_evictions=budget)))
    more = plan_empty_nodes(question_for(replace(tiny, max_evictions=budget + 1)))
    assert len(less.moves) <= budget
    assert more.value >= less.value


@SLOW
@given(tiny_clusters(most_running=6))
def test_without_holds_nothing_needs_guidance_and_the_plan_stands(tiny: TinyCluster) -> None:
    """Where only evictions may be written, every move goes where the scheduler sends it, and nodes stay empty."""
    request = question_for(tiny, is_guided_by_holds=False)
    answer = plan_empty_nodes(request)
    assert not any(move.needs_guidance for move in answer.moves)
    assert answer.value <= answer.bound
    assert answer.value == len(answer.closes)
    assert violations(request, answer) == []


@SLOW
@given(tiny_clusters(most_running=6), st.integers(0, 3))
def test_the_same_question_has_the_same_answer(tiny: TinyCluster, seed: int) -> None:
    """A seed determines the plan to the last move."""
    first, second = (plan_empty_nodes(question_for(tiny, seed=seed)) for _ in range(2))
    assert first == second
