"""How often one client may ask: a bucket of requests for each, refilled at a steady rate."""

from __future__ import annotations

import threading
from typing import Final

from rescheduler.extension_points import Clock

PER_SECOND: Final = 20.0
MOST_CLIENTS: Final = 4096


class RateLimit:
    """Safe to use from many threads; of too many clients those that have been quiet the longest are forgotten."""

    def __init__(self, clock: Clock, per_second: float = PER_SECOND, burst: float | None = None) -> None:
        """``burst``: requests at once; by default those of one second."""
        self._clock = clock
        self.per_second = per_second
        self._burst = per_second if burst is None else burst
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, client: str) -> bool:
        """Count one request; False if it is one too many."""
        with self._lock:
            left, now = self._left(client)
            is_allowed = left >= 1.0
            self._buckets.pop(client, None)
            self._buckets[client] = (left - 1.0 if is_allowed else left, now)
            if len(self._buckets) > MOST_CLIENTS:
                del self._buckets[next(iter(self._buckets))]
            return is_allowed

    def has_room(self, client: str) -> bool:
        """Whether a request would be allowed; counts nothing."""
        with self._lock:
            return self._left(client)[0] >= 1.0

    def _left(self, client: str) -> tuple[float, float]:
        now = self._clock.monotonic()
        left, since = self._buckets.get(client, (self._burst, now))
        return min(self._burst, left + (now - since) * self.per_second), now
