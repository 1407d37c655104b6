"""The API server's clock: it also wrote the times in its objects."""

from __future__ import annotations

from threading import Lock

from rescheduler.extension_points import Clock


class ServerClock:
    """Runs on between answers. For any number of threads.

    The server tells whole seconds, cut off: the latest of all times that it can mean is the nearest to the truth.
    """

    def __init__(self, clock: Clock) -> None:
        """``clock`` stands in until the server has told its time."""
        self._clock = clock
        self._lock = Lock()
        self._ahead: float | None = None

    def note(self, told: float | None) -> None:
        """An answer that has just come says this, in seconds since the epoch; None: it does not tell."""
        if told is None:
            return
        ahead = told - self._clock.monotonic()
        with self._lock:
            if self._ahead is None or not self._ahead - 1.0 <= ahead <= self._ahead:
                self._ahead = ahead

    def now(self) -> float:
        """Seconds since the epoch."""
        ahead = self._ahead
        return self._clock.now() if ahead is None else ahead + self._clock.monotonic()
