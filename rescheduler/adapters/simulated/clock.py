"""A clock that only moves when it is told to, and the queue of what happens on it."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

from rescheduler.extension_points import Clock


class SimulatedClock(Clock):
    """A Clock whose ``sleep`` runs everything that falls due meanwhile, in order of time, then of scheduling.

    ``start`` is in seconds since the epoch. Two runs with the same calls see the same events in the same order.
    """

    def __init__(self, start: float = 0.0) -> None:
        self._start = start
        # Counted from 0: beside the seconds since 1970 short sleeps would be lost in rounding.
        self._elapsed = 0.0
        self._order = count()
        self._due: list[tuple[float, int, bool, Callable[[], None]]] = []
        self._in_progress = 0
        self._is_running = False

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._start + self._elapsed

    def monotonic(self) -> float:
        """Seconds since the simulation began."""
        return self._elapsed

    @property
    def is_quiet(self) -> bool:
        """True if nothing but background events (deadlines, timeouts) is planned."""
        return self._in_progress == 0

    def after(self, seconds: float, act: Callable[[], None], *, is_background: bool = False) -> None:
        """Let ``act`` happen ``seconds`` (0 or more) from now; ``is_background``: nobody should wait for it."""
        heapq.heappush(self._due, (self._elapsed + max(0.0, seconds), next(self._order), is_background, act))
        self._in_progress += not is_background

    def sleep(self, seconds: float) -> None:
        """Move on by ``seconds``; what falls due on the way happens at its own time."""
        assert not self._is_running, "what happens on the clock may not itself wait"
        until = self._elapsed + max(0.0, seconds)
        self._is_running = True
        try:
            while self._due and self._due[0][0] <= until:
                self._elapsed, _, is_background, act = heapq.heappop(self._due)
                self._in_progress -= not is_background
                act()
        finally:
            self._is_running = False
        self._elapsed = until

    def seconds_to_next(self) -> float | None:
        """How long until the next thing falls due; None if nothing is planned."""
        return self._due[0][0] - self._elapsed if self._due else None
