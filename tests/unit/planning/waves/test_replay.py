"""The planner's own replay refuses whatever a rule, a group or a limit forbids."""

from __future__ import annotations

from rescheduler.model.plan.disruption import DisruptionGroup, MoveLimits
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.waves.replay import replay
from tests.builders import cluster, node, pod, taint
from tests.unit.planning.planning_requests import index, problem_of, request_of

STATE = cluster(
    node("n1"), node("n2"), node("n3", taints=[taint("own")]),
    pod("a-1", cpu="3", node="n1"), pod("b-1", cpu="2", node="n2"),
    pod("c-1", cpu="1", node="n1"), pod("x-1", cpu="3"),
)  # fmt: skip
A, B, C, X = (index(STATE, name) for name in ("a-1", "b-1", "c-1", "x-1"))


def test_a_good_schedule_passes() -> None:
    """Nothing speaks against it."""
    assert replay(problem_of(request_of(STATE)), WaveSchedule((((C, 1),),))) == []


def test_arrivals_without_room_are_named() -> None:
    """Room that a pod of the same wave leaves does not count yet."""
    assert replay(problem_of(request_of(STATE)), WaveSchedule((((A, 1),),))) == [
        "default/a-1 may not arrive on n2 in wave 1"
    ]
    both = WaveSchedule((((C, 1), (B, 0)),))
    assert replay(problem_of(request_of(STATE)), both) == ["default/b-1 may not arrive on n1 in wave 1"]


def test_a_taint_is_seen() -> None:
    """All filters count, not room alone."""
    assert replay(problem_of(request_of(STATE)), WaveSchedule((((C, 2),),))) == [
        "default/c-1 may not arrive on n3 in wave 1"
    ]


def test_a_place_must_be_free_when_its_wave_ends() -> None:
    """A pending pod may not be placed before its room is there."""
    early = WaveSchedule((((C, 1),),), ((X, 0, 1),))
    assert replay(problem_of(request_of(STATE)), early) == ["default/x-1 may not arrive on n1"]


def test_groups_and_limits_bind() -> None:
    """Budgets of each wave, caps of the plan, pods that must stay, and the rule of one move."""
    group = DisruptionGroup("PodDisruptionBudget", "default/c", 0, (C,))
    moved = WaveSchedule((((C, 1),),))
    assert any(
        "PodDisruptionBudget default/c" in text for text in replay(problem_of(request_of(STATE, groups=[group])), moved)
    )
    assert replay(problem_of(request_of(STATE, fixed=["c-1"])), moved) == ["a pod moves that must not"]
    two = WaveSchedule((((C, 1),), ((C, 0),)))
    assert "a pod moves twice" in replay(problem_of(request_of(STATE)), two)
    capped = problem_of(request_of(STATE, limits=MoveLimits(max_evictions=1)))
    several = WaveSchedule((((C, 1),), ((B, 0),)))
    assert "limits.maxEvictions (1)" in replay(capped, several)
