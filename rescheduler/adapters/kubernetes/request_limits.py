"""How fast we ask the API server: token buckets, one for each sort of request, so that none waits behind another."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final, NamedTuple

from rescheduler.adapters.kubernetes.request_names import EVICTION, LEASE, request_name
from rescheduler.extension_points import Clock


class Rate(NamedTuple):
    """Requests a second on average, and how many may be sent at once after a rest."""

    per_second: float
    burst: int


READS: Final = Rate(50.0, 100)
WRITES: Final = Rate(20.0, 40)
EVICTIONS: Final = Rate(10.0, 20)
"""Each eviction is asked for twice, first as a dry run. Sent one after another they wait a tenth of a second at most:
what the gate has permitted must not grow old in a queue."""


class TokenBucket:
    """Lets requests through at a rate; whoever comes too early waits its turn. For any number of threads."""

    def __init__(self, rate: Rate, clock: Clock) -> None:
        if rate.per_second <= 0 or rate.burst < 1:
            raise ValueError(f"a rate has to let something through, not {rate}")
        self._rate = rate
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens = float(rate.burst)
        self._counted_at = clock.monotonic()

    def take(self) -> float:
        """Take one token, and wait until it is there; the seconds waited.

        The token is taken at once and may be owed, so that whoever comes first goes first.
        """
        with self._lock:
            now = self._clock.monotonic()
            grown = (now - self._counted_at) * self._rate.per_second
            self._tokens = min(float(self._rate.burst), self._tokens + grown) - 1.0
            self._counted_at = now
            wait = max(0.0, -self._tokens / self._rate.per_second)
        if wait > 0.0:
            self._clock.sleep(wait)
        return wait


class RequestLimits:
    """Limits of one process: reads, writes and evictions each have a bucket of their own.

    Not limited: further pages of a list, which come as fast as we can look at them and no faster, and leases, since a
    leader that queues up behind its own writes would lose its lease.
    """

    def __init__(
        self, clock: Clock, *, reads: Rate = READS, writes: Rate = WRITES, evictions: Rate = EVICTIONS
    ) -> None:
        self._reads = TokenBucket(reads, clock)
        self._writes = TokenBucket(writes, clock)
        self._evictions = TokenBucket(evictions, clock)

    def wait(self, method: str, path: str, params: Mapping[str, str] | None = None) -> None:
        """Wait until a request may be sent."""
        name = request_name(method, path)
        if name.kind == LEASE or "continue" in (params or {}):
            return
        bucket = self._reads if name.is_read else self._evictions if name.kind == EVICTION else self._writes
        bucket.take()
