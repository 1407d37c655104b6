"""Packing of many moves: few waves, every move at its time, rings broken by another final place."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.plan.disruption import DisruptionGroup
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.wave_packing import as_far_as_possible, by_size, by_urgency, packed
from rescheduler.planning.waves.waves import GroupsOfPods
from tests.builders import cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.planning.planning_requests import endless, index, problem_of, request_of
from tests.unit.planning.tiny import TinyCluster, request_for, tiny_clusters


def test_a_budget_decides_the_number_of_waves_and_others_fill_them() -> None:
    """Pods of a tight budget leave one a wave from the first wave on, whatever the order says of others."""
    state = cluster(node("a"), node("b"), node("c"), *(pod(f"web-{n}", cpu="100m", node="a") for n in range(6)))
    group = DisruptionGroup("PodDisruptionBudget", "default/web", 1, (3, 4, 5))
    problem = problem_of(request_of(state, groups=[group]))
    groups = GroupsOfPods(problem)
    order = by_urgency(problem, groups, {n: 1 + n % 2 for n in range(6)})
    assert sorted(move[0] for move in order[:3]) == [3, 4, 5]
    schedule = packed(problem, groups, order, endless())
    assert schedule is not None
    assert [len(wave) for wave in schedule.waves] == [4, 1, 1]
    assert replay(problem, schedule) == []


def test_large_pods_that_make_room_go_before_small_ones_that_take_it() -> None:
    """A small pod that comes first takes the room of one whose own is waited for by the pod that would make room."""
    state = cluster(
        node("a", cpu="4"), node("b", cpu="4"), node("w", cpu="4"),
        pod("a-big", cpu="3", memory="1Mi", node="a"), pod("a-stays", cpu="1", memory="1Mi", node="a"),
        pod("b-small", cpu="1", memory="1Mi", node="b"), pod("w-small", cpu="1", memory="1Mi", node="w"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    groups = GroupsOfPods(problem)
    big, back, small = (index(state, name) for name in ("a-big", "b-small", "w-small"))
    moves = {small: 1, big: 1, back: 0}
    assert as_far_as_possible(problem, groups, list(moves.items()), endless())[1] != []
    order, makes_room = by_size(problem, moves)
    assert (order, makes_room) == ([(big, 1), (back, 0), (small, 1)], 2)
    waves, rest = as_far_as_possible(problem, groups, order, endless())
    assert rest == []
    assert replay(problem, waves.schedule) == []
    waves, rest = as_far_as_possible(problem, groups, [(back, 0), (big, 1), (small, 1)], endless(), alone=2)
    assert waves.done == [((big, 1),), ((back, 0),), ((small, 1),)]
    assert rest == []


def test_a_ring_is_broken_by_ending_elsewhere() -> None:
    """Two pods that want each other's full nodes: one ends on a third node, and nobody moves twice."""
    state = cluster(
        node("a", cpu="3"), node("b", cpu="3"), node("c", cpu="4"),
        pod("a-1", cpu="3", memory="1Mi", node="a"), pod("b-1", cpu="3", memory="1Mi", node="b"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    a, b = index(state, "a-1"), index(state, "b-1")
    moves = [(a, 1), (b, 0)]
    assert as_far_as_possible(problem, GroupsOfPods(problem), moves, endless())[1] == moves
    open_nodes = np.ones(3, dtype=np.bool_)
    waves, rest = as_far_as_possible(problem, GroupsOfPods(problem), moves, endless(), detours=open_nodes)
    assert rest == []
    assert waves.schedule.waves in ((((a, 2),), ((b, 0),)), (((b, 2),), ((a, 1),)))
    assert replay(problem, waves.schedule) == []


def test_only_open_nodes_are_detours() -> None:
    """A node with room that shall take nobody breaks no ring."""
    state = cluster(
        node("a", cpu="3"), node("b", cpu="3"), node("c", cpu="4"), node("d", cpu="4"),
        pod("a-1", cpu="3", memory="1Mi", node="a"), pod("b-1", cpu="3", memory="1Mi", node="b"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    moves = [(index(state, "a-1"), 1), (index(state, "b-1"), 0)]
    closed = np.array([True, True, False, False])
    assert as_far_as_possible(problem, GroupsOfPods(problem), moves, endless(), detours=closed)[1] == moves


def test_time_that_is_over_leaves_a_plan_that_stands() -> None:
    """Without time nothing is moved, and everything is told as left."""
    state = cluster(node("a"), node("b"), pod("web-1", node="a"))
    problem = problem_of(request_of(state))
    waves, rest = as_far_as_possible(problem, GroupsOfPods(problem), [(0, 1)], Deadline(FakeClock(), 0.0))
    assert waves.schedule.waves == ()
    assert rest == [(0, 1)]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(most_running=8), st.data(), st.booleans())
def test_whatever_is_asked_what_is_packed_is_allowed(tiny: TinyCluster, data: st.DataObject, detours: bool) -> None:
    """Random goals: waves pass all filters and groups, and moves are either made or told as left."""
    problem = problem_of(request_for(tiny))
    goals = {
        pod: data.draw(
            st.sampled_from([n for n in range(problem.node_count) if n != problem.start.node_of[pod]] or [-1])
        )
        for pod in problem.movable.tolist()
    }
    moves = {pod: goal for pod, goal in goals.items() if goal >= 0}
    groups = GroupsOfPods(problem)
    open_nodes = np.ones(problem.node_count, dtype=np.bool_) if detours else None
    order = by_urgency(problem, groups, moves)
    waves, rest = as_far_as_possible(problem, groups, order, endless(), detours=open_nodes)
    assert [text for text in replay(problem, waves.schedule) if not text.startswith("limits")] == []
    done = waves.schedule.draft.moves
    assert set(done) | {pod for pod, _ in rest} == set(moves)
    assert not set(done) & {pod for pod, _ in rest}
    if not detours:
        assert all(moves[pod] == goal for pod, goal in done.items())
