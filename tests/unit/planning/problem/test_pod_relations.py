"""The verdict for one node alone is that of the real filters."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.planning.waves.arrivals import Arrivals
from tests import builders
from tests.unit.planning.planning_requests import problem_of, request_of

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
WEB_BY_NODE = PodAffinityTerm(HOST, builders.selector(app="web"))
DB_BY_ZONE = PodAffinityTerm(ZONE, builders.selector(app="db"))
APART = st.sampled_from(((), (WEB_BY_NODE,), (DB_BY_ZONE,)))


@st.composite
def related(draw: st.DrawFn) -> tuple[object, list[tuple[int, int]]]:
    """Pods that keep apart, spread or share ports, on four nodes, one perhaps without a zone; and some moves."""
    zones = draw(st.lists(st.sampled_from(("x", "y", None)), min_size=4, max_size=4))
    nodes = [builders.node(f"n{n}", zone=zone) if zone else builders.node(f"n{n}") for n, zone in enumerate(zones)]
    pods = []
    for number in range(draw(st.integers(2, 6))):
        app = draw(st.sampled_from(("web", "db")))
        spread = draw(st.sampled_from(((), ((ZONE, 1),), ((ZONE, 2), (HOST, 1)))))
        pods.append(
            builders.pod(
                f"{app}-{number}",
                cpu="100m",
                node=f"n{draw(st.integers(0, 3))}",
                labels={"app": app},
                anti_affinity=draw(APART),
                topology_spread=tuple(
                    TopologySpreadConstraint(key, skew, selector=builders.selector(app=app)) for key, skew in spread
                ),
                ports=draw(st.sampled_from(((), (), (80,)))),
            )
        )
    moves = draw(
        st.lists(st.tuples(st.integers(0, len(pods) - 1), st.integers(0, 3)), max_size=3, unique_by=lambda m: m[0])
    )
    return builders.cluster(*nodes, *pods), moves


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(related(), st.booleans())
def test_one_node_is_judged_as_the_filters_judge_all(
    drawn: tuple[object, list[tuple[int, int]]], settles: bool
) -> None:
    """For every pod and node, before, during and after moves, both verdicts agree."""
    cluster, moves = drawn
    problem = problem_of(request_of(cluster))
    now = Arrivals(problem)
    for pod, node in moves:
        if now.placement.node_of[pod] != node:
            now.placement.move(pod, node)
    if settles:
        now.placement.settle()
    for pod in range(len(cluster.pods)):
        feasible = problem.prediction.feasible(pod, now.placement)
        assert problem.meetings.knows(pod)
        alone = [now.can_arrive(pod, node) for node in range(4)]
        assert np.array_equal(alone, feasible)
