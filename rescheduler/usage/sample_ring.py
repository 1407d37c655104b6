"""The newest ticks of samples of many keys, as arrays of a fixed number of rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import repeat
from math import ceil, isfinite
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray

# Which column of a ring holds which node or pod, as they come, go and are made anew.

Key = TypeVar("Key", bound=Hashable)
NO_COLUMN: Final = -1
_UNUSED: Final = np.iinfo(np.int64).max
"""Last seen: for columns that nobody has; never old."""


class RingSeats(NamedTuple):
    """Where the keys of one tick go: ``columns``: int64[K], NO_COLUMN where there was no room.

    ``cleared``: columns whose former content belongs to nobody any more and must be wiped before use.
    """

    columns: IntArray
    cleared: IntArray


class RingColumns(Generic[Key]):
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

    def seat(self, keys: Sequence[Key], uids: Sequence[str] = ()) -> RingSeats:
        """Give each key of one tick its column; of another uid than before, a key starts with nothing."""
        self._tick += 1
        if self._last is not None and self._last[0] == keys and self._last[1] == uids:
            columns, cleared = self._last[2], np.zeros(0, dtype=np.int64)
        else:
            columns, cleared = self._seat_anew(keys, uids)
            self._last = (keys, uids, columns)
        self._seen[columns[columns != NO_COLUMN]] = self._tick
        return RingSeats(columns, cleared)

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


SmallFloatArray: TypeAlias = npt.NDArray[np.float32]

CLOCK_SKEW_SECONDS: Final = 30.0
"""What lies further ahead of our clock than this was written before the clock was set back, and is dropped."""
MOST_ROWS: Final = 10_000


class Cells(NamedTuple):
    """Samples as they lie in a ring, oldest tick first: float64[T], float32[M, T, K], float64[T, K]."""

    times: FloatArray
    values: SmallFloatArray
    measured_at: FloatArray


def row_count(longest_window_seconds: float, interval_seconds: float) -> int:
    """Rows that a ring needs so that no window ever lacks one; ticks may come a tenth too early.

    Raises ValueError beyond MOST_ROWS.
    """
    seconds = longest_window_seconds + CLOCK_SKEW_SECONDS
    rows = ceil(1.1 * seconds / interval_seconds) + 2
    if rows > MOST_ROWS:
        raise ValueError(
            f"windows of {longest_window_seconds:g} s at a sample every {interval_seconds:g} s need {rows} rows; "
            f"at most {MOST_ROWS} are kept: sample less often, or choose shorter windows"
        )
    return rows


class SampleRing(Generic[Key]):
    """Ticks of K keys x M metrics, each with the source's own time; not safe to use from two threads at once.

    A sample whose own time the ring has already for its key is a duplicate: it only fills metrics that were missing.
    The row with the oldest tick makes room for a new one.
    """

    def __init__(self, metrics: Sequence[str], rows: int, limit: int | None = None) -> None:
        """``rows``: ticks kept; ``limit``: most keys kept at once, further ones are unknown."""
        self.metrics = tuple(metrics)
        self._columns: RingColumns[Key] = RingColumns(memory=rows, limit=limit)
        self._times: FloatArray = np.full(rows, -np.inf)
        self._newest: FloatArray = np.zeros(0)
        self._at: FloatArray = np.full((rows, 0), np.nan)
        self._values: SmallFloatArray = np.full((len(self.metrics), rows, 0), np.nan, dtype=np.float32)

    @property
    def newest_time(self) -> float | None:
        """When the newest tick was taken, None if there is none."""
        newest = float(self._times.max(initial=-np.inf))
        return newest if isfinite(newest) else None

    def add(
        self,
        time: float,
        keys: Sequence[Key],
        values: npt.NDArray[np.floating],
        measured_at: FloatArray,
        *,
        now: float,
        uids: Sequence[str] = (),
    ) -> None:
        """Take in one tick: ``values``: [M, K], ``measured_at``: [K]; NaN where there is no sample.

        O(K) unless samples come late or twice. Of two keys alike the later counts. Ticks from after ``now`` (a clock
        was set back) are dropped; so is one older than all that the full ring holds.
        """
        self._drop_future(now)
        columns, cleared = self._columns.seat(keys, uids)
        self._widen()
        self._clear(cleared)
        with np.errstate(over="ignore"):
            small = np.asarray(values, dtype=np.float32)
        small = np.where(np.isfinite(small), small, np.float32(np.nan))
        is_known = np.isfinite(measured_at) & np.isfinite(small).any(axis=0) & (columns != NO_COLUMN)
        chosen = np.flatnonzero(is_known)
        columns, small, at = columns[chosen], small[:, chosen], measured_at[chosen]
        is_new = self._without_duplicates(columns, small, at)
        row = int(np.argmin(self._times))
        if is_new.any() and time >= self._times[row] and time <= now + CLOCK_SKEW_SECONDS:
            self._write(row, time, columns[is_new], small[:, is_new], at[is_new])

    def find(self, keys: Sequence[Key]) -> IntArray:
        """Columns of these keys, for ``cells``; good until the next ``add``."""
        return self._columns.find(keys)

    def cells(self, columns: IntArray, since: float) -> Cells:
        """Ticks with any sample measured after ``since``, in columns that ``find`` found; NaN where there is none."""
        rows = np.flatnonzero((self._at > since).any(axis=1))
        rows = rows[np.argsort(self._times[rows], kind="stable")]
        shape = (len(rows), len(columns))
        at, values = np.full(shape, np.nan), np.full((len(self.metrics), *shape), np.nan, dtype=np.float32)
        known = np.flatnonzero(columns != NO_COLUMN)
        at[:, known] = self._at[rows[:, None], columns[known]]
        values[:, :, known] = self._values[:, rows[:, None], columns[known]]
        return Cells(self._times[rows], values, at)

    def _without_duplicates(self, columns: IntArray, small: SmallFloatArray, at: FloatArray) -> BoolArray:
        """Which samples are new; of those known already, metrics that were missing are filled in."""
        is_new: BoolArray = at > self._newest[columns]
        late = np.flatnonzero(~is_new)
        if not late.size:
            return is_new
        is_same = self._at[:, columns[late]] == at[late]
        is_known = is_same.any(axis=0)
        known, rows = late[is_known], is_same.argmax(axis=0)[is_known]
        kept = self._values[:, rows, columns[known]]
        self._values[:, rows, columns[known]] = np.where(np.isnan(kept), small[:, known], kept)
        is_new[late[~is_known]] = True
        return is_new

    def _write(self, row: int, time: float, columns: IntArray, small: SmallFloatArray, at: FloatArray) -> None:
        self._at[row] = np.nan
        self._values[:, row] = np.nan
        self._times[row] = time
        self._at[row, columns] = at
        self._values[:, row, columns] = small
        self._newest[columns] = np.maximum(self._newest[columns], at)

    def _drop_future(self, now: float) -> None:
        rows = np.flatnonzero(self._times > now + CLOCK_SKEW_SECONDS)
        if rows.size:
            self._times[rows] = -np.inf
            self._at[rows] = np.nan
            self._values[:, rows] = np.nan
            self._newest = np.where(np.isnan(self._at), -np.inf, self._at).max(axis=0, initial=-np.inf)

    def _clear(self, columns: IntArray) -> None:
        self._at[:, columns] = np.nan
        self._values[:, :, columns] = np.nan
        self._newest[columns] = -np.inf

    def _widen(self) -> None:
        added = self._columns.width - self._at.shape[1]
        if added > 0:
            self._newest = np.concatenate([self._newest, np.full(added, -np.inf)])
            self._at = np.pad(self._at, ((0, 0), (0, added)), constant_values=np.nan)
            self._values = np.pad(self._values, ((0, 0), (0, 0), (0, added)), constant_values=np.nan)
