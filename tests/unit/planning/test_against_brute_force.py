"""On tiny clusters the planner's help, evictions and proofs equal those of an exhaustive search."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from rescheduler.model.plan import Status
from rescheduler.planning.draft import Schedule
from rescheduler.planning.make_room import MakeRoomAnswer, MakeRoomRequest, plan_make_room
from rescheduler.planning.problem import Problem
from rescheduler.planning.ranking import help_vector
from rescheduler.planning.replay import replay
from tests.unit.planning.brute_force import BruteForce, TinyCluster
from tests.unit.planning.tiny import request_for, tiny_clusters


def schedule_of(answer: MakeRoomAnswer) -> Schedule:
    """The answer's moves and places as a schedule."""
    last = max((move.wave for move in answer.moves), default=0)
    waves = [tuple((m.pod, m.to_node) for m in answer.moves if m.wave == wave) for wave in range(1, last + 1)]
    return Schedule(tuple(waves), tuple((place.pod, place.node, place.wave) for place in answer.placements))


def problem_of(request: MakeRoomRequest) -> Problem:
    """The planner's view of a request."""
    return Problem(request.prediction, request.placement, request.eligibility)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
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
