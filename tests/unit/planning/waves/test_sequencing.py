"""Orders of moves: arrive before depart, turns within budgets, every order tried where that is cheap."""

from __future__ import annotations

from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.plan.disruption import DisruptionGroup
from rescheduler.planning.problem.draft import Draft
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.sequencing import greedy_waves, possible_part, sequence
from tests.builders import cluster, node, pod, selector
from tests.unit.planning.planning_requests import endless, index, problem_of, request_of

HOST = "kubernetes.io/hostname"


def test_a_move_waits_for_the_room_that_another_leaves() -> None:
    """The first wave ends before its room counts; the pending pod's place is free at the end of the last."""
    state = cluster(
        node("n1"), node("n2"), node("n3"), pod("a-1", cpu="3", node="n1"),
        pod("b-1", cpu="2", node="n2"), pod("x-1", cpu="4"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    a, b, x = (index(state, name) for name in ("a-1", "b-1", "x-1"))
    schedule = sequence(problem, Draft({a: 1, b: 2}, {x: 0}), endless()).schedule
    assert schedule is not None
    assert schedule.waves == (((b, 2),), ((a, 1),))
    assert schedule.places == ((x, 0, 2),)
    assert replay(problem, schedule) == []


def test_a_swap_without_room_has_no_order_and_that_is_proven() -> None:
    """Every order is tried before a draft counts as impossible."""
    state = cluster(node("n1"), node("n2"), pod("a-1", cpu="3", node="n1"), pod("b-1", cpu="3", node="n2"))
    problem = problem_of(request_of(state))
    found = sequence(problem, Draft({0: 1, 1: 0}), endless())
    assert found.schedule is None
    assert found.is_impossible


def test_an_order_is_found_where_the_greedy_one_is_stuck() -> None:
    """Only if the last room on n3 goes to the pod from n1 first can all three moves be made."""
    state = cluster(
        node("n1", cpu="1"), node("n3", cpu="3"), node("n4", cpu="1"),
        pod("a-1", node="n4"), pod("v-1", node="n1"), pod("w-1", node="n3"), pod("fixed-1", node="n3"), pod("x-1"),
    )  # fmt: skip
    problem = problem_of(request_of(state, fixed=["fixed-1"]))
    a, v, w, x = (index(state, name) for name in ("a-1", "v-1", "w-1", "x-1"))
    draft = Draft({a: 1, v: 1, w: 0}, {x: 2})
    assert greedy_waves(problem, draft) is None
    schedule = sequence(problem, draft, endless()).schedule
    assert schedule is not None
    assert schedule.waves == (((v, 1),), ((w, 0),), ((a, 1),))
    assert replay(problem, schedule) == []


def test_replicas_that_keep_apart_take_turns() -> None:
    """Pods that look at each other never move in one wave, so that no order within a wave can matter."""
    apart = (PodAffinityTerm(HOST, selector(app="a")),)
    state = cluster(
        *(node(f"n{n}") for n in range(1, 5)), *(pod(f"a-{n}", node=f"n{n}", anti_affinity=apart) for n in (1, 2))
    )
    problem = problem_of(request_of(state))
    schedule = sequence(problem, Draft({0: 2, 1: 3}), endless()).schedule
    assert schedule is not None
    assert len(schedule.waves) == 2


def test_a_budget_is_kept_in_each_wave() -> None:
    """With an allowance of one, three replicas take three waves."""
    state = cluster(node("n1"), node("n2"), *(pod(f"a-{n}", node="n1") for n in range(3)))
    group = DisruptionGroup("PodDisruptionBudget", "default/a", 1, (0, 1, 2))
    schedule = sequence(problem_of(request_of(state, groups=[group])), Draft({0: 1, 1: 1, 2: 1}), endless()).schedule
    assert schedule is not None
    assert [len(wave) for wave in schedule.waves] == [1, 1, 1]


def test_the_part_that_can_be_done_is_told() -> None:
    """What is stuck is left out, and with it the places that it would have freed."""
    state = cluster(
        node("n1"), node("n2"), node("n3"), pod("a-1", cpu="3", node="n1"), pod("b-1", cpu="3", node="n2"),
        pod("c-1", cpu="1", node="n3"), pod("x-1", cpu="1"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    a, b, c, x = (index(state, name) for name in ("a-1", "b-1", "c-1", "x-1"))
    part = possible_part(problem, Draft({a: 1, b: 0, c: 0}, {x: 2}))
    assert part == Draft({c: 0}, {x: 2})
