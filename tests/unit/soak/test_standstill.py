"""A process that wakes and sleeps without any time going by is found out, though no clock ever comes to its end."""

from __future__ import annotations

from tests.builders import NOW
from tests.soak.clock import StandstillError, Thread, WorldClock


def ended(seconds: float) -> BaseException | None:
    """What becomes of a process that sleeps so long 50,000 times over."""
    clock = WorldClock(NOW)
    told: list[BaseException | None] = []

    def body() -> None:
        for _ in range(50_000):
            clock.sleep(seconds)

    Thread(clock, body, told.append)
    clock.sleep(10_000.0)
    return told[0]


def test_sleeping_for_no_time_again_and_again_is_a_crash() -> None:
    """Any other process would never get its turn."""
    assert isinstance(ended(0.0), StandstillError)


def test_short_sleeps_are_none() -> None:
    """Time goes by."""
    assert ended(0.01) is None
