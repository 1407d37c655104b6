"""Plan budgets: which become limits that planners know, how pods are chosen within the others, and what is claimed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import LIMIT_NAMES, DisruptionGroup, Eligibility, MoveLimits
from rescheduler.model.plan.plan import Status
from rescheduler.planning.lexicographic.budgeted import exceeded, keeping, plan_within_budgets
from rescheduler.planning.problem.objective import ObjectiveSetting, PlanningObjective
from rescheduler.planning.problem.plan_budgets import PlanBudget, left_of, plan_budgets_of
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlannedMove, PlanRequest
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import PLENTY, cluster, node, pod
from tests.clocks import FakeClock

PODS = 6


def world() -> Cluster:
    """Three nodes with two pods each: a-0, a-1 on n0; b-0, b-1 on n1; c-0, c-1 on n2."""
    nodes = [node(f"n{number}", cpu="8") for number in range(3)]
    return cluster(
        *nodes, *[pod(f"{'abc'[number // 2]}-{number % 2}", node=f"n{number // 2}") for number in range(PODS)]
    )


def group(name: str, pods: Sequence[int], in_plan: int | None, wave: int | None = None) -> DisruptionGroup:
    """A budget's group; without ``wave`` the plan's number binds each wave too."""
    return DisruptionGroup("Budget", name, wave if wave is not None else in_plan or 0, tuple(pods), in_plan)


def eligibility(*groups: DisruptionGroup, limits: MoveLimits | None = None) -> Eligibility:
    """All six pods may be moved."""
    return Eligibility(tuple(range(PODS)), {}, (), {}, groups, limits or MoveLimits(max_evictions=20))


def test_a_ration_of_all_pods_is_the_limit_of_the_plan() -> None:
    """Under its own name, and no budget is left to deal."""
    found = plan_budgets_of(eligibility(group("budget slow", range(PODS), 3)), columns_of(world()))
    assert found.dealt == ()
    assert found.eligibility.groups == ()
    assert found.eligibility.limits == MoveLimits(3, names=("budget slow", *LIMIT_NAMES[1:]))


def test_a_limit_that_is_stricter_stays_and_keeps_its_name() -> None:
    """The policy's own two are less than three."""
    given = eligibility(group("budget slow", range(PODS), 3), limits=MoveLimits(max_evictions=2))
    found = plan_budgets_of(given, columns_of(world()))
    assert (found.dealt, found.eligibility.limits) == ((), MoveLimits(max_evictions=2))


def test_a_ration_of_each_node_is_the_limit_of_nodes() -> None:
    """Named after the budget, not after one of its nodes."""
    groups = [group(f"budget calm of node n{node}", (2 * node, 2 * node + 1), 1) for node in range(3)]
    found = plan_budgets_of(eligibility(*groups), columns_of(world()))
    assert found.dealt == ()
    assert found.eligibility.limits == MoveLimits(20, 1, names=(LIMIT_NAMES[0], "budget calm", LIMIT_NAMES[2]))


def test_a_node_that_has_less_left_keeps_its_ration() -> None:
    """Two nodes may lose two pods each anyway, so the limit of nodes is two, and n0's one pod is dealt out."""
    found = plan_budgets_of(eligibility(group("budget calm of node n0", (0, 1), 1)), columns_of(world()))
    assert [budget.name for budget in found.dealt] == ["budget calm of node n0"]


def test_a_ration_of_a_namespace_is_the_limit_of_namespaces() -> None:
    """All six are in one, which makes it the limit of the plan as well."""
    others = [pod(f"d-{number}", node="n0", namespace="other") for number in range(2)]
    both = cluster(*world().nodes, *world().pods, *others)
    given = Eligibility(
        tuple(range(8)), {}, (), {}, (group("budget x of namespace default", range(PODS), 2),), MoveLimits()
    )
    found = plan_budgets_of(given, columns_of(both))
    assert found.dealt == ()
    assert found.eligibility.limits.max_evictions_per_namespace == 2


def test_what_binds_waves_too_stays_a_group() -> None:
    """Three in the plan, one at a time: the planner has to know the second."""
    both = group("budget both", range(4), 3, wave=1)
    found = plan_budgets_of(eligibility(both), columns_of(world()))
    assert found.eligibility.groups == (both,)
    assert [budget.allowed for budget in found.dealt] == [3]


def test_earlier_moves_use_up_a_ration() -> None:
    """One of its pods is on another node by now."""
    start = Placement(columns_of(world()))
    start.move(0, 1)
    start.settle()
    (left,) = left_of([PlanBudget("r", "", frozenset({0, 1, 2}), 2)], start)
    assert left.allowed == 1


@given(
    st.lists(st.tuples(st.sets(st.integers(0, 9), min_size=1), st.integers(0, 4)), min_size=1, max_size=4),
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True), max_size=12),
)
def test_whatever_is_wished_for_the_rations_are_kept(
    budgets: list[tuple[set[int], int]], units: list[list[int]]
) -> None:
    """And what fits beside all that is granted already is granted."""
    dealt = [PlanBudget(str(number), "", frozenset(pods), left) for number, (pods, left) in enumerate(budgets)]
    kept = keeping(dealt, units)
    assert all(len(kept & budget.pods) <= budget.allowed for budget in dealt)
    for unit in units:
        wider = kept | set(unit)
        assert wider == kept or any(len(wider & budget.pods) > budget.allowed for budget in dealt)


def emptying(question: PlanRequest) -> ObjectivePlan:
    """A planner that empties as many nodes as it can onto n2, and claims the bound that it believes in."""
    moves = []
    for number in (0, 1):
        pods = [2 * number, 2 * number + 1]
        if all(pod in question.eligibility.movable for pod in pods):
            moves += [PlannedMove(pod, 2, 1, needs_guidance=False, reason="") for pod in pods]
    value = len(moves) / 2
    return ObjectivePlan(Status.OPTIMAL, value, value, "nodes", "emptied", tuple(moves))


def asked() -> PlanRequest:
    """The question of six pods."""
    columns = columns_of(world())
    model = SchedulerModel(columns)
    return PlanRequest(
        model,
        Placement(columns),
        eligibility(),
        is_guided_by_holds=True,
        deadline_seconds=PLENTY,
        seed=0,
        clock=FakeClock(),
    )


class Emptying(PlanningObjective):
    """Asks that planner."""

    name = "EmptyNodes"
    is_better_higher = True
    is_kept_by_places = True

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """What it answers."""
        return emptying(request)


EMPTYING = Emptying(None, ObjectiveSetting(columns_of(world())))


def test_a_plan_within_its_rations_is_left_as_it_is() -> None:
    """With all that it proves."""
    answer = plan_within_budgets(EMPTYING, asked(), (), [PlanBudget("r", "", frozenset({0, 1, 2}), 3)])
    assert (answer.status, answer.value, answer.message) == (Status.OPTIMAL, 2, "emptied")


def test_a_plan_beyond_a_ration_is_made_again_and_claims_less() -> None:
    """Of four pods two may move: one node; that two are impossible is not proven, and the budget is named."""
    budget = PlanBudget("budget slow", "0 of 2 evictions in 1h are used", frozenset(range(4)), 2)
    answer = plan_within_budgets(EMPTYING, asked(), (), [budget])
    assert (answer.status, answer.value, answer.bound) == (Status.FEASIBLE, 1, 2)
    assert exceeded(answer.moves, [budget]) == []
    assert "held back by budget slow (0 of 2 evictions in 1h are used)" in answer.message


def test_the_node_is_chosen_that_a_ration_lets_go_whole() -> None:
    """Both pods of n0 are rationed to one, those of n1 are free."""
    answer = plan_within_budgets(EMPTYING, asked(), (), [PlanBudget("r", "", frozenset({0, 1}), 1)])
    assert {move.pod for move in answer.moves} == {2, 3}


def test_an_empty_ration_bars_its_pods_and_the_rest_stays_proven() -> None:
    """They could not have moved anyway, so the bound is that of what is left."""
    question = asked()
    question.placement.move(4, 0)
    question.placement.settle()
    answer = plan_within_budgets(EMPTYING, question, (), [PlanBudget("budget slow", "", frozenset({0, 1, 4}), 1)])
    assert (answer.status, answer.value, answer.bound) == (Status.OPTIMAL, 1, 1)
    assert "earlier objectives leave nothing of budget slow" in answer.message


def test_what_is_impossible_without_rations_is_impossible_with_them() -> None:
    """A certificate outlives the budget; helping fewer is told as such."""

    class Hopeless(Emptying):
        is_better_higher = False

        def plan(self, request: PlanRequest) -> ObjectivePlan:
            answer = emptying(request)
            return ObjectivePlan(
                Status.INFEASIBLE, len(answer.moves), len(answer.moves), "evictions", "no", answer.moves,
                helped=len(answer.moves) // 2, wanted=3, certificate={"most": 2},
            )  # fmt: skip

    answer = plan_within_budgets(
        Hopeless(None, EMPTYING.setting), asked(), (), [PlanBudget("r", "", frozenset(range(4)), 2)]
    )
    assert (answer.status, answer.helped, answer.bound) == (Status.INFEASIBLE, 1, None)
    assert answer.certificate == {"most": 2}


@pytest.mark.parametrize("allowed", [1, 2, 3])
def test_no_deadline_makes_a_plan_exceed_its_ration(allowed: int) -> None:
    """When time is over after the first plan, the choice that was made is kept all the same."""
    budget = PlanBudget("r", "", frozenset(range(PODS)), allowed)
    question = asked()
    late = PlanRequest(**{**vars(question), "deadline_seconds": 0.0})
    assert exceeded(plan_within_budgets(EMPTYING, late, (), [budget]).moves, [budget]) == []
