"""Which entries of a ledger stand where: the newest in the main object, what is over or long open in shards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from rescheduler.adapters.kubernetes.ledger.ledger_objects import Content
from rescheduler.adapters.kubernetes.ledger.ledger_text import (
    DATA_KEY,
    FORMAT,
    FORMAT_KEY,
    PACKED_KEY,
    SLOTS,
    ShardMark,
    head_of,
    pack,
    write_head,
)
from rescheduler.model.daemon.ledger import Ledger, LedgerEntry

ROOM_BYTES: Final = 14_300
"""What an eviction may write, main object and shard together, beside names and marks: 16 kB with them."""
OPEN_BYTES: Final = 10_000
"""What may stand in the main object because it is open: the rest is for the shard that may be written with it."""
MUCH_OPEN_BYTES: Final = 6_000
"""From this size on the older open entries move out of the main object; each comes back when it changes."""
NEWEST: Final = 20
"""So many open entries stay: what is answered next is most likely about one of them."""
CLOSED_BYTES: Final = 2_600
"""What is over moves out of the main object from this size on: some twenty entries."""
LARGEST_SHARD_BYTES: Final = 12_000
FILLED: Final = 0.9
"""A last shard with more room than this leaves is filled up."""
CHUNK: Final = 150
"""Entries that are packed at once, at most: more never fit."""


class Shard(NamedTuple):
    """Entries that were moved out, as they were then; ``size`` as they are packed."""

    mark: ShardMark
    entries: tuple[LedgerEntry, ...]
    size: int


class Slots(Protocol):
    """Where shards are written."""

    def can_take(self, slot: int) -> bool:
        """Whether a slot is free, by a look at it. Raises ClusterError."""

    def put_shard(self, slot: int, entries: Sequence[LedgerEntry], packed: bytes) -> Shard | None:
        """Write one into a free slot; None if somebody else was faster. Raises ClusterError."""

    def counts_no_more(self, shard: Shard, ledger: Ledger) -> bool:
        """Whether everything in it has left each window."""


class Layout:
    """Which entries are to stand where, once a ledger is written."""

    def __init__(self, slots: Slots, shards: Sequence[Shard], ledger: Ledger, closed_bytes: int) -> None:
        """As it is: in shards what stands there and has not changed; shards of which nothing is left are dropped.

        So is one in which an eviction looks open that the ledger does not know any more: it would be open again.
        """
        self.ledger = ledger
        self._closed_bytes = closed_bytes
        self._slots = slots
        self._named = {shard.mark.slot for shard in shards}
        self._wanted = {entry.number: entry for entry in ledger.entries}
        self.shards = [shard for shard in shards if self._standing(shard) and not self._is_forgotten(shard)]
        standing = {entry.number: entry for shard in self.shards for entry in shard.entries}
        self.loose = [entry for entry in ledger.entries if not _is_same(standing.get(entry.number), entry)]
        self._packed: dict[tuple[int, ...], bytes] = {}

    def main_content(self) -> Content:
        """What is to stand in the main object."""
        return self._content(self.loose)

    @property
    def open_size(self) -> int:
        """Of the main object if only what is open stood in it."""
        return size_of(self._content([entry for entry in self.loose if entry.is_debt]))

    def move_out(self) -> bool:
        """Move what is over, or has been open for longest, into a shard once it is much; False: others were faster.

        Into several at once only where there is more than one holds: when an older ledger is taken over.
        """
        movable = self._movable()
        is_bulk = len(movable) > CHUNK
        while movable and (slot := self._free_slot()) is not None:
            if not self._fill(slot, movable[:CHUNK]):
                return False
            movable = self._movable() if is_bulk else []
        return True

    def _content(self, entries: Sequence[LedgerEntry]) -> Content:
        head = head_of(self.ledger, [shard.mark for shard in self.shards])
        latest = max((entry.at for entry in self.ledger.entries), default=0.0)
        data = {FORMAT_KEY: FORMAT, DATA_KEY: write_head(head)}
        numbers = tuple(entry.number for entry in entries)
        if entries and numbers not in self._packed:
            self._packed[numbers] = pack(entries)
        return Content(data, {PACKED_KEY: self._packed[numbers]} if entries else {}, self.ledger.plan, latest)

    def _standing(self, shard: Shard) -> list[LedgerEntry]:
        """Those of its entries that have not changed since."""
        return [entry for entry in shard.entries if _is_same(self._wanted.get(entry.number), entry)]

    def _is_forgotten(self, shard: Shard) -> bool:
        """Whether an entry that is open there is gone from the ledger."""
        return any(entry.is_debt and entry.number not in self._wanted for entry in shard.entries)

    def _movable(self) -> list[LedgerEntry]:
        """What is to leave the main object now: what is over goes first."""
        closed = [entry for entry in self.loose if not entry.is_debt]
        if len(closed) > CHUNK:
            return closed
        size = size_of(self.main_content())
        if size <= min(self._closed_bytes, MUCH_OPEN_BYTES):
            return []
        open_size = self.open_size
        if closed and size - open_size > self._closed_bytes:
            return closed
        return [entry for entry in self.loose if entry.is_debt][:-NEWEST] if open_size > MUCH_OPEN_BYTES else []

    def _fill(self, slot: int, movable: list[LedgerEntry]) -> bool:
        """A new shard of as many as fit, together with those of the last one where that has room."""
        choices = list(self._choices(movable))
        is_refilled, entries, packed = next((each for each in choices if self._fits(*each)), choices[-1])
        shard = self._slots.put_shard(slot, entries, packed)
        if shard is None:
            return False
        self._named.add(slot)
        self.shards = [*(self.shards[:-1] if is_refilled else self.shards), shard]
        self.loose = _without(self.loose, entries)
        return True

    def _fits(self, _is_refilled: bool, entries: Sequence[LedgerEntry], packed: bytes) -> bool:
        """Whether such a shard and the main object may be written for one eviction."""
        rest = _without(self.loose, entries)
        return len(rest) > CHUNK or _encoded(len(packed)) + size_of(self._content(rest)) <= ROOM_BYTES

    def _choices(self, movable: Sequence[LedgerEntry]) -> Iterator[tuple[bool, list[LedgerEntry], bytes]]:
        """What may stand in it, the fullest first, and that packed; whether the last shard's entries are among it."""
        last = self.shards[-1] if self.shards else None
        if last is not None and len(self.loose) <= 2 * CHUNK:
            older = self._standing(last)
            for room in (LARGEST_SHARD_BYTES, min(LARGEST_SHARD_BYTES, ROOM_BYTES - size_of(self.main_content()))):
                if _encoded(last.size) < FILLED * room:
                    entries, packed = _as_many_as_fit(older, movable, room)
                    if len(entries) > len(older):
                        yield True, entries, packed
        yield False, *_as_many_as_fit([], movable, LARGEST_SHARD_BYTES)

    def _free_slot(self) -> int | None:
        """The next one that nothing names; the oldest shards make room once nothing in them counts."""
        first = self.shards[-1].mark.slot + 1 if self.shards else 0
        for number in range(SLOTS):
            slot = (first + number) % SLOTS
            if slot not in self._named and self._slots.can_take(slot):
                return slot
        if self.shards and self._is_over(self.shards[0]):
            dropped = {entry.number for entry in self._standing(self.shards.pop(0))}
            self.ledger = replace(
                self.ledger, entries=tuple(entry for entry in self.ledger.entries if entry.number not in dropped)
            )
        return None  # its slot is free with the next write: until then the main object names it

    def _is_over(self, shard: Shard) -> bool:
        """Whether all that stands in it is closed, here and elsewhere, and counts no more."""
        wanted = (self._wanted.get(entry.number) for entry in shard.entries)
        is_open = any(entry is not None and entry.is_debt for entry in wanted)
        return not is_open and self._slots.counts_no_more(shard, self.ledger)


def _as_many_as_fit(
    older: Sequence[LedgerEntry], entries: Sequence[LedgerEntry], room: int
) -> tuple[list[LedgerEntry], bytes]:
    """All older ones and the first of the others, packed; only older ones where no other fits with them."""
    count = len(entries)
    packed = pack([*older, *entries])
    while _encoded(len(packed)) > room and count > (0 if older else 1):
        share = 0.97 * room / _encoded(len(packed))
        count = max(0 if older else 1, min(int((len(older) + count) * share) - len(older), count - 1))
        packed = pack([*older, *entries[:count]])
    return [*older, *entries[:count]], packed


def _is_same(found: LedgerEntry | None, entry: LedgerEntry) -> bool:
    return found is entry or found == entry


def _without(entries: Iterable[LedgerEntry], newer: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    numbers = {entry.number for entry in newer}
    return [entry for entry in entries if entry.number not in numbers]


def size_of(content: Content) -> int:
    """Bytes of a request's body that hold it."""
    text = len(msgspec.json.encode(dict(content.data)))
    return text + sum(_encoded(len(packed)) for packed in content.packed.values())


def _encoded(size: int) -> int:
    return -(-size // 3) * 4
