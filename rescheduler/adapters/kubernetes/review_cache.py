"""Answers of the cluster about tokens and rights, kept for a short time; safe to use from many threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from rescheduler.extension_points import Clock

YES_SECONDS: Final = 60.0
NO_SECONDS: Final = 10.0
MOST_KEPT: Final = 4096
T = TypeVar("T")


class ReviewCache(Generic[T]):
    """A yes is kept for a minute, a no (a false value) for ten seconds; of too many the oldest go first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[Hashable, tuple[T, float]] = {}

    def get(self, key: Hashable, ask: Callable[[], T]) -> T:
        """The answer that is kept, or a new one; what ``ask`` raises is raised, and nothing is kept."""
        now = self._clock.monotonic()
        with self._lock:
            found = self._kept.get(key)
        if found is not None and now < found[1]:
            return found[0]
        answer = ask()
        ends_at = now + (YES_SECONDS if answer else NO_SECONDS)  # from before it was asked: never kept for longer
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (answer, ends_at)
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return answer
