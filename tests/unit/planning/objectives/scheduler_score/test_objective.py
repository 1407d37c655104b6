"""What the planner of SchedulerScore promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.plan.disruption import DisruptionGroup, MoveLimits
from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.scheduler_score.objective import SchedulerScoreState
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.search.local_search import problem_of
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import cluster, node, pod, selector, taint
from tests.unit.planning.asked import plan_scheduler_score
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.defragment.questions import moves_by_name, question, question_for, violations
from tests.unit.planning.tiny import HOST, tiny_clusters

SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def crowded(pods: int = 4, **fields: Any) -> Cluster:
    """One node with all the pods, one without any."""
    return cluster(
        node("full", cpu="8"),
        node("free", cpu="8"),
        *(pod(f"web-{n}", cpu="1", node="full", **fields) for n in range(pods)),
    )


def points(model: SchedulerModel, number: int, placement: Placement, place: int) -> int:
    """Total of a node for a pod, its own copy left out."""
    feasible = model.feasible(number, placement)
    return int(model.total(number, placement, feasible)[place])


def after(asked: PlanRequest, answer: ObjectivePlan) -> Placement:
    """The placement when the plan is done."""
    placement = asked.placement.copy()
    for move in answer.moves:
        placement.forget(move.pod)
        placement.assume(move.pod, move.to_node)
    return placement


def test_moves_pods_from_a_crowded_node_until_a_move_gains_too_little() -> None:
    """Half of the pods go to the empty node; no pod is sent for less than the minimum."""
    asked = question(crowded())
    answer = plan_scheduler_score(asked, minimum_gain=10)
    assert len(answer.moves) == 2
    assert set(moves_by_name(asked, answer).values()) == {"free"}
    assert answer.unit == "score points"
    assert answer.value >= 20
    assert "2 pods gain" in answer.message
    assert violations(asked, answer, "SchedulerScore") == []


def test_value_adds_up_totals_at_the_end_less_totals_at_the_start() -> None:
    """The value can be counted again from the scheduler's totals."""
    asked = question(crowded(6))
    answer = plan_scheduler_score(asked, minimum_gain=10)
    model = SchedulerModel(asked.prediction.columns)
    end = after(asked, answer)
    told = sum(
        points(model, move.pod, end, move.to_node)
        - points(model, move.pod, asked.placement, int(asked.placement.node_of[move.pod]))
        for move in answer.moves
    )
    assert answer.value == told > 0


def test_nothing_to_gain_is_proven() -> None:
    """Pods that are where the scheduler would put them stay, and that is optimal."""
    level = cluster(node("a"), node("b"), pod("web-0", node="a"), pod("web-1", node="b"))
    answer = plan_scheduler_score(question(level), minimum_gain=10)
    assert (answer.status, answer.value, answer.bound, answer.moves) == (Status.OPTIMAL, 0.0, 0.0, ())
    assert answer.message.startswith("proven: no pod gains 10 points")


def test_a_larger_minimum_leaves_pods_where_they_are() -> None:
    """A gain that is large enough for 10 points is not for 1,000."""
    answer = plan_scheduler_score(question(crowded()), minimum_gain=1000)
    assert answer.moves == ()
    assert answer.status is Status.OPTIMAL


def test_price_of_moves_is_heeded() -> None:
    """Where an eviction costs more points than it gains nobody moves."""
    assert plan_scheduler_score(question(crowded(), move_cost=1.0), minimum_gain=10).moves
    assert plan_scheduler_score(question(crowded(), move_cost=10_000.0), minimum_gain=10).moves == ()


def test_second_plan_on_the_result_proposes_nothing() -> None:
    """A plan does not swing back: what it reached is left alone by the next."""
    asked = question(crowded(7))
    answer = plan_scheduler_score(asked, minimum_gain=10)
    assert answer.moves
    again = question(asked.prediction.columns.cluster, placement=after(asked, answer))
    assert plan_scheduler_score(again, minimum_gain=10).moves == ()


def test_limits_and_fixed_pods_bind() -> None:
    """No more pods than the limit move, and none that must stay."""
    limited = plan_scheduler_score(question(crowded(), limits=MoveLimits(max_evictions=1)), minimum_gain=10)
    assert len(limited.moves) == 1
    assert "limits.maxEvictions is used up" in limited.message
    fixed = question(crowded(), fixed=[f"web-{n}" for n in range(4)])
    assert plan_scheduler_score(fixed, minimum_gain=10).moves == ()


def test_disruption_groups_take_turns() -> None:
    """A budget of one pod makes each move a wave of its own."""
    made = crowded(5)
    group = DisruptionGroup("PodDisruptionBudget", "default/web", 1, tuple(range(5)))
    answer = plan_scheduler_score(question(made, groups=[group]), minimum_gain=10)
    assert [move.wave for move in answer.moves] == list(range(1, len(answer.moves) + 1))
    assert len(answer.moves) >= 2


def test_a_pod_whose_own_node_would_refuse_it_is_left_alone() -> None:
    """Without a total of its own node there is nothing to compare with; it does not move for points."""
    made = cluster(node("a", taints=[taint("gone")]), node("b"), pod("web-0", node="a"))
    assert plan_scheduler_score(question(made), minimum_gain=10).moves == ()


def test_anti_affinity_is_kept() -> None:
    """The scheduler's filters bind: pods that keep apart never meet, however empty a node is."""
    apart = (PodAffinityTerm(HOST, selector(app="db")),)
    made = cluster(
        node("full", cpu="8"),
        node("free", cpu="8"),
        pod("db-0", cpu="1", node="full", anti_affinity=apart),
        pod("db-1", cpu="1", node="free", anti_affinity=apart),
        pod("job-0", cpu="5", node="full"),
    )
    asked = question(made, fixed=["job-0"])
    assert plan_scheduler_score(asked, minimum_gain=10).moves == ()


def test_empty_cluster_and_no_movable_pods() -> None:
    """Nothing to look at is no error."""
    for made in (cluster(), cluster(node("a")), cluster(pod("web-0"))):
        answer = plan_scheduler_score(question(made), minimum_gain=10)
        assert (answer.value, answer.moves) == (0.0, ())


def test_time_that_is_up_at_once_gives_an_empty_plan_without_a_claim() -> None:
    """No time, no plan, and nothing is said to be proven."""
    answer = plan_scheduler_score(question(crowded(), deadline_seconds=0.0), minimum_gain=10)
    assert (answer.status, answer.bound, answer.moves) == (Status.UNKNOWN, None, ())


def test_state_charges_lost_points_and_returns_when_undone() -> None:
    """A move to a worse node raises the cost by the points lost; going back takes that off again."""
    asked = question(crowded(4))
    problem = problem_of(asked)
    state = SchedulerScoreState(problem, 10)
    change = state.change(0)
    free, full = (asked.prediction.columns.node_index[name] for name in ("free", "full"))
    assert change[full] == 0
    assert change[free] < 0
    assert set(state.promising().tolist()) == {0, 1, 2, 3}
    state.move(0, free)
    assert state.cost == pytest.approx(change[free])
    state.move(0, full)
    assert state.cost == pytest.approx(0)


def test_state_forbids_nodes_that_a_filter_refuses() -> None:
    """A node without room costs infinitely much."""
    made = cluster(node("a"), node("b", cpu="1"), pod("web-0", cpu="2", node="a"))
    asked = question(made)
    change = SchedulerScoreState(problem_of(asked), 10).change(0)
    assert np.isinf(change[asked.prediction.columns.node_index["b"]])


@SLOW
@given(tiny=tiny_clusters(most_running=6, most_pending=1), is_guided=st.booleans())
def test_each_move_gains_enough_is_the_schedulers_own_and_is_allowed(tiny: TinyCluster, is_guided: bool) -> None:
    """Every move gains the minimum from start to end, goes to a best node at its turn, and passes the checker."""
    asked = question_for(tiny, is_guided_by_holds=is_guided)
    answer = plan_scheduler_score(asked, minimum_gain=10)
    assert violations(asked, answer, "SchedulerScore") == []
    assert not any(move.needs_guidance for move in answer.moves)
    model, end = asked.prediction, after(asked, answer)
    running = asked.placement.copy()
    for wave in sorted({move.wave for move in answer.moves}):
        for move in (move for move in answer.moves if move.wave == wave):
            origin = int(asked.placement.node_of[move.pod])
            best = model.best_nodes(move.pod, running)
            assert move.to_node in best
            assert origin not in best
            gained = model.totals(move.pod, end)[move.to_node] - model.totals(move.pod, asked.placement)[origin]
            assert gained >= 10
            running.move(move.pod, move.to_node)
        running.settle()
    assert answer.value >= 10 * len(answer.moves)


@SLOW
@given(tiny=tiny_clusters(most_running=6))
def test_whole_plan_never_lowers_the_least_favoured_moved_pod(tiny: TinyCluster) -> None:
    """At the end no moved pod would be better off on its old node: a plan does not call for its own reversal."""
    asked = question_for(tiny)
    answer = plan_scheduler_score(asked, minimum_gain=10)
    end = after(asked, answer)
    for move in answer.moves:
        total = asked.prediction.totals(move.pod, end)
        assert total[move.to_node] > total[asked.placement.node_of[move.pod]]
