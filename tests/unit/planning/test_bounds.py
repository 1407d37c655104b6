"""Bounds and certificates never claim more than an exhaustive search finds."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

from rescheduler.planning.objectives.make_room.any_depth_bound import least_by_net_gain, least_evictions
from rescheduler.planning.objectives.make_room.certificate import certify
from rescheduler.planning.objectives.make_room.waiting import WaitingForReplacements
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.waves.free_places import place_without_moves
from tests.builders import cluster, node, pod
from tests.unit.planning.brute_force import BruteForce, TinyCluster
from tests.unit.planning.planning_requests import endless, problem_of, request_of
from tests.unit.planning.tiny import request_for, tiny_clusters


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters())
def test_no_bound_exceeds_the_truth(tiny: TinyCluster) -> None:
    """Covers and net gain bound the evictions from below; the certificate bounds the help from above."""
    problem = problem_of(request_for(tiny))
    assume(len(problem.movable) > 0)
    helped, evictions = BruteForce(tiny).best()
    certificate = certify(problem, endless())
    assert certificate is None or sum(helped) <= certificate.helpable
    for waiting in (
        WaitingForReplacements(problem, place_without_moves(problem)),
        WaitingForReplacements(problem, WaveSchedule()),
    ):
        assert least_evictions(problem, waiting, endless(), 0, helped) <= evictions
    assert least_by_net_gain(problem, helped, endless(), 0) <= evictions


def test_counting_large_pods_sees_through_a_pointless_swap() -> None:
    """Evicting a pod as large as the pending one gains nothing: it needs such a hole itself."""
    state = cluster(
        *(node(f"n{n}", cpu="4") for n in range(4)), pod("big-1", cpu="4", node="n0"),
        *(pod(f"s-{n}", cpu="1", node=f"n{1 + n % 3}") for n in range(6)), pod("x-1", cpu="4"),
    )  # fmt: skip
    problem = problem_of(request_of(state))
    waiting = WaitingForReplacements(problem, WaveSchedule())
    assert least_by_net_gain(problem, (1,), endless(), 0) == 2
    assert least_evictions(problem, waiting, endless(), 0, (1,)) >= 1


def test_the_certificate_lets_pods_stay_where_they_could_not_arrive_any_more() -> None:
    """A pod on a node whose taint it does not tolerate may stay; it is not counted against the other nodes."""
    from tests.builders import taint

    state = cluster(node("n1", taints=[taint("new")]), node("n2"), pod("a-1", cpu="4", node="n1"), pod("x-1", cpu="4"))
    certificate = certify(problem_of(request_of(state)), endless())
    assert certificate is not None
    assert certificate.helpable == 1
