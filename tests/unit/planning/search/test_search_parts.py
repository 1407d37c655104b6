"""The parts of the search: the search state, pairs, neighbourhoods, and following the scheduler."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.model.plan.disruption import DisruptionGroup, MoveLimits
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.arranging import arrange, try_other
from rescheduler.planning.search.destinations import follow_the_scheduler
from rescheduler.planning.search.local_search import Neighbourhoods, improve, problem_of
from rescheduler.planning.search.pairs import best_pair, partners
from rescheduler.planning.search.search_state import SearchState
from rescheduler.planning.search.single_moves import Tightest, move_one_by_one
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.waves import GroupsOfPods
from tests.builders import cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.planning.objectives.spread_load.questions import question_of, use_of
from tests.unit.planning.planning_requests import endless, index
from tests.unit.planning.search.aversion import Aversion


def search_state_of(question: PlanRequest, **costs: float) -> SearchState:
    """A search state whose objective keeps pods off nodes that cost something."""
    problem = problem_of(question)
    limits = remaining_limits(question.eligibility.limits, question.placement)
    return SearchState(problem, Aversion(problem, costs), limits, move_cost=question.move_cost)


def load_search_state(question: PlanRequest, target: float, **cores: float) -> SearchState:
    """A search state whose objective is the load of nodes."""
    problem = problem_of(question)
    limits = remaining_limits(question.eligibility.limits, question.placement)
    state = LoadState(problem, use_of(question, cores), {"cpu": target}, is_strict=True)
    return SearchState(problem, state, limits)


def row(current: SearchState, name: str) -> int:
    """Row of a pod."""
    return current.problem.row_of_movable[index(current.problem.columns.cluster, name)]


def is_whole(current: SearchState) -> bool:
    """Whether room and cost are what the places of the pods make them."""
    free = current.problem.columns.allocatable - current.placement.used
    at = current.placement.node_of[current.problem.movable]
    return bool((free == current.free).all() and (at == current.node_of).all())


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=12))
def test_a_board_stays_true_to_its_moves(acts: Sequence[tuple[int, int]]) -> None:
    """Moving, undoing and resetting in any order; at home again nothing has changed."""
    question = question_of(
        cluster(node("n0"), node("n1"), node("n2"), *(pod(f"p{n}", node="n0") for n in range(4))), move_cost=0.5
    )
    current = search_state_of(question, n0=1)
    cost, kept = current.cost, []
    for number, to in acts:
        if number in current.moved:
            current.undo(number)
        elif to != 0:
            current.move(number, to)
            kept = list(current.moved.items())
    assert is_whole(current)
    current.reset(kept)
    assert list(current.moved.items()) == kept
    assert current.evictions_left > 2**30
    assert is_whole(current)
    current.reset([])
    assert current.cost == pytest.approx(cost)
    assert (current.free == current.problem.free).all()


def test_a_pod_may_return_only_where_its_place_is_free() -> None:
    """Another has come meanwhile."""
    current = search_state_of(
        question_of(cluster(node("n1"), node("n2"), pod("a", "3", node="n1"), pod("b", "3", node="n2"))), n1=1
    )
    current.move(row(current, "a"), 1)
    assert current.can_return(row(current, "a"))
    current.move(row(current, "b"), 0)
    assert not current.can_return(row(current, "a"))


def test_a_pod_that_has_moved_may_not_leave_again() -> None:
    """Each pod moves at most once."""
    current = search_state_of(question_of(cluster(node("n1"), node("n2"), pod("a", node="n1"))))
    assert current.may_leave(0)
    current.move(0, 1)
    assert not current.may_leave(0)


def test_the_next_best_move_is_found_anew_after_each() -> None:
    """Only one of two large pods fits; the small one takes what room is left."""
    question = question_of(
        cluster(
            node("n1", cpu="8"), node("n2"), *(pod(n, c, node="n1") for n, c in (("a", "3"), ("b", "3"), ("c", "1")))
        )
    )
    current = search_state_of(question, n1=1)
    assert move_one_by_one(current, Tightest(), endless()) == 2
    assert row(current, "c") in current.moved


def test_partners_are_pods_whose_place_is_large_enough() -> None:
    """The pod that is too small to make room is none."""
    names = cluster(
        node("n1"),
        node("n2"),
        node("n3"),
        pod("hot", "3", node="n1"),
        pod("tiny", "500m", node="n2"),
        pod("fill", "3", node="n2"),
        pod("big", "3", node="n3"),
    )
    current = search_state_of(question_of(names), n1=1)
    assert {other for other, _ in partners(current, row(current, "hot"))} == {row(current, "fill"), row(current, "big")}


def test_a_pair_leaves_the_board_as_it_was() -> None:
    """Looking is not moving."""
    names = cluster(
        node("n1"), node("n2"), node("n3", cpu="1"), pod("hot", "4", node="n1"), pod("small", "1", node="n2")
    )
    current = search_state_of(question_of(names), n1=5, n3=1)
    before = current.placement.node_of.tolist(), current.cost
    assert best_pair(current, row(current, "hot"), endless()) == ((row(current, "small"), 2), (row(current, "hot"), 1))
    assert (current.placement.node_of.tolist(), current.cost, current.moved) == (*before, {})


def test_a_swap_is_judged_by_its_end_not_on_the_way() -> None:
    """While the quiet pod is on the hot node beside the busy one, the node is hotter than ever."""
    names = cluster(
        node("n1"),
        node("n2"),
        pod("busy", node="n1"),
        pod("x", node="n1"),
        pod("quiet", node="n2"),
        pod("y", node="n2"),
    )
    current = load_search_state(question_of(names), 0.5, busy=1.5, x=1.0, quiet=0.9, y=0.5)
    pair = best_pair(current, row(current, "busy"), endless())
    assert pair is not None
    assert sorted(pair) == sorted([(row(current, "busy"), 1), (row(current, "quiet"), 0)])


def test_a_search_around_a_plan_finds_a_better_one() -> None:
    """One eviction is allowed, and was spent on the pod that gains less."""
    names = cluster(node("n1"), node("n2"), node("n3"), pod("a", node="n1"), pod("b", node="n2"))
    current = search_state_of(question_of(names, limits=MoveLimits(max_evictions=1)), n1=2, n2=5)
    current.move(row(current, "a"), 2)
    Neighbourhoods(current, Tightest(), GroupsOfPods(current.problem), 0, 0.0).search(endless(), 50)
    assert current.moved == {row(current, "b"): 2}


def test_a_search_spares_evictions_that_are_not_needed() -> None:
    """Two small pods were moved where one large pod is enough."""
    names = cluster(node("n1", cpu="8"), node("n2"), pod("a", node="n1"), pod("b", node="n1"), pod("c", node="n1"))
    current = load_search_state(question_of(names), 0.5, a=1.0, b=1.0, c=3.0)
    current.move(row(current, "a"), 1)
    current.move(row(current, "b"), 1)
    Neighbourhoods(current, Tightest(), GroupsOfPods(current.problem), 0, 0.0).search(endless(), 100)
    assert (current.cost, len(current.moved)) == (0, 1)


def test_the_search_ends_at_once_without_time() -> None:
    """And keeps what it was given."""
    current = search_state_of(question_of(cluster(node("n1"), node("n2"), pod("a", node="n1"))), n1=1)
    current.move(0, 1)
    Neighbourhoods(current, Tightest(), GroupsOfPods(current.problem), 0, 0.0).search(Deadline(FakeClock(), 0.0), 50)
    assert current.moved == {0: 1}


def test_moves_without_any_order_are_taken_back() -> None:
    """Two pods that fill their nodes cannot change places."""
    names = cluster(node("n1"), node("n2"), pod("a", "4", node="n1"), pod("b", "4", node="n2"))
    current = search_state_of(question_of(names))
    current.move(0, 1)
    current.move(1, 0)
    schedule, taken_back = arrange(current, GroupsOfPods(current.problem), endless(), only_predicted=False)
    assert (schedule, taken_back, current.moved) == (WaveSchedule(), 2, {})


def test_another_plan_that_has_no_order_is_not_taken() -> None:
    """The search state keeps its own moves."""
    names = cluster(
        node("n1"),
        node("n2"),
        node("n3", cpu="1"),
        pod("a", "4", node="n1"),
        pod("b", "4", node="n2"),
        pod("c", "0", node="n1"),
    )
    current = search_state_of(question_of(names), n1=1)
    current.move(row(current, "c"), 2)
    try_other(current, GroupsOfPods(current.problem), [(row(current, "a"), 1), (row(current, "b"), 0)], endless())
    assert current.moved == {row(current, "c"): 2}


def test_the_scheduler_chooses_among_nodes_that_are_as_good() -> None:
    """Planned for the fuller node; the scheduler would take the emptier one, and does."""
    names = cluster(node("n1"), node("n2"), node("n3"), pod("a", node="n1"), pod("b", "2", node="n2"))
    current = search_state_of(question_of(names, fixed=("b",)), n1=1)
    current.move(0, 1)
    followed = follow_the_scheduler(current, GroupsOfPods(current.problem), WaveSchedule((((0, 1),),)), endless())
    assert (followed.schedule.waves, followed.guided, dict(current.moved)) == ((((0, 2),),), 0, {0: 2})


def test_a_plan_stays_where_the_schedulers_choice_is_worse() -> None:
    """The emptier node costs more; the move needs guidance then."""
    names = cluster(node("n1"), node("n2"), node("n3"), pod("a", node="n1"), pod("b", "2", node="n2"))
    current = search_state_of(question_of(names, fixed=("b",)), n1=2, n3=1)
    current.move(0, 1)
    followed = follow_the_scheduler(current, GroupsOfPods(current.problem), WaveSchedule((((0, 1),),)), endless())
    assert (followed.schedule.waves, followed.guided) == ((((0, 1),),), 1)


@pytest.mark.parametrize("is_guided_by_holds", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_every_plan_is_allowed_and_without_holds_the_schedulers_own(seed: int, is_guided_by_holds: bool) -> None:
    """Random clusters with budgets and limits: replay finds nothing, and each destination is the scheduler's best."""
    question = _random_question(seed, is_guided_by_holds=is_guided_by_holds)
    problem = problem_of(question)
    costs = {f"n{number}": 1.0 for number in range(0, 6, 2)}
    plan = improve(question, problem, Aversion(problem, costs), endless(), iterations=20)
    assert replay(problem_of(question), plan.schedule) == []
    assert plan.cost_after <= plan.cost_before
    placement = question.placement.copy()
    for wave in plan.schedule.waves:
        for moved, to in wave:
            if not is_guided_by_holds:
                best = question.prediction.best_nodes(moved, placement).tolist()
                assert to in best
                assert placement.node_of[moved] not in best
            placement.move(moved, to)
        placement.settle()


def _random_question(seed: int, *, is_guided_by_holds: bool) -> PlanRequest:
    draw = random.Random(seed)
    pods = [
        pod(f"w{number % 5}-{number:02d}", f"{draw.choice([250, 500, 1000])}m", "256Mi", node=f"n{draw.randrange(6)}")
        for number in range(24)
    ]
    names = cluster(*(node(f"n{number}", cpu="8") for number in range(6)), *pods)
    members = {app: tuple(n for n, item in enumerate(names.pods) if item.name.startswith(app)) for app in ("w0", "w1")}
    groups = [DisruptionGroup("PodDisruptionBudget", f"default/{app}", 1, of_app) for app, of_app in members.items()]
    return question_of(names, groups=groups, limits=MoveLimits(10, 4), is_guided_by_holds=is_guided_by_holds, seed=seed)
