"""Waiting ends, whatever clocks count in."""

from __future__ import annotations

import pytest

from rescheduler.execution.stopping import Waiter
from rescheduler.extension_points import Clock

EPOCH = 1.7e9


class Coarse(Clock):
    """A clock that keeps its time as seconds since 1970, so that what is far below its last digit changes nothing."""

    def __init__(self) -> None:
        self.time = EPOCH
        self.sleeps = 0

    def now(self) -> float:
        """Seconds since 1970."""
        return self.time

    def monotonic(self) -> float:
        """Seconds since it was started."""
        return self.time - EPOCH

    def sleep(self, seconds: float) -> None:
        """As long as can be counted."""
        self.sleeps += 1
        assert self.sleeps < 100, "this pause never ends"
        self.time += seconds


@pytest.mark.parametrize("seconds", [0.1, 0.2, 0.3, 0.7, 2.9, 5.1])
def test_a_pause_ends_on_a_clock_that_cannot_count_the_rest_of_it(seconds: float) -> None:
    """Too little is left of it to matter."""
    clock = Coarse()
    Waiter(clock, 1e6).pause(seconds)
    assert clock.monotonic() == pytest.approx(seconds, abs=1e-6)


def test_who_waits_for_a_moment_that_rounding_puts_just_after_now_gets_there() -> None:
    """As a run does that asks again when an answer's time is over: it would wake and wait for ever (seed 300094)."""
    clock = Coarse()
    until = clock.monotonic() + 7e-15
    Waiter(clock, 1e6).pause(until - clock.monotonic())
    assert clock.monotonic() >= until
