"""What a connection does round each request beside sending it: wait for its turn, time it, note what became of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.request_names import EVICTION, LEASE, request_name
from rescheduler.adapters.kubernetes.client.request_record import RequestRecord, SentRequest
from rescheduler.extension_points import Clock

# How fast we ask the API server: token buckets, one for each sort of request, so that none waits behind another.


class RequestRate(NamedTuple):
    """Requests a second on average, and how many may be sent at once after a rest."""

    per_second: float
    burst: int


READS: Final = RequestRate(50.0, 100)
WRITES: Final = RequestRate(20.0, 40)
EVICTIONS: Final = RequestRate(10.0, 20)
"""Each eviction is asked for twice, first as a dry run. Sent one after another they wait a tenth of a second at most:
what the gate has permitted must not grow old in a queue."""


class TokenBucket:
    """Lets requests through at a rate; whoever comes too early waits its turn. For any number of threads."""

    def __init__(self, rate: RequestRate, clock: Clock) -> None:
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
        self,
        clock: Clock,
        *,
        reads: RequestRate = READS,
        writes: RequestRate = WRITES,
        evictions: RequestRate = EVICTIONS,
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


class Sending:
    """A request on its way; whoever sends it says when its answer begins."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock.monotonic()
        self.status: int | None = None
        self.server_time: float | None = None
        self._answered_at: float | None = None

    def answered(self, status: int, server_time: float | None) -> None:
        """The head of the answer is there; ``server_time``: the server's clock, seconds since the epoch."""
        self.status, self.server_time, self._answered_at = status, server_time, self._clock.monotonic()

    @property
    def seconds(self) -> float:
        """Until the answer began, or until now."""
        return (self._clock.monotonic() if self._answered_at is None else self._answered_at) - self._began


class Traffic:
    """Of one connection or several. Without record and limits it does nothing."""

    def __init__(
        self, record: RequestRecord | None = None, limits: RequestLimits | None = None, clock: Clock | None = None
    ) -> None:
        self._record = record
        self._limits = limits
        self._clock = clock or SystemClock()

    def wait(self, method: str, path: str, params: Mapping[str, str] | None = None) -> None:
        """Wait until a request may be sent. To be called before whatever has to hold at the moment of sending."""
        if self._limits is not None:
            self._limits.wait(method, path, params)

    @contextmanager
    def sending(self, method: str, path: str, *, is_stream: bool = False) -> Iterator[Sending]:
        """For the time in which a request is sent and its answer, or the beginning of a stream's, is read.

        An answer that breaks off, by an exception, counts as none.
        """
        sending, failure = Sending(self._clock), ""
        try:
            yield sending
        except Exception as error:
            failure = type(error).__name__
            raise
        finally:
            if self._record is not None:
                status = None if failure else sending.status
                name = request_name(method, path, is_stream=is_stream)
                self._record.note(
                    SentRequest(name, status, sending.seconds, failure, sending.server_time, is_stream=is_stream)
                )
