"""The least overload that any plan leaves."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.spread_load.bounds import least_overload
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.objectives.spread_load.whole_model import MOST_CHOICES, solve_whole
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.local_search import problem_of
from tests.builders import cluster, node, pod
from tests.unit.planning.objectives.spread_load.questions import question_of, use_of
from tests.unit.planning.planning_requests import endless


def bound(question: PlanRequest, target: float = 0.5, **cores: float) -> float:
    """The bound by marginal reliefs."""
    problem = problem_of(question)
    state = LoadState(problem, use_of(question, cores), {"cpu": target})
    return least_overload(problem, state, remaining_limits(question.eligibility.limits, question.placement))


def two_hot_nodes(**fields: object) -> PlanRequest:
    """n1 and n2 hold two pods each; n3 and n4 are empty."""
    pods = (pod(name, node=f"n{1 + number // 2}") for number, name in enumerate("abcd"))
    return question_of(cluster(node("n1"), node("n2"), node("n3"), node("n4"), *pods), **fields)  # type: ignore[arg-type]


def test_the_largest_reliefs_count_as_far_as_evictions_go() -> None:
    """1 and 2 cores over of 4: one eviction takes away at most 2 of 3."""
    use = {"a": 2.0, "b": 1.0, "c": 2.0, "d": 2.0}
    assert bound(two_hot_nodes(limits=MoveLimits(max_evictions=1)), **use) == pytest.approx(0.25)
    assert bound(two_hot_nodes(limits=MoveLimits(max_evictions=2)), **use) == 0
    assert bound(two_hot_nodes(limits=MoveLimits(max_evictions=0)), **use) == pytest.approx(0.75)


def test_a_limit_for_each_node_binds_each_node() -> None:
    """n1 needs two evictions and may have one: 1.5 cores of the 3 over stay, and nothing of n2's."""
    question = two_hot_nodes(limits=MoveLimits(max_evictions_per_node=1))
    assert bound(question, target=0.25, a=1.5, b=1.5, c=1, d=0.5) == pytest.approx(0.5 / 4)


def test_pods_that_fit_on_no_other_node_relieve_nothing() -> None:
    """n2 is too small for the large pod even when it is empty."""
    question = question_of(cluster(node("n1"), node("n2", cpu="2"), pod("large", "3", node="n1"), pod("x", node="n1")))
    assert bound(question, large=3, x=0.5) == pytest.approx((1.5 - 0.5) / 3)


def test_what_all_nodes_use_together_cannot_go_away() -> None:
    """6 of 8 cores in use, 4 allowed: 2 stay whatever is moved."""
    question = question_of(cluster(node("n1"), node("n2"), *(pod(f"p{n}", node="n1") for n in range(4))))
    assert bound(question, p0=1.5, p1=1.5, p2=1.5, p3=1.5) == pytest.approx(0.5)


def test_nothing_hot_needs_nothing() -> None:
    """Neither do no pods at all."""
    assert bound(two_hot_nodes(), a=0.5) == 0
    assert bound(question_of(cluster(node("n1")))) == 0


def test_the_whole_program_counts_receivers() -> None:
    """Only one of two pods finds a cool place, which reliefs alone do not see."""
    question = question_of(
        cluster(node("n1"), node("n2", cpu="2"), pod("a", node="n1"), pod("b", node="n1"), pod("c", node="n2"))
    )
    problem = problem_of(question)
    state = LoadState(problem, use_of(question, {"a": 1.6, "b": 1.6, "c": 0.5}), {"cpu": 0.5})
    limits = remaining_limits(question.eligibility.limits, question.placement)
    whole = solve_whole(problem, state, limits, np.zeros(3), endless())
    assert whole is not None
    assert bound(question, a=1.6, b=1.6, c=0.5) == pytest.approx(0.7 / 3)
    assert whole.bound == pytest.approx(1.2 / 3, abs=1e-5)


def test_what_moves_cost_is_weighed_and_bounds_nothing() -> None:
    """A move that gains less than it costs is not made; the bound is of overload alone."""
    question = two_hot_nodes()
    problem = problem_of(question)
    state = LoadState(problem, use_of(question, {"a": 1.5, "b": 1.0}), {"cpu": 0.5})
    limits = remaining_limits(question.eligibility.limits, question.placement)
    dear = solve_whole(problem, state, limits, np.ones(4), endless())
    cheap = solve_whole(problem, state, limits, np.full(4, 0.01), endless())
    assert dear is not None
    assert cheap is not None
    assert (dear.moves, dear.bound, len(cheap.moves)) == ((), 0, 1)


def test_a_large_cluster_is_no_whole_program() -> None:
    """It would take too long."""
    nodes = [node(f"n{number:03d}") for number in range(80)]
    pods = [pod(f"p{number:03d}", node=f"n{number:03d}") for number in range(MOST_CHOICES // 80 + 1)]
    question = question_of(cluster(*nodes, *pods))
    problem = problem_of(question)
    state = LoadState(problem, use_of(question, {"p000": 3}), {"cpu": 0.5})
    limits = remaining_limits(question.eligibility.limits, question.placement)
    assert solve_whole(problem, state, limits, np.zeros(len(pods)), endless()) is None
