"""Scaling, ranking, prices, trimming and counts: the planner's small parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.objects.annotations import DELETION_COST
from rescheduler.model.objects.constraints import Volume
from rescheduler.planning.problem.amounts import LARGEST_SCALED, scale_for
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.prices import HIGHEST_PRICE, price_of_move
from rescheduler.planning.room_model.decoding import decode, encode
from rescheduler.planning.room_model.instance_builder import build_instance
from rescheduler.planning.room_model.ranking import help_stages, rank
from rescheduler.planning.room_model.trimming import trim
from rescheduler.planning.waves.placing_times import settle_places
from tests.builders import NOW, cluster, node, pod
from tests.unit.planning.planning_requests import index, problem_of, request_of

sizes = st.integers(1, 2**45)


@given(st.lists(sizes, min_size=1, max_size=6), sizes)
def test_what_fits_in_scaled_numbers_fits_in_bytes(requests: list[int], room: int) -> None:
    """Requests are rounded up and room down, so a fit is never an illusion; with a common divisor nothing is lost."""
    amounts, offered = np.array([requests]), np.array([[room]])
    scale = scale_for(amounts, offered)
    fits_scaled = int(scale.up(amounts).sum()) <= int(scale.down(offered)[0, 0])
    fits = sum(requests) <= room
    assert fits or not fits_scaled
    assert not scale.is_exact or fits_scaled == fits
    assert int(scale.up(amounts).max()) <= LARGEST_SCALED + 1


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=60))
def test_one_pod_outweighs_all_less_important_ones(priorities: list[int]) -> None:
    """Weights make a sum lexicographic; where they would grow too large there are several stages."""
    state = cluster(node("n1"), *(pod(f"x-{n}", priority=priority) for n, priority in enumerate(priorities)))
    stages = help_stages(problem_of(request_of(state)))
    assert {priority for stage in stages for priority in stage} == set(priorities)
    for stage in stages:
        for priority, weight in stage.items():
            below = sum(stage[other] * priorities.count(other) for other in stage if other < priority)
            assert weight > below
    assert all(min(high) > max(low) for high, low in pairwise(stages))


def test_very_many_priorities_need_several_stages() -> None:
    """Sixty distinct priorities would overflow one weighted sum."""
    state = cluster(node("n1"), *(pod(f"x-{n}", priority=n) for n in range(60)))
    assert len(help_stages(problem_of(request_of(state)))) > 1


def test_prices_follow_what_a_move_disturbs() -> None:
    """Each of these makes a pod dearer to move than its twin."""
    plain = pod("a-1", node="n1", started_at=NOW - 60)
    dearer = (
        pod("a-1", node="n1", started_at=NOW - 30 * 86400),
        pod("a-1", node="n1", started_at=NOW - 60, priority=5000),
        pod("a-1", node="n1", started_at=NOW - 60, termination_grace_seconds=900),
        pod("a-1", node="n1", started_at=NOW - 60, volumes=(Volume("PersistentVolumeClaim", "data"),)),
        pod("a-1", node="n1", started_at=NOW - 60, annotations={DELETION_COST: "100"}),
    )
    base = price_of_move(plain, NOW)
    assert all(base < price_of_move(other, NOW) <= HIGHEST_PRICE for other in dearer)
    assert price_of_move(plain, NOW, is_owing=True) > base
    assert price_of_move(plain, NOW, allowed_per_wave=1) > price_of_move(plain, NOW, allowed_per_wave=5) > base
    assert price_of_move(pod("a-1", annotations={DELETION_COST: "-100"}, started_at=NOW - 60), NOW) < base
    assert price_of_move(pod("a-1", annotations={DELETION_COST: "many"}, started_at=NOW - 60), NOW) == base


def test_rank_prefers_help_then_few_evictions_then_cheap_ones() -> None:
    """Help counts first, whatever it costs."""
    state = cluster(
        node("n1"), node("n2"), pod("a-1", node="n1", started_at=NOW - 60), pod("b-1", node="n1"), pod("x-1"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    a, b, x = (index(state, name) for name in ("a-1", "b-1", "x-1"))
    helping = WaveSchedule((((a, 1), (b, 1)),), ((x, 0, 1),))
    best = [WaveSchedule(), WaveSchedule((((b, 1),),), ((x, 0, 1),)), WaveSchedule((((a, 1),),), ((x, 0, 1),))]
    assert rank(problem, best[0]) < rank(problem, helping) < rank(problem, best[1]) < rank(problem, best[2])


def test_trimming_takes_detours_out() -> None:
    """A pod that can stay stays, and one that moved to make room for another that could have gone on stays, too."""
    state = cluster(
        node("n1"), node("n2"), node("n3"), pod("a-1", cpu="2", node="n1"), pod("b-1", cpu="2", node="n2"),
        pod("c-1", cpu="1", node="n1"), pod("x-1", cpu="3"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    a, b, c, x = (index(state, name) for name in ("a-1", "b-1", "c-1", "x-1"))
    assert trim(problem, Draft({a: 1, b: 2, c: 2}, {x: 0})) == Draft({a: 1}, {x: 0})


def test_counts_name_the_same_schedule_again() -> None:
    """A schedule turned into counts and back moves as many identical pods between the same nodes."""
    state = cluster(
        node("n1"), node("n2"), node("n3"), *(pod(f"a-{n}", node="n1") for n in range(3)),
        pod("b-1", cpu="2", node="n2"), pod("x-1", cpu="3"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    instance = build_instance(problem, np.arange(3))
    x = index(state, "x-1")
    schedule = WaveSchedule((((0, 1), (1, 2)), ((2, 2),)), ((x, 0, 2),))
    for layers in (0, 2, 3):
        counts = encode(instance, schedule, layers)
        assert counts is not None
        decoded = decode(instance, counts)
        assert sorted(decoded.draft.moves.values()) == [1, 2, 2]
        assert decoded.draft.places == {x: 0}
    assert encode(instance, schedule, 1) is None


def test_identical_pods_are_counted_together() -> None:
    """Replicas on one node make one group; pods of other workloads with the same request arrive as one kind."""
    state = cluster(
        node("n1"),
        node("n2"),
        *(pod(f"a-{n}", node="n1") for n in range(3)),
        pod("b-1", node="n2"),
        pod("x-1", cpu="3"),
    )
    instance = build_instance(problem_of(request_of(state)), np.arange(2))
    assert [len(group.pods) for group in instance.groups] == [3, 1]
    assert len({group.kind for group in instance.groups}) == 1
    assert instance.is_exact
    assert instance.covers_all


def test_a_place_is_settled_as_early_as_its_room_stays_free() -> None:
    """Room that later arrivals leave over can be taken at once, what a pod still holds only when it has left."""
    state = cluster(
        node("n1"), node("n2"), node("n3"), pod("a-1", cpu="2", node="n1"), pod("b-1", cpu="3", node="n2"),
        pod("x-1", cpu="2"), pod("y-1", cpu="1"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    a, b, x, y = (index(state, name) for name in ("a-1", "b-1", "x-1", "y-1"))
    schedule = settle_places(problem, [[(a, 2)], [(b, 0)]], {x: 1, y: 0})
    assert schedule is not None
    assert set(schedule.places) == {(x, 1, 2), (y, 0, 0)}
