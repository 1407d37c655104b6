"""A clock that goes by how often it is asked, so that a search ends by counted work and not by the machine's speed."""

from __future__ import annotations

from typing import Final

from rescheduler.extension_points import Clock

LOOK_SECONDS: Final = 0.00005
"""What one look at the clock counts for: about what a search does between two of them."""


class CountedClock(Clock):
    """Begins at ``now``, in seconds since the epoch."""

    def __init__(self, now: float) -> None:
        self._now = now
        self.looks = 0

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._now + self.looks * LOOK_SECONDS

    def monotonic(self) -> float:
        """One more look."""
        self.looks += 1
        return self.looks * LOOK_SECONDS

    def sleep(self, seconds: float) -> None:
        """Nothing is waited for."""
        self.work(seconds)

    @property
    def counts_work(self) -> bool:
        """Nothing else."""
        return True

    def work(self, seconds: float) -> None:
        """Counts as so many looks."""
        self.looks += max(0, round(seconds / LOOK_SECONDS))
