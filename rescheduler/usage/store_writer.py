"""Handing ticks to the store: one that cannot write is tried again later, and the watcher goes on without it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from rescheduler.extension_points import StoreError, UsageStore
from rescheduler.model.samples import NodeSamples

FIRST_PAUSE_SECONDS: Final = 15.0
LONGEST_PAUSE_SECONDS: Final = 300.0
_MOST_WAITING: Final = 40
"""Ticks kept for a store that fails: 10 minutes at the usual interval, 10 MB at 5,000 nodes."""


class StoreWriter:
    """One store, or none. ``error``: why the last write failed, "" if it did not; ``since``: since when."""

    def __init__(self, store: UsageStore | None) -> None:
        self._store = store
        self._waiting: deque[NodeSamples] = deque(maxlen=_MOST_WAITING)
        self._pause = 0.0
        self._next_at = 0.0
        self.error = ""
        self.since: float | None = None
        self.lost = 0

    def restore(self, since: float, now: float) -> Sequence[NodeSamples]:
        """What was kept and is not older than ``since``, oldest first; nothing where the store fails."""
        if self._store is None:
            return ()
        try:
            return self._store.restore(since)
        except StoreError as error:
            self._failed(str(error), now)
            return ()

    def save(self, samples: NodeSamples, now: float) -> None:
        """Keep one tick, and those that wait; after a failure not before a pause that doubles. Never raises."""
        if self._store is None:
            return
        self.lost += len(self._waiting) == _MOST_WAITING
        self._waiting.append(samples)
        if 0 < self._next_at - now <= self._pause:  # a clock that was set back does not make it wait for ever
            return
        try:
            while self._waiting:
                self._store.append(self._waiting[0])
                self._waiting.popleft()
        except StoreError as error:
            self._failed(str(error), now)
            self._next_at = now + self._pause
        else:
            self._pause, self.error, self.since = 0.0, "", None

    def _failed(self, error: str, now: float) -> None:
        self.since = now if not self.error else self.since
        self.error = error
        self._pause = min(max(2 * self._pause, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
