"""On tiny clusters the planner's help, evictions and proofs equal those of an exhaustive search."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.plan.plan import Status
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import ObjectivePlan
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.ranking import help_vector
from rescheduler.planning.waves.replay import replay
from tests.unit.planning.asked import RoomRequest, plan_make_room
from tests.unit.planning.brute_force import BruteForce, TinyCluster
from tests.unit.planning.tiny import request_for, tiny_clusters


def schedule_of(answer: ObjectivePlan) -> WaveSchedule:
    """The answer's moves and places as a schedule."""
    last = max((move.wave for move in answer.moves), default=0)
    waves = [tuple((m.pod, m.to_node) for m in answer.moves if m.wave == wave) for wave in range(1, last + 1)]
    return WaveSchedule(tuple(waves), tuple((place.pod, place.node, place.wave) for place in answer.placements))


def problem_of(request: RoomRequest) -> Problem:
    """The planner's view of a request."""
    return Problem(request.prediction, request.placement, request.eligibility)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters())
def test_help_and_evictions_are_those_of_an_exhaustive_search(tiny: TinyCluster) -> None:
    """As many pods are helped as can be, the most important first, with the fewest evictions; all of it proven."""
    request = request_for(tiny)
    answer = plan_make_room(request)
    helped, evictions = BruteForce(tiny).best()
    problem = problem_of(request)
    assert help_vector(problem, (place.pod for place in answer.placements)) == helped
    assert answer.value == evictions
    assert answer.bound == evictions
    expected = Status.OPTIMAL if sum(helped) == answer.wanted else Status.INFEASIBLE
    assert answer.status is expected
    assert replay(problem, schedule_of(answer)) == []


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(most_nodes=6, most_running=12, caps=(1, 2)))
def test_larger_clusters_with_few_evictions_allowed(tiny: TinyCluster) -> None:
    """Up to six nodes and fourteen pods, where the cap keeps the exhaustive search short."""
    request = request_for(tiny)
    answer = plan_make_room(request)
    helped, evictions = BruteForce(tiny).best()
    assert help_vector(problem_of(request), (place.pod for place in answer.placements)) == helped
    assert (answer.value, answer.bound) == (evictions, evictions)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(), st.randoms(use_true_random=False))
def test_names_and_order_of_nodes_do_not_matter(tiny: TinyCluster, shuffler: Random) -> None:
    """The same cluster with its nodes in another order has as good a plan."""
    order = list(range(len(tiny.nodes)))
    shuffler.shuffle(order)
    pods = tuple(replace(item, node=None if item.node is None else order.index(item.node)) for item in tiny.pods)
    other = replace(tiny, nodes=tuple(tiny.nodes[number] for number in order), pods=pods)
    first, second = plan_make_room(request_for(tiny)), plan_make_room(request_for(other))
    assert (first.helped, first.value, first.bound, first.status) == (
        second.helped,
        second.value,
        second.bound,
        second.status,
    )


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters())
def test_a_looser_limit_never_makes_a_plan_worse(tiny: TinyCluster) -> None:
    """With more evictions allowed at least as many pods are helped, the most important first."""
    vectors = []
    for cap in (0, 1, 2, None):
        request = request_for(replace(tiny, max_evictions=cap))
        answer = plan_make_room(request)
        vectors.append(help_vector(problem_of(request), (place.pod for place in answer.placements)))
    assert vectors == sorted(vectors)
