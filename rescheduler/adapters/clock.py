"""The real clock, for what runs against a live cluster."""

from __future__ import annotations

import time

from rescheduler.extension_points import Clock


class SystemClock(Clock):
    """Time as the machine tells it."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait; returns at once for zero or less."""
        if seconds > 0:
            time.sleep(seconds)
