"""The clock of tests: it stands still until a test moves it, or somebody sleeps."""

from __future__ import annotations

from dataclasses import dataclass

from rescheduler.extension_points import Clock
from tests.builders import NOW

STARTED = NOW - 100_000_000.0
"""When the monotonic clock was at 0: it is on no scale of the other's."""


@dataclass
class FakeClock(Clock):
    """``time``: seconds since the epoch, for tests to set."""

    time: float = NOW

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.time

    def monotonic(self) -> float:
        """Seconds on a scale of its own."""
        return self.time - STARTED

    def sleep(self, seconds: float) -> None:
        """Time passes at once."""
        self.time += seconds


@dataclass
class LookedAtClock(FakeClock):
    """Each look at it takes a second: deadlines count work, the same on every machine."""

    def monotonic(self) -> float:
        """Seconds on a scale of its own."""
        self.time += 1.0
        return super().monotonic()

    @property
    def counts_work(self) -> bool:
        """Looks, and what solvers say that they have done."""
        return True

    def work(self, seconds: float) -> None:
        """It takes as long."""
        self.time += seconds
