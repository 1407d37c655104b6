"""What the server asks of the load watcher that it stands before."""

from __future__ import annotations

from typing import Protocol

from rescheduler.daemon.load_watcher.record import Record
from rescheduler.usage.collecting.collected import Collected


class WatcherSource(Protocol):
    """A running load watcher: the collector, say."""

    @property
    def collected(self) -> Collected:
        """What was known after the newest tick, read from any thread; ``ticks`` is 0 before the first."""


class Records:
    """The newest tick of a watcher, one Record for each."""

    def __init__(self, source: WatcherSource) -> None:
        self._source = source
        self._newest: Record | None = None

    @property
    def collected(self) -> Collected:
        """What was known after the newest tick."""
        return self._source.collected

    def current(self) -> Record | None:
        """The newest tick, None before the first."""
        collected = self._source.collected
        if not collected.ticks:
            return None
        newest = self._newest
        if newest is None or newest.collected is not collected:
            newest = self._newest = Record(collected)
        return newest
