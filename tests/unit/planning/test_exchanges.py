"""Groups of pods that leave before they arrive: small, allowed by every rule, and only where nothing else does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec.structs import replace as with_changes

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import DisruptionGroup
from rescheduler.planning.problem.draft import Draft
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.arrivals import Arrivals, can_exchange
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.sequencing import sequence
from rescheduler.planning.waves.wave_packing import by_urgency, packed
from rescheduler.planning.waves.waves import GroupsOfPods, Waves, find_ring
from tests.builders import cluster, node, pod
from tests.unit.planning.asked import plan_spread_load
from tests.unit.planning.objectives.spread_load.questions import question_of, use_of
from tests.unit.planning.planning_requests import endless, index, problem_of, request_of


def exchangeable(state: Cluster, *groups: DisruptionGroup) -> Problem:
    """The problem of a cluster in which pods may leave before they arrive."""
    request = request_of(state, groups=groups)
    return problem_of(replace(request, eligibility=with_changes(request.eligibility, may_evict_first=True)))


def ring_of(number: int) -> Cluster:
    """Full nodes with one pod each."""
    names = [f"n{position:02d}" for position in range(number)]
    return cluster(*(node(name) for name in names), *(pod(f"p{name}-0", "4", node=name) for name in names))


def round_about(number: int) -> dict[int, int]:
    """Every pod to the next node."""
    return {position: (position + 1) % number for position in range(number)}


@pytest.mark.parametrize("number", [2, 3, 5, 12])
def test_a_ring_of_full_nodes_is_one_wave(number: int) -> None:
    """However long it is; without exchanges it has no order."""
    problem = exchangeable(ring_of(number))
    schedule = sequence(problem, Draft(round_about(number)), endless()).schedule
    assert schedule is not None
    assert (len(schedule.waves), schedule.evict_first, schedule.exchanged) == (1, {1}, number)
    assert replay(problem, schedule) == []
    assert replay(problem.without_exchanges(), schedule) == ["pods leave before they arrive"]
    assert sequence(problem.without_exchanges(), Draft(round_about(number)), endless()).schedule is None


def test_separate_rings_are_separate_waves() -> None:
    """No more pods are down at once than wait for each other; what can move by itself does, before or after."""
    state = cluster(
        *(node(f"n{number}") for number in range(8)),
        *(pod(f"p{number}-0", "4", node=f"n{number}") for number in range(6)), pod("small-0", "1", node="n6"),
    )  # fmt: skip
    problem = exchangeable(state)
    moves = {0: 1, 1: 0, 2: 3, 3: 2, 4: 5, 5: 4, index(state, "small-0"): 7}
    for schedule in (
        sequence(problem, Draft(moves), endless()).schedule,
        packed(problem, GroupsOfPods(problem), by_urgency(problem, GroupsOfPods(problem), moves), endless()),
    ):
        assert schedule is not None
        assert sorted(map(len, schedule.waves)) == [1, 2, 2, 2]
        assert schedule.exchanged == 6
        assert replay(problem, schedule) == []


def test_several_small_pods_make_room_for_a_large_one() -> None:
    """A group need not be a ring of single pods."""
    state = cluster(
        node("n0"), node("n1"), pod("large-0", "4", node="n0"), *(pod(f"s{n}-0", "1", node="n1") for n in range(4))
    )
    problem = exchangeable(state)
    moves = {index(state, "large-0"): 1, **{index(state, f"s{n}-0"): 0 for n in range(4)}}
    schedule = sequence(problem, Draft(moves), endless()).schedule
    assert schedule is not None
    assert [len(wave) for wave in schedule.waves] == [5]


def test_single_moves_come_first_even_if_a_group_would_do() -> None:
    """Where an order of single moves exists nobody is down while others leave."""
    state = cluster(node("n0"), node("n1", "5"), pod("a-0", "4", node="n0"), pod("b-0", "1", node="n1"))
    problem = exchangeable(cluster(*state.nodes, node("n2"), *state.pods))
    schedule = sequence(problem, Draft({0: 1, 1: 2}), endless()).schedule
    assert schedule is not None
    assert schedule.evict_first == frozenset()


def test_a_group_of_disruption_keeps_its_allowance() -> None:
    """Two pods of a budget that allows one cannot be down at once, and that is certain for few moves."""
    state = ring_of(3)
    budget = DisruptionGroup("PodDisruptionBudget", "default/b", 1, (0, 1))
    found = sequence(exchangeable(state, budget), Draft({0: 1, 1: 0}), endless())
    assert (found.schedule, found.is_impossible) == (None, True)
    assert sequence(exchangeable(state, budget), Draft({1: 2, 2: 1}), endless()).schedule is not None


@pytest.mark.parametrize("spare", [0, 1])
def test_all_that_arrive_must_fit_together(spare: int) -> None:
    """Two newcomers share what one left."""
    state = cluster(
        node("n0", str(4 + spare)), node("n1"), node("n2"),
        pod("a-0", "4", node="n0"), pod("b-0", "2500m", node="n1"), pod("c-0", "2500m", node="n2"),
    )  # fmt: skip
    now = Arrivals(exchangeable(state))
    assert can_exchange(now, ((0, 1), (1, 0), (2, 0))) is bool(spare)
    assert not can_exchange(now, ((0, 0), (1, 0)))


def test_the_smallest_ring_is_found_among_many_moves() -> None:
    """Of a long ring and a short one the short one comes first."""
    problem = exchangeable(ring_of(20))
    waiting = tuple({**round_about(18), 17: 0, 18: 19, 19: 18}.items())
    waves = Waves(problem)
    assert set(find_ring(waves.now, waiting, waves.may_exchange) or ()) == {(18, 19), (19, 18)}
    assert find_ring(waves.now, waiting[:17], waves.may_exchange) is None


@pytest.mark.parametrize("may_exchange", [True, False])
def test_load_is_spread_over_nodes_that_are_full_by_requests(may_exchange: bool) -> None:
    """A busy pod and an idle one change places; otherwise the hot node stays hot."""
    state = cluster(
        node("n1"), node("n2"), *(pod(f"busy{n}-0", "2", node="n1") for n in range(2)),
        *(pod(f"idle{n}-0", "2", node="n2") for n in range(2)),
    )  # fmt: skip
    question = question_of(state)
    question = replace(question, eligibility=with_changes(question.eligibility, may_evict_first=may_exchange))
    use = {"busy0-0": 2.0, "busy1-0": 2.0, "idle0-0": 0.2, "idle1-0": 0.2}
    answer = plan_spread_load(question, use_of(question, use), {"cpu": 0.6})
    assert len(answer.moves) == (2 if may_exchange else 0)
    assert all(move.evict_first and move.needs_guidance for move in answer.moves)
    assert (answer.value == 0) is may_exchange
