"""Patterns of nodes: bounds that no plan is below, plans that can be carried out, knapsacks that err on one side."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rescheduler.model.objects.cluster import Cluster
from rescheduler.planning.objectives.make_room.any_depth_bound import least_by_net_gain, least_evictions
from rescheduler.planning.objectives.make_room.patterns.arriving_classes import Fineness, arriving_classes
from rescheduler.planning.objectives.make_room.patterns.by_patterns import (
    PlanByPatterns,
    least_by_patterns,
    may_plan_by_patterns,
)
from rescheduler.planning.objectives.make_room.patterns.node_states import node_states
from rescheduler.planning.objectives.make_room.patterns.packing_worth import PackingWorth
from rescheduler.planning.objectives.make_room.waiting import WaitingForReplacements
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.waves.replay import replay
from tests.builders import cluster, node, pod
from tests.unit.planning.brute_force import BruteForce, TinyCluster
from tests.unit.planning.planning_requests import endless, problem_of, request_of
from tests.unit.planning.tiny import request_for, tiny_clusters

GIB = 2**30


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters())
def test_the_bound_never_exceeds_the_truth(tiny: TinyCluster) -> None:
    """Charging for the room that evicted pods need claims no more evictions than an exhaustive search finds."""
    problem = problem_of(request_for(tiny))
    assume(len(problem.movable) > 0)
    helped, evictions = BruteForce(tiny).best()
    assert least_by_patterns(problem, helped, 10**6, endless()) <= evictions


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters())
def test_plans_can_be_carried_out_and_help_all(tiny: TinyCluster) -> None:
    """A plan that is found passes the replay, helps everybody, and takes no fewer evictions than there must be."""
    problem = problem_of(request_for(tiny))
    assume(len(problem.movable) > 0 and problem.pending and may_plan_by_patterns(problem))
    search = PlanByPatterns(problem, 0)
    search.run(problem.remaining.in_all, 0, endless())
    if search.best is not None:
        assert not replay(problem, search.best)
        assert len(search.best.places) == len(problem.pending)
        assert search.best.evictions >= BruteForce(tiny).best()[1]


def test_who_is_evicted_is_charged_for_the_room_that_it_needs() -> None:
    """One eviction makes room for the pending pod, but the evicted one is large, too, and its hole takes two more."""
    problem = problem_of(request_of(_large_in_the_way()))
    waiting = WaitingForReplacements(problem, WaveSchedule())
    assert least_evictions(problem, waiting, endless(), 0, (1,)) <= 2
    assert least_by_net_gain(problem, (1,), endless(), 0) <= 2
    assert least_by_patterns(problem, (1,), 10**6, endless()) == 3


def test_room_is_made_for_an_evicted_pod_elsewhere() -> None:
    """The plan gives the large pod the hole that two small ones leave on another node."""
    problem = problem_of(request_of(_large_in_the_way()))
    search = PlanByPatterns(problem, 0)
    search.run(10, 0, endless())
    assert search.best is not None
    assert search.best.evictions == 3
    assert not replay(problem, search.best)


def test_no_plan_of_more_evictions_than_asked_for_is_looked_for() -> None:
    """Where two evictions are the most, the plan of three is not found."""
    problem = problem_of(request_of(_large_in_the_way()))
    search = PlanByPatterns(problem, 0)
    search.run(2, 0, endless())
    assert search.best is None


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(), st.booleans())
def test_states_of_nodes_are_counted_as_they_are_made(tiny: TinyCluster, is_bound: bool) -> None:
    """All are made where exactly so many may be, and none where one fewer may be."""
    problem = problem_of(request_for(tiny))
    assume(len(problem.movable) > 0 and problem.pending)
    classes = arriving_classes(problem, Fineness(5, 1.1), None, is_bound=is_bound)
    assume(classes is not None)
    assert classes is not None
    states = node_states(problem, classes, endless(), is_bound=is_bound)
    assert states is not None
    number = len(states.cost)
    assert len(states.node) == number
    again = node_states(problem, classes, endless(), is_bound=is_bound, most=number)
    assert again is not None
    assert again.rows == states.rows
    assert node_states(problem, classes, endless(), is_bound=is_bound, most=number - 1) is None


def _large_in_the_way() -> Cluster:
    """A pod of 7 cores fits where one of 5 leaves; that one needs two of 2 to leave, which have room in a nook each."""
    return cluster(
        node("n0", cpu="8", memory="8Gi"), node("n1", cpu="6500m", memory="8Gi"),
        node("n2", cpu="2200m", memory="8Gi"), node("n3", cpu="2200m", memory="8Gi"),
        pod("large-1", cpu="5", memory="1Gi", node="n0"),
        pod("small-1", cpu="2", memory="1Gi", node="n1"), pod("small-2", cpu="2", memory="1Gi", node="n1"),
        pod("fixed-1", cpu="1", memory="1Gi", node="n1"),
        pod("waits-1", cpu="7", memory="1Gi"),
    )  # fmt: skip


sizes = st.tuples(st.integers(1, 9), st.integers(1, 9))


@settings(max_examples=40, deadline=None)
@given(st.lists(sizes, min_size=1, max_size=2), sizes)
def test_rounding_errs_on_the_safe_side(asked: list[tuple[int, int]], room: tuple[int, int]) -> None:
    """By rounding down no packing is worth more than is said; by rounding up what is said can be packed."""
    amounts, rooms = np.array(asked) * 1001, np.array([room]) * 1999
    worth = np.arange(1.0, len(asked) + 1)
    packings = np.array(list(product(range(19), repeat=len(asked))))
    possible = packings[(packings @ amounts <= rooms[0]).all(axis=1)]
    truth = float((possible @ worth).max())
    above = PackingWorth(amounts, rooms, amounts.max(axis=0), is_bound=True)
    if above.has_weight.all():
        assert above.best(worth)[0] >= truth
    below = PackingWorth(amounts, rooms, 20 * amounts.max(axis=0), is_bound=False)  # the room is not beyond the grid
    said = below.best(worth)[0]
    assert said <= truth
    assert below.packed(0) @ worth >= said
    assert (below.packed(0) @ amounts <= rooms[0]).all()
