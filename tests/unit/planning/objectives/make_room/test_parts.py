"""Pending groups, pairings and holes: the small parts of make room."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings

from rescheduler.planning.problem.draft import Draft
from rescheduler.planning.problem.pending_groups import PendingGroups
from rescheduler.planning.room_model.general import pairings
from rescheduler.planning.room_model.instance import PendingDemand
from rescheduler.planning.room_model.instance_builder import build_instance
from tests.builders import cluster, node, pod
from tests.unit.planning.asked import room_problem
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.planning_requests import index, problem_of, request_of
from tests.unit.planning.tiny import request_for, tiny_clusters


def test_groups_that_share_a_pod_are_one() -> None:
    """A pod that is in two groups ties them together; who is not to be helped is in none."""
    state = cluster(node("n1"), *(pod(f"x-{n}", priority=n) for n in range(5)))
    pending_groups = PendingGroups(state, range(5), ((0, 1), (1, 2), (3,), (4, 9)))
    assert pending_groups.groups == ((0, 1, 2),)
    assert [pending_groups.priority(number) for number in range(5)] == [2, 2, 2, 3, 4]
    assert pending_groups.pending == (4, 3, 0, 1, 2)
    assert pending_groups.levels == (4, 3, 2)


def test_places_of_a_group_count_whole_or_not_at_all() -> None:
    """A group that is placed in part loses its places; pods alone keep theirs."""
    state = cluster(node("n1"), *(pod(f"x-{n}") for n in range(4)))
    pending_groups = PendingGroups(state, range(4), ((0, 2),))
    assert pending_groups.whole({0: 5, 1: 5}) == {1: 5}
    assert pending_groups.is_whole({0: 5, 2: 6, 3: 1})
    assert not pending_groups.is_whole({2: 5})
    assert pending_groups.in_units([3, 2, 1, 0]) == [(3,), (2, 0), (1,)]


def test_alike_pods_may_be_named_in_every_way_but_home() -> None:
    """Three alike pods on three nodes with three targets: pods may be swapped, and none is sent where it is."""
    state = cluster(*(node(f"n{n}") for n in range(4)), *(pod(f"a-{n}", node=f"n{n}") for n in range(3)))
    problem = problem_of(request_of(state))
    instance = build_instance(problem, np.arange(4))
    pods = [index(state, f"a-{n}") for n in range(3)]
    draft = Draft({pods[0]: 1, pods[1]: 2, pods[2]: 3})
    found, are_all = pairings(instance, draft)
    assert are_all
    assert found[0] == draft
    ways = {tuple(sorted(option.moves.items())) for option in found}
    assert len(ways) == len(found) == 3
    assert all(problem.start.node_of[pod] != target for way in ways for pod, target in way)
    assert all(sorted(target for _, target in way) == [1, 2, 3] for way in ways)


def test_many_alike_pods_are_not_all_named_otherwise() -> None:
    """Beyond a few the ways are too many, and that is said."""
    state = cluster(*(node(f"n{n}") for n in range(9)), *(pod(f"a-{n}", node=f"n{n}") for n in range(7)))
    problem = problem_of(request_of(state))
    draft = Draft({index(state, f"a-{n}"): (n + 1) % 9 for n in range(7)})
    found, are_all = pairings(build_instance(problem, np.arange(9)), draft)
    assert found == [draft]
    assert not are_all


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(most_running=6, most_pending=3))
def test_a_hole_never_asks_for_more_than_all_that_could_leave(tiny: TinyCluster) -> None:
    """Where enough pods can leave for one pending pod, the row lets it in once they have all left."""
    problem = room_problem(request_for(tiny))
    instance = build_instance(problem, np.arange(problem.node_count))
    demand_of: dict[int, PendingDemand] = {demand.kind: demand for demand in instance.demands}
    for hole in instance.holes:
        request = problem.request_of(demand_of[hole.kind].pods[0])
        on_node = problem.origin == hole.node
        room = problem.free[:, hole.node] + problem.held[:, on_node].sum(axis=1)
        if ((request <= room) | (request == 0)).all():
            assert hole.least <= hole.number * int(on_node.sum())
        assert hole.least > 0
