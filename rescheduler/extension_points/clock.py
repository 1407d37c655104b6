"""Time, as everything below the adapters asks for it."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Time, injected: nothing below the adapters reads the real one."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""

    def sleep(self, seconds: float) -> None:
        """Wait."""
