"""The simulated clock: order, time and quiet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.simulated.clock import SimulatedClock


@given(st.lists(st.floats(0, 100), max_size=20))
def test_events_happen_at_their_own_time_in_order(delays: list[float]) -> None:
    """By time, and for equal times by when they were planned."""
    clock = SimulatedClock()
    seen: list[tuple[float, int]] = []
    for number, delay in enumerate(delays):
        clock.after(delay, lambda number=number: seen.append((clock.now(), number)))  # type: ignore[misc]
    clock.sleep(100)
    assert seen == sorted((delay, number) for number, delay in enumerate(delays))


def test_an_event_may_plan_others_within_the_same_sleep() -> None:
    """A chain of events runs as far as the sleep reaches, and no further."""
    clock = SimulatedClock(start=1000)
    seen: list[float] = []

    def tick() -> None:
        seen.append(clock.now())
        clock.after(10, tick)

    clock.after(10, tick)
    clock.sleep(35)
    assert seen == [1010, 1020, 1030]
    assert (clock.now(), clock.monotonic(), clock.seconds_to_next()) == (1035, 35, 5)


def test_background_events_do_not_disturb_the_quiet() -> None:
    """Deadlines and timeouts are nothing to wait for; everything else is."""
    clock = SimulatedClock()
    clock.after(5, lambda: None, is_background=True)
    assert clock.is_quiet
    clock.after(1, lambda: None)
    assert not clock.is_quiet
    clock.sleep(1)
    assert clock.is_quiet


def test_sleeping_backwards_stays_where_it_is() -> None:
    """A negative time is none."""
    clock = SimulatedClock(start=7)
    clock.sleep(-3)
    assert clock.now() == 7


@given(st.lists(st.floats(0, 1, exclude_min=True), min_size=1, max_size=20))
def test_short_sleeps_are_not_lost_beside_a_late_start(pauses: list[float]) -> None:
    """Waiting for what is left of a time ends, however little is left of it."""
    clock = SimulatedClock(start=1.8e9)
    until = clock.monotonic() + sum(pauses)
    for pause in pauses[:-1]:
        clock.sleep(pause)
    rounds = 0
    while (left := until - clock.monotonic()) > 0:
        clock.sleep(left)
        rounds += 1
        assert rounds < 5


def test_an_event_that_waits_is_a_fault_of_ours() -> None:
    """Time may not pass inside an event; the clock is usable afterwards."""
    clock = SimulatedClock()
    clock.after(1, lambda: clock.sleep(1))
    with pytest.raises(AssertionError, match="may not itself wait"):
        clock.sleep(2)
    clock.sleep(1)
