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

    @property
    def counts_work(self) -> bool:
        """Whether it goes by counted work: then nothing may be stopped by the time that a machine takes.

        A solver that is asked on such a clock is limited in its own deterministic time alone.
        """
        return False

    def work(self, seconds: float) -> None:  # noqa: ARG002 - here time passes by itself
        """So much was done without a look at the clock, which counts where it counts work."""
        return
