"""Clusters in which every workload spreads over zones: plans and proofs hold there too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings

from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.model.plan.plan import Status
from rescheduler.planning.room_model.attempts import Attempt, Attempts
from rescheduler.planning.room_model.instance_builder import build_instance
from tests.builders import cluster, node, pod, selector
from tests.unit.planning.asked import plan_make_room, room_problem
from tests.unit.planning.brute_force import BruteForce, TinyCluster
from tests.unit.planning.planning_requests import endless, problem_of, request_of
from tests.unit.planning.tiny import request_for, tiny_clusters

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def all_spread(tiny: TinyCluster) -> TinyCluster:
    """The same with zone spread for every pod."""
    return replace(tiny, pods=tuple(replace(item, spreads=True, keeps_apart=False) for item in tiny.pods))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(most_running=6, most_pending=3))
def test_plans_under_spread_are_those_of_an_exhaustive_search(tiny: TinyCluster) -> None:
    """Help and evictions are the best that any order of moves reaches, and proven."""
    tiny = all_spread(tiny)
    answer = plan_make_room(request_for(tiny))
    helped, evictions = BruteForce(tiny).best()
    assert (answer.helped, answer.value, answer.bound) == (sum(helped), evictions, evictions)
    assert answer.status is not Status.UNKNOWN


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(most_running=6, most_pending=3))
def test_the_model_of_the_end_state_rules_out_no_plan(tiny: TinyCluster) -> None:
    """Rows for spread, separation and holes hold at the end of every plan: the model is never worse than the best."""
    tiny = all_spread(tiny)
    problem = room_problem(request_for(tiny))
    helped, evictions = BruteForce(tiny).best()
    for layers in (0, max(1, evictions)):
        instance = build_instance(problem, np.arange(problem.node_count))
        attempt = Attempts(problem, instance, endless(), 0).solve(layers, None, 0)
        assert isinstance(attempt, Attempt)
        assert attempt.help >= helped
        assert attempt.help > helped or attempt.evictions_bound <= evictions


def test_two_spread_rules_on_every_pod_do_not_hide_the_plan() -> None:
    """Spread over zones and hosts: the replica that may leave makes room, though most others may not."""
    even = tuple(TopologySpreadConstraint(key, 1, selector=selector(app="a")) for key in (ZONE, HOST))
    state = cluster(
        *(node(f"n{n}", cpu="4", zone="abc"[n % 3]) for n in range(6)),
        *(pod(f"a-{n}", cpu="2", node=f"n{n}", topology_spread=even, labels={"app": "a"}) for n in range(5)),
        *(pod(f"b-{n}", cpu="1", node=f"n{n}") for n in range(5)), pod("x-1", cpu="3"), pod("x-2", cpu="2"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state))
    assert (answer.status, answer.helped, answer.value) == (Status.OPTIMAL, 2, 1)


def test_few_domains_count_from_zero() -> None:
    """With fewer domains than asked for, the least counts as 0, so one pod a domain is all there may be."""
    rule = (TopologySpreadConstraint(ZONE, 1, min_domains=3, selector=selector(app="a")),)
    state = cluster(
        node("n1", zone="a", cpu="2"), node("n2", zone="b", cpu="8"),
        pod("a-1", cpu="2", node="n1", topology_spread=rule, labels={"app": "a"}),
        pod("a-2", cpu="2", node="n2", topology_spread=rule, labels={"app": "a"}),
        pod("x-1", cpu="2", node_selector=((HOST, "n1"),)),
    )  # fmt: skip
    request = request_of(state)
    (evenness,) = build_instance(problem_of(request), np.arange(2)).evenness
    assert evenness.is_from_zero
    assert plan_make_room(request).helped == 0
