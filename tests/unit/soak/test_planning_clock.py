"""The clock on which planning in the simulation ends, in the same moment on every machine."""

from __future__ import annotations

from rescheduler.planning.problem.deadline import Deadline
from tests.soak.clock import MOST_LOOKS, PlanningClock, ProcessClock, WorldClock


def a_clock() -> PlanningClock:
    """For one plan, on a world that rests."""
    return PlanningClock(ProcessClock(WorldClock(1000.0), lambda: False))


def test_no_time_passes_before_the_search_has_looked_often() -> None:
    """What a plan may take does not depend on how fast the machine is."""
    deadline = Deadline(a_clock(), 10.0)
    assert {deadline.remaining() for _ in range(MOST_LOOKS - 1)} == {10.0}


def test_a_search_without_an_end_sees_its_deadline() -> None:
    """And so does each part of it, for good."""
    deadline = Deadline(a_clock(), 10.0)
    part = deadline.part(0.5)
    looks = 0
    while not part.is_over():
        looks += 1
    assert looks < MOST_LOOKS
    assert deadline.is_over()
    assert deadline.part(0.5).is_over()


def test_plans_are_dated_by_the_process() -> None:
    """A search that took long does not make its plan a plan of tomorrow."""
    clock = a_clock()
    for _ in range(2 * MOST_LOOKS):
        clock.monotonic()
    assert clock.now() == 1000.0
