"""What became of the last minute's requests to the API server: failures, slowness, and how far its clock is off."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from typing import Final, NamedTuple

from rescheduler.adapters.kubernetes.client.request_names import EVICTION, RequestName
from rescheduler.extension_points import Clock

WINDOW_SECONDS: Final = 60.0
FEWEST: Final = 10
"""Of fewer requests no share is told: one failure among three says little."""
MOST_KEPT: Final = 20_000
"""Far more than a daemon sends in a minute; the oldest go first."""
LONGEST_TRIP_SECONDS: Final = 5.0
"""An answer that took longer tells nothing of the clock: the server may have written its time at either end."""
_BUSY: Final = 429
_BROKEN: Final = 500


class SentRequest(NamedTuple):
    """One request, once its answer began or once it was given up.

    ``status``: of the answer, None where there was none; ``failure``: why not, in one word. ``seconds``: from sending
    to the first byte of the answer. ``server_time``: the server's clock, seconds since the epoch. ``is_stream``: a
    watch; how long it lasts does not matter.
    """

    name: RequestName
    status: int | None
    seconds: float
    failure: str = ""
    server_time: float | None = None
    is_stream: bool = False

    @property
    def is_failure(self) -> bool:
        """Whether the API server, or the way to it, failed.

        A refusal (4xx) is an answer like any other. An eviction is answered with 429 where a budget allows none, so
        that only other requests tell of a server that is too busy.
        """
        if self.status is None or self.status >= _BROKEN:
            return True
        return self.status == _BUSY and self.name.kind != EVICTION

    @property
    def outcome(self) -> str:
        """For people and metrics: the status, or why there was none; few different ones."""
        return self.failure or "no answer" if self.status is None else str(self.status)


class RequestCount(NamedTuple):
    """By what requests are counted."""

    verb: str
    kind: str
    outcome: str


class RequestRecord:
    """Takes note of every request; may be written and read from any thread."""

    def __init__(self, clock: Clock, *, window_seconds: float = WINDOW_SECONDS, fewest: int = FEWEST) -> None:
        self._clock = clock
        self._window_seconds = window_seconds
        self._fewest = fewest
        self._lock = threading.Lock()
        self._recent: deque[tuple[float, SentRequest]] = deque(maxlen=MOST_KEPT)
        self._counts: Counter[RequestCount] = Counter()
        self._offset: tuple[float, float] | None = None

    def note(self, sent: SentRequest) -> None:
        """Take note of a request that was answered, or given up, just now."""
        now, wall = self._clock.monotonic(), self._clock.now()
        with self._lock:
            self._recent.append((now, sent))
            self._counts[RequestCount(sent.name.verb, sent.name.kind, sent.outcome)] += 1
            if sent.server_time is not None and sent.seconds <= LONGEST_TRIP_SECONDS:
                # The server writes whole seconds, cut off: half of one is added, and half of the way here.
                self._offset = (now, sent.server_time + 0.5 - (wall - sent.seconds / 2))

    def sent(self) -> int:
        """How many requests were sent within the window; watches are left out."""
        return sum(not item.is_stream for item in self._in_window())

    def error_share(self) -> float | None:
        """Share of the window's requests that failed; None where there were too few."""
        sent = self._in_window()
        if len(sent) < self._fewest:
            return None
        return sum(item.is_failure for item in sent) / len(sent)

    def slowest_percent_seconds(self) -> float | None:
        """What one request in a hundred took longer than; None where there were too few.

        Of fewer than a hundred one may be slower, so that a single straggler never counts. Watches are left out.
        """
        seconds = sorted(item.seconds for item in self._in_window() if not item.is_stream)
        if len(seconds) < self._fewest:
            return None
        return seconds[-1 - max(1, len(seconds) // 100)]

    def clock_offset_seconds(self) -> float | None:
        """How far the server's clock is ahead of ours by its newest answer; None where none in the window told."""
        with self._lock:
            offset = self._offset
        if offset is None or self._clock.monotonic() - offset[0] > self._window_seconds:
            return None
        return offset[1]

    def counts(self) -> Mapping[RequestCount, int]:
        """Every request since the beginning, by verb, kind and outcome; only ever rises."""
        with self._lock:
            return dict(self._counts)

    def _in_window(self) -> list[SentRequest]:
        oldest = self._clock.monotonic() - self._window_seconds
        with self._lock:
            while self._recent and self._recent[0][0] < oldest:
                self._recent.popleft()
            return [item for _, item in self._recent]
