"""Which column of a ring holds which node or pod, as they come, go and are made anew."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import repeat
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np

from rescheduler.model.arrays import IntArray

Key = TypeVar("Key", bound=Hashable)
NO_COLUMN: Final = -1
_UNUSED: Final = np.iinfo(np.int64).max
"""Last seen: for columns that nobody has; never old."""


class Seats(NamedTuple):
    """Where the keys of one tick go: ``columns``: int64[K], NO_COLUMN where there was no room.

    ``cleared``: columns whose former content belongs to nobody any more and must be wiped before use.
    """

    columns: IntArray
    cleared: IntArray


class Columns(Generic[Key]):
    """Columns by key, at most ``limit``; a key that was not seen for ``memory`` ticks is forgotten, its column reused.

    Age is counted in ticks, not by a clock, so that no jump of a clock can keep or lose a key.
    """

    def __init__(self, memory: int, limit: int | None = None) -> None:
        self._memory = memory
        self._limit = limit
        self._column_of: dict[Key, int] = {}
        self._key_of: dict[int, Key] = {}
        self._uid_of: dict[Key, str] = {}
        self._free: list[int] = []
        self._seen = np.zeros(0, dtype=np.int64)
        self._tick = 0
        self._last: tuple[Sequence[Key], Sequence[str], IntArray] | None = None

    @property
    def width(self) -> int:
        """Columns ever in use at once."""
        return len(self._seen)

    def find(self, keys: Sequence[Key]) -> IntArray:
        """Columns of these keys, int64[K]; NO_COLUMN for those that were never seen or are forgotten."""
        found = map(self._column_of.get, keys, repeat(NO_COLUMN))
        return np.fromiter(found, dtype=np.int64, count=len(keys))

    def seat(self, keys: Sequence[Key], uids: Sequence[str] = ()) -> Seats:
        """Give each key of one tick its column; of another uid than before, a key starts with nothing."""
        self._tick += 1
        if self._last is not None and self._last[0] == keys and self._last[1] == uids:
            columns, cleared = self._last[2], np.zeros(0, dtype=np.int64)
        else:
            columns, cleared = self._seat_anew(keys, uids)
            self._last = (keys, uids, columns)
        self._seen[columns[columns != NO_COLUMN]] = self._tick
        return Seats(columns, cleared)

    def _seat_anew(self, keys: Sequence[Key], uids: Sequence[str]) -> tuple[IntArray, IntArray]:
        columns = self.find(keys)
        cleared = self._reborn(keys, uids, columns)
        # Whoever is here now must not be taken for gone when room is made.
        self._seen[columns[columns != NO_COLUMN]] = self._tick
        new = list(dict.fromkeys(keys[at] for at in np.flatnonzero(columns == NO_COLUMN).tolist()))
        if new:
            self._forget_gone(at_least=0 if self._limit is None else len(self._column_of) + len(new) - self._limit)
            seats = self._take(len(new))
            self._column_of.update(zip(new, seats, strict=False))
            self._key_of.update(zip(seats, new, strict=False))
            self._seen[seats] = self._tick
            cleared.extend(seats)
            columns = self.find(keys)
        return columns, np.array(cleared, dtype=np.int64)

    def _reborn(self, keys: Sequence[Key], uids: Sequence[str], columns: IntArray) -> list[int]:
        """Columns of known keys whose object is another one now; remembers every uid."""
        reborn = []
        for key, uid, column in zip(keys, uids, columns, strict=False):
            known = self._uid_of.get(key, "")
            if uid and known and uid != known and column != NO_COLUMN:
                reborn.append(int(column))
            if uid:
                self._uid_of[key] = uid
        return reborn

    def _forget_gone(self, at_least: int) -> None:
        """Forget keys unseen for too long, and for want of room those unseen for longest, but none of this tick."""
        by_age = np.argsort(self._seen, kind="stable")
        seen = self._seen[by_age]
        is_old = (seen <= self._tick - self._memory) | (np.arange(len(seen)) < at_least)
        for column in by_age[is_old & (seen < self._tick)].tolist():
            key = self._key_of.pop(column)
            del self._column_of[key]
            self._uid_of.pop(key, None)
            self._seen[column] = _UNUSED
            self._free.append(column)

    def _take(self, wanted: int) -> list[int]:
        """Free columns, new ones where too few are free; fewer than wanted if the limit is reached."""
        if self._limit is not None:
            wanted = min(wanted, self._limit - len(self._column_of))
        missing = wanted - len(self._free)
        if missing > 0:
            # Some to spare: growing copies everything.
            grown = self.width + max(missing, self.width // 8)
            if self._limit is not None:
                grown = min(grown, self._limit)
            self._free.extend(range(grown - 1, self.width - 1, -1))
            self._seen = np.concatenate([self._seen, np.full(grown - self.width, _UNUSED)])
        return [self._free.pop() for _ in range(wanted)]
