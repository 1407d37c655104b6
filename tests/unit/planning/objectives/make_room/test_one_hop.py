"""Plans without chains: what the master asks for is within the limits, and what stands of a failed choice is kept."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.make_room import one_hop
from rescheduler.planning.objectives.make_room.one_hop import OneHop
from rescheduler.planning.objectives.make_room.waiting import WaitingForReplacements
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.room_model.ranking import Proven, help_vector
from tests.builders import cluster, node, pod
from tests.unit.planning.asked import room_problem
from tests.unit.planning.planning_requests import endless, request_of

NO_LIMITS = MoveLimits()


def _found(state: Cluster, rounds: int, limits: MoveLimits = NO_LIMITS, fixed: tuple[str, ...] = ()) -> WaveSchedule:
    problem = room_problem(request_of(state, limits=limits, fixed=fixed))
    search = OneHop(problem, WaitingForReplacements(problem, WaveSchedule()), WaveSchedule(), seed=0)
    search.run(Proven(None, 0, help_vector(problem, problem.pending)), endless(), rounds=rounds)
    return search.best


@pytest.mark.parametrize("limits", [MoveLimits(max_evictions=1), MoveLimits(max_evictions_per_namespace=1)])
def test_under_a_limit_the_one_eviction_that_helps_most_is_chosen(limits: MoveLimits) -> None:
    """One large pod makes room for two that wait, small ones for one each: the limit leaves a choice, not nothing."""
    state = cluster(
        node("n1", cpu="3"), node("n2", cpu="3"), node("n3", cpu="6"), node("n4", cpu="3"), node("n5", cpu="1"),
        pod("a-1", cpu="1", node="n1"), pod("stay-1", cpu="1", node="n1"),
        pod("a-2", cpu="1", node="n2"), pod("stay-2", cpu="1", node="n2"),
        pod("b-1", cpu="3", node="n3"), pod("stay-3", cpu="2", node="n3"),
        *(_pinned(f"x-{n}", "2", host) for n, host in enumerate(("n1", "n2", "n3", "n3"))),
    )  # fmt: skip
    found = _found(state, 3, limits, fixed=("stay-1", "stay-2", "stay-3"))
    assert (len(found.places), found.evictions) == (2, 1)


def test_of_a_choice_that_fails_each_node_is_kept_that_still_has_its_room() -> None:
    """The pod of one hole takes the room that the next hole counted on: the third is kept in its place."""
    state = cluster(
        node("n1", cpu="3"), node("n2", cpu="3"), node("n3", cpu="2"), node("n4", cpu="2"),
        pod("a-1", cpu="1", node="n1"), pod("stay-1", cpu="1", node="n1"),
        pod("b-1", cpu="1", node="n2"), pod("stay-2", cpu="1", node="n2"),
        pod("d-1", cpu="2", node="n3"), pod("stay-3", cpu="0", node="n3"),
        *(_pinned(f"x-{n}", "2", f"n{n}") for n in range(1, 4)),
    )  # fmt: skip
    found = _found(state, 1, fixed=("stay-1", "stay-2", "stay-3"))
    assert len(found.places) == 2


def test_where_the_choice_fails_under_a_limit_another_node_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two pods would be helped by one eviction, but its pod finds no place within the limit: one is, by another."""
    monkeypatch.setattr(one_hop, "FAILURES_TO_SALVAGE", 1)
    state = cluster(
        node("n1", cpu="2"), node("n2", cpu="3"), node("n4", cpu="2"), node("n5", cpu="1"),
        pod("a-1", cpu="2", node="n1"), pod("b-1", cpu="1", node="n2"), pod("stay-2", cpu="1", node="n2"),
        *(_pinned(f"x-{n}", "1", "n1") for n in range(2)), _pinned("x-2", "2", "n2"), _pinned("y-1", "2", "n4"),
    )  # fmt: skip
    found = _found(state, 1, MoveLimits(max_evictions=1), fixed=("stay-2",))
    assert (len(found.places), found.evictions) == (2, 1)


def _pinned(name: str, cpu: str, host: str) -> Pod:
    return pod(name, cpu=cpu, node_selector=(("kubernetes.io/hostname", host),))
