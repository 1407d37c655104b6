"""A usage store that is opened when it is needed, and anew after it has failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rescheduler.extension_points import StoreError, UsageStore
from rescheduler.model.usage.samples import NodeSamples

T = TypeVar("T")


class ReopeningUsageStore(UsageStore):
    """Passes every failure on, and lets go of the file with it: when to try again is for whoever writes to it.

    A file that was removed, a disk that was full, or another process that held the file is found well again so.
    """

    def __init__(self, open_store: Callable[[], UsageStore]) -> None:
        """``open_store`` raises StoreError if it cannot; nothing is opened yet."""
        self._open_store = open_store
        self._store: UsageStore | None = None

    def append(self, samples: NodeSamples) -> None:
        """As UsageStore."""
        self._done(lambda store: store.append(samples))

    def restore(self, since: float) -> Sequence[NodeSamples]:
        """As UsageStore. Raises StoreError."""
        return self._done(lambda store: store.restore(since))

    def close(self) -> None:
        """Let go of the file; never raises."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _done(self, act: Callable[[UsageStore], T]) -> T:
        try:
            if self._store is None:
                self._store = self._open_store()
            return act(self._store)
        except StoreError:
            self.close()
            raise
