"""Improving a placement for any objective: what is reached, and what is never done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.plan.disruption import DisruptionGroup, MoveLimits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.search.answering import as_answer
from rescheduler.planning.search.local_search import LocalSearchResult, improve, improve_simply, problem_of
from rescheduler.planning.waves.replay import replay
from tests.builders import cluster, node, pod, selector
from tests.clocks import LookedAtClock
from tests.unit.planning.objectives.spread_load.questions import moved, question_of
from tests.unit.planning.planning_requests import endless, index
from tests.unit.planning.search.aversion import Aversion


def improved(question: PlanRequest, **costs: float) -> tuple[LocalSearchResult, Aversion]:
    """Keep pods off the nodes that cost something."""
    problem = problem_of(question)
    state = Aversion(problem, costs)
    return improve(question, problem, state, endless()), state


def destinations(question: PlanRequest, plan: LocalSearchResult) -> dict[str, str]:
    """Where each moved pod goes, by names."""
    names = question.prediction.columns.cluster
    return {names.pods[pod].name: names.nodes[to].name for wave in plan.schedule.waves for pod, to in wave}


def test_every_pod_leaves_a_dear_node_for_a_cheap_one_with_room() -> None:
    """The state ends where the plan ends."""
    question = question_of(
        cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("b", node="n1"), pod("c", node="n2"))
    )
    plan, state = improved(question, n1=1)
    assert destinations(question, plan) == {"a": "n2", "b": "n2"}
    assert (plan.cost_before, plan.cost_after, state.cost) == (2, 0, 0)


def test_the_start_is_not_changed() -> None:
    """The placement that was asked about stays as it was."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1")))
    before = question.placement.node_of.tolist(), question.placement.used.tolist()
    improved(question, n1=1)
    assert (question.placement.node_of.tolist(), question.placement.used.tolist()) == before


@pytest.mark.parametrize(
    "limits",
    [MoveLimits(max_evictions=1), MoveLimits(max_evictions_per_node=1), MoveLimits(max_evictions_per_namespace=1)],
)
def test_each_limit_is_kept(limits: MoveLimits) -> None:
    """Two pods would like to go, one may."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("b", node="n1")), limits=limits)
    assert improved(question, n1=1)[0].evictions == 1


def test_earlier_moves_count_against_the_limits() -> None:
    """One of two evictions was used by an earlier objective."""
    question = question_of(
        cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("b", node="n1"), pod("c", node="n1")),
        limits=MoveLimits(max_evictions=2), fixed=("c",),
    )  # fmt: skip
    names = question.prediction.columns.cluster
    question.placement.forget(index(names, "c"))
    question.placement.assume(index(names, "c"), 1)
    assert improved(question, n1=1)[0].evictions == 1


def test_no_limit_of_zero_moves_anything() -> None:
    """An eviction limit of 0 is no mistake."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1")), limits=MoveLimits(max_evictions=0))
    assert improved(question, n1=1)[0].evictions == 0


def test_a_full_node_takes_nobody() -> None:
    """Room comes before the objective."""
    question = question_of(cluster(node("n1"), node("n2", cpu="1"), pod("a", "2", node="n1")))
    assert improved(question, n1=1)[0].evictions == 0


def test_replicas_that_keep_apart_stay_apart() -> None:
    """Only one of two replicas may come to the one cheap node."""
    apart = (PodAffinityTerm("kubernetes.io/hostname", selector(app="w")),)
    question = question_of(
        cluster(node("n1"), node("n2"), node("n3"),
                pod("w-1", node="n1", anti_affinity=apart), pod("w-2", node="n2", anti_affinity=apart))
    )  # fmt: skip
    plan, _ = improved(question, n1=1, n2=1)
    assert list(destinations(question, plan).values()) == ["n3"]


def test_a_guard_is_never_made_worse() -> None:
    """The other node is worse to the earlier objective."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1")))
    guarded = replace(question, guards=(Aversion(problem_of(question), {"n2": 1}),))
    assert improved(guarded, n1=1)[0].evictions == 0


def test_a_guard_turns_a_pod_elsewhere() -> None:
    """The node with the least room left would be taken, but for the earlier objective."""
    question = question_of(cluster(node("n1"), node("n2", cpu="2"), node("n3", cpu="2"), pod("a", node="n1")))
    for bad, good in (("n2", "n3"), ("n3", "n2")):
        guarded = replace(question, guards=(Aversion(problem_of(question), {bad: 1}),))
        assert destinations(guarded, improved(guarded, n1=1)[0]) == {"a": good}


def test_a_guard_that_gains_lets_another_lose() -> None:
    """What counts is the earlier objective's cost in the end; the guard ends where the plan ends."""
    question = question_of(cluster(node("n1"), node("n2"), node("n3"), pod("a", node="n1")))
    guard = Aversion(problem_of(question), {"n1": 2, "n2": 1})
    plan, _ = improved(replace(question, guards=(guard,)), n1=1, n3=1)
    assert destinations(question, plan) == {"a": "n2"}
    assert guard.cost == 1


@pytest.mark.parametrize(("move_cost", "evictions"), [(0.0, 2), (0.5, 1), (2.0, 0)])
def test_a_move_must_gain_more_than_it_costs(move_cost: float, evictions: int) -> None:
    """Leaving n1 gains 1, leaving n2 gains 0.2; a pod of ordinary price pays the move cost once."""
    question = question_of(
        cluster(node("n1"), node("n2"), node("n3"), pod("a", node="n1"), pod("b", node="n2")), move_cost=move_cost
    )
    assert improved(question, n1=1, n2=0.2)[0].evictions == evictions


def test_the_cheaper_of_two_like_pods_is_moved() -> None:
    """Priority makes a pod dearer to move."""
    question = question_of(
        cluster(node("n1"), node("n2"), pod("a", node="n1", priority=2_000_000), pod("b", node="n1")),
        limits=MoveLimits(max_evictions=1),
    )
    assert set(destinations(question, improved(question, n1=1)[0])) == {"b"}


def test_a_pod_makes_way_for_another() -> None:
    """The large pod fits on n2 only if the small one goes on to n3."""
    question = question_of(
        cluster(node("n1", cpu="4"), node("n2", cpu="4"), node("n3", cpu="1"),
                pod("large", "4", node="n1"), pod("small", "1", node="n2"))
    )  # fmt: skip
    plan, _ = improved(question, n1=5, n3=1)
    assert destinations(question, plan) == {"large": "n2", "small": "n3"}
    assert [len(wave) for wave in plan.schedule.waves] == [1, 1]


def test_two_pods_change_nodes_where_one_finds_room_beside_the_other() -> None:
    """The small pod comes first; then the large one fits into its place."""
    question = question_of(
        cluster(
            node("n1", cpu="5", pods=2), node("n2", cpu="4"), pod("large", "4", node="n1"), pod("small", "1", node="n2")
        )
    )
    problem = problem_of(question)
    state = Aversion(problem, {"n1": 1})
    state.of_node[:] = 0

    class OnlyTheLarge(Aversion):
        """The large pod dislikes n1; the small one does not care."""

        def change(self, row: int):  # type: ignore[no-untyped-def]
            change = super().change(row)
            return change if row == problem.row_of_movable[index(problem.columns.cluster, "large")] else change * 0

        def move(self, row: int, node: int) -> None:
            self.cost += float(self.change(row)[node])
            self.node_of[row] = node

    plan = improve(question, problem, OnlyTheLarge(problem, {"n1": 1}), endless())
    assert destinations(question, plan) == {"large": "n2", "small": "n1"}


def test_groups_bind_every_wave_not_the_plan() -> None:
    """Three replicas of which one may be disrupted at a time leave in three waves."""
    names = cluster(node("n1"), node("n2"), *(pod(f"w-{n}", node="n1") for n in range(3)))
    question = question_of(names, groups=[DisruptionGroup("PodDisruptionBudget", "default/w", 1, (0, 1, 2))])
    plan, _ = improved(question, n1=1)
    assert [len(wave) for wave in plan.schedule.waves] == [1, 1, 1]
    assert replay(problem_of(question), plan.schedule) == []


def test_pods_of_a_spent_group_stay() -> None:
    """An allowance of 0 makes its pods immovable."""
    names = cluster(node("n1"), node("n2"), pod("a", node="n1"))
    question = question_of(names, groups=[DisruptionGroup("PodDisruptionBudget", "default/a", 0, (0,))])
    assert improved(question, n1=1)[0].evictions == 0


def test_without_holds_only_the_schedulers_own_choice_is_proposed() -> None:
    """The emptiest node is where the scheduler sends the pod; another cheap one is not proposed."""
    names = cluster(
        node("n1"), node("n2"), node("n3"), pod("a", node="n1"), pod("b", "3", node="n1"), pod("c", "2", node="n3")
    )
    question = question_of(names, fixed=("b", "c"), is_guided_by_holds=False)
    assert destinations(question, improved(question, n1=1)[0]) == {"a": "n2"}
    assert improved(question, n1=1, n2=2)[0].evictions == 0


def test_without_holds_a_pod_that_would_come_back_stays() -> None:
    """Its own node is the emptiest once it has left."""
    names = cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("c", "2", node="n2"))
    question = question_of(names, fixed=("c",), is_guided_by_holds=False)
    assert improved(question, n1=1)[0].evictions == 0


def test_nothing_is_moved_when_time_is_over() -> None:
    """No time is an answer too: doing nothing."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1")))
    problem = problem_of(question)
    plan = improve(question, problem, Aversion(problem, {"n1": 1}), Deadline(question.clock, 0.0))
    assert (plan.evictions, plan.cost_after) == (0, 1)


def test_a_hint_is_taken_only_where_it_is_better() -> None:
    """A worse one, and one that breaks a limit, change nothing."""
    names = cluster(node("n1"), node("n2"), node("n3"), pod("a", node="n1"), pod("b", node="n1"))
    question = question_of(names, limits=MoveLimits(max_evictions=1))
    for hint in ([(0, 2)], [(0, 2), (1, 2)], [(0, 1), (1, 1)]):
        problem = problem_of(question)
        plan = improve(question, problem, Aversion(problem, {"n1": 2, "n3": 1}), endless(), hint=hint)
        assert (plan.cost_after, plan.evictions) == (2, 1)


def test_equal_seeds_give_equal_plans() -> None:
    """And the order of the pods in the cluster does not lead to another value."""
    names = cluster(node("n1"), node("n2"), node("n3"), *(pod(f"w{n}", node="n1") for n in range(4)))
    first, second = (improved(question_of(names, seed=7), n1=1)[0] for _ in range(2))
    assert first.schedule == second.schedule


def answered(question: PlanRequest, plan: LocalSearchResult, **fields: object) -> ObjectivePlan:
    """The answer about a plan."""
    told = {"value": plan.cost_after, "bound": 0.0, "unit": "points", "message": "done", **fields}
    return as_answer(question, problem_of(question), plan, endless(), reason=lambda *_: "why", **told)  # type: ignore[arg-type]


def test_an_answer_is_optimal_only_where_it_meets_its_bound() -> None:
    """Else feasible, whether a bound is known or not."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1")))
    plan, _ = improved(question, n1=1)
    assert answered(question, plan).status.value == "OPTIMAL"
    assert answered(question, plan, bound=-1.0).status.value == "FEASIBLE"
    assert answered(question, plan, bound=None).status.value == "FEASIBLE"
    assert moved(question, answered(question, plan)) == {"a": "n2"}


def test_a_move_that_the_scheduler_would_not_make_needs_guidance() -> None:
    """It would send the pod to the empty n3, which the objective dislikes."""
    names = cluster(node("n1"), node("n2"), node("n3"), pod("a", node="n1"), pod("b", "2", node="n2"))
    question = question_of(names, fixed=("b",))
    dear, _ = improved(question, n1=2, n3=1)
    assert [move.needs_guidance for move in answered(question, dear).moves] == [True]
    cheap, _ = improved(question, n1=2)
    assert [move.needs_guidance for move in answered(question, cheap).moves] == [False]


def test_what_was_taken_back_is_told() -> None:
    """The message says that a move would have helped, with and without holds."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1")))
    plan, _ = improved(question, n1=1)
    told = answered(question, replace(plan, taken_back=2)).message
    assert "2 more moves would help, but found no order" in told
    alone = replace(question, is_guided_by_holds=False)
    assert "left out without guidance: 1 more move" in answered(alone, replace(plan, taken_back=1)).message


@pytest.mark.parametrize("looks", [3, 5, 8, 13, 21, 34, 55, 89, 144, 233])
@pytest.mark.parametrize("is_guided_by_holds", [True, False])
def test_no_plan_falls_behind_the_simple_rule_in_the_same_time(looks: int, is_guided_by_holds: bool) -> None:
    """Wherever time ends, counted in looks at the clock: what the rule had in waves by then is kept."""
    names = cluster(*(node(f"n{n}") for n in range(6)), *(pod(f"w{n}", "1", node=f"n{n % 3}") for n in range(9)))
    question = question_of(names, is_guided_by_holds=is_guided_by_holds)
    costs = {"n0": 3.0, "n1": 2.0, "n2": 1.0}
    simple_problem, problem = problem_of(question), problem_of(question)
    state = Aversion(simple_problem, costs)
    start = state.cost
    simple = improve_simply(question, simple_problem, state, Deadline(LookedAtClock(), float(looks)))
    plan = improve(question, problem, Aversion(problem, costs), Deadline(LookedAtClock(), float(looks)))
    assert state.cost == start
    assert plan.cost_after <= simple.cost
    assert replay(problem_of(question), plan.schedule) == []


def test_most_of_a_short_time_is_the_simple_rules() -> None:
    """Of forty looks at the clock at least half see a move: there is no time for anything else before."""
    wide = {"cpu": "100", "memory": "1000Gi"}
    names = cluster(node("n0", **wide), node("n1", **wide), *(pod(f"w{n}", node="n0") for n in range(60)))
    question = question_of(names)
    problem = problem_of(question)
    simple = improve_simply(question, problem, Aversion(problem, {"n0": 1.0}), Deadline(LookedAtClock(), 40.0))
    assert len(simple.moves) >= 20
    assert simple.schedule.evictions == len(simple.moves)
