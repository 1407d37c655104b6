"""The ledger as text and bytes of ConfigMaps: a head that people can read, and entries packed by columns."""

from __future__ import annotations

import hashlib
import lzma
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.ledger import Breaker, Ledger, LedgerEntry, Nomination
from rescheduler.model.printable import shortened

DATA_KEY: Final = "ledger.json"
FORMAT_KEY: Final = "format"
PACKED_KEY: Final = "entries"
OLD_FORMAT: Final = "1"
"""Everything in one text. Versions that write it obey a format that is another: they evict nothing."""
FORMAT: Final = "2"
LATEST_TIME: Final = 1e11
"""Seconds since the epoch that no eviction was sent at: about the year 5138."""
LARGEST_UNPACKED: Final = 16_000_000
"""Packed entries are never larger than this by our own hand; what is more comes from somebody else."""
SLOTS: Final = 256
MARK: Final = 8
"""Characters of one shard's mark: two of its slot, and as many of its digest as tell of a slip of the hand."""
_FILTERS: Final = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 20, "lc": 0, "lp": 0, "pb": 0}]


class ShardMark(NamedTuple):
    """What the main object remembers of one that holds closed entries: its place, and a digest of them."""

    slot: int
    digest: str


class LedgerHead(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The main object's text: the ledger without its entries; ``open``: how many of them are, ``entries``: of all.

    ``shards``: slot (two digits) and digest of each shard, one after the other; 256 of them have to fit.
    """

    plan: int = 0
    holder: str = ""
    next_entry: int = 1
    breaker: Breaker = Breaker()
    clean_since: float | None = None
    accepted_at: float = 0.0
    nominations: tuple[Nomination, ...] = ()
    open: int = 0
    entries: int = 0
    shards: str = ""

    @property
    def marks(self) -> tuple[ShardMark, ...]:
        """The shards. Raises ValueError."""
        parts = [self.shards[start : start + MARK] for start in range(0, len(self.shards), MARK)]
        marks = tuple(ShardMark(int(part[:2], 16), part[2:]) for part in parts)
        if len({mark.slot for mark in marks}) != len(marks) or len(self.shards) % MARK:
            raise ValueError("its shards are none, or named twice")
        return marks


_SHARED: Final = ("plan", "holder", "next_entry", "breaker", "clean_since", "accepted_at", "nominations")


def head_of(ledger: Ledger, shards: Sequence[ShardMark]) -> LedgerHead:
    """What is told of a ledger beside its entries."""
    fields = {name: getattr(ledger, name) for name in _SHARED}
    text = "".join(f"{mark.slot:02x}{mark.digest}" for mark in shards)
    return LedgerHead(**fields, open=len(ledger.debts), entries=len(ledger.entries), shards=text)


def ledger_of_head(head: LedgerHead, entries: Iterable[LedgerEntry]) -> Ledger:
    """The ledger of a head and these entries; of two with one number the later one counts."""
    by_number = {entry.number: entry for entry in entries}
    fields = {name: getattr(head, name) for name in _SHARED}
    return Ledger(**fields, entries=tuple(by_number[number] for number in sorted(by_number)))


def pack(entries: Sequence[LedgerEntry]) -> bytes:
    """Entries as compressed columns: each field's values beside each other, fields that nobody has left out."""
    rows: list[dict[str, Any]] = []
    for entry in entries:
        row = msgspec.to_builtins(entry)
        row.update((f"pod.{name}", value) for name, value in row.pop("pod").items())
        rows.append(row)
    names = sorted({name for row in rows for name in row})
    columns = [[row.get(name) for row in rows] for name in names]
    return lzma.compress(msgspec.json.encode([names, columns]), format=lzma.FORMAT_RAW, filters=_FILTERS)


def unpack(packed: bytes) -> tuple[LedgerEntry, ...]:
    """The entries. Raises ValueError for bytes that are none."""
    if not packed:
        return ()
    names, columns = msgspec.json.decode(_decompressed(packed), type=tuple[list[str], list[list[Any]]])
    if len(names) != len(columns):
        raise ValueError("found columns without a name")
    entries = []
    for values in zip(*columns, strict=True):
        row: dict[str, Any] = {}
        pod: dict[str, Any] = {}
        for name, value in zip(names, values, strict=True):
            if value is not None:
                (pod if name.startswith("pod.") else row)[name.removeprefix("pod.")] = value
        entries.append(msgspec.convert({**row, "pod": pod}, LedgerEntry))
    return tuple(entries)


def _decompressed(packed: bytes) -> bytes:
    decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_RAW, filters=_FILTERS)
    try:
        found = decompressor.decompress(packed, max_length=LARGEST_UNPACKED)
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from error
    if not decompressor.eof:
        raise ValueError("found packed entries that are cut off, or too large")
    return found


def digest_of(packed: bytes) -> str:
    """Tells packed entries from any others."""
    return b64encode(hashlib.sha256(packed).digest()).decode()[: MARK - 2]


def write_head(head: LedgerHead) -> str:
    """As JSON."""
    return msgspec.json.encode(head).decode()


def read_old(data: Mapping[str, str]) -> Ledger:
    """A ledger of the old form. Raises ValueError."""
    ledger = msgspec.json.decode(data[DATA_KEY], type=Ledger)
    return sound(ledger)


def read_head(data: Mapping[str, str]) -> LedgerHead:
    """The head of a ledger of this form. Raises ValueError."""
    return msgspec.json.decode(data[DATA_KEY], type=LedgerHead)


def shard_name(ledger: str, slot: int) -> str:
    """The ConfigMap of one slot: names are fixed, so that a role can list them."""
    return f"{ledger}-{slot:02x}"


def same_kind(name: str) -> tuple[str, ...]:
    """All shards of a ledger, by the name of its first one; any other name alone."""
    first = shard_name("", 0)
    if not name.endswith(first):
        return (name,)
    return tuple(shard_name(name.removesuffix(first), slot) for slot in range(SLOTS))


def check_form(data: Mapping[str, str], called: str) -> None:
    """Raise ClusterError for a ledger that another version wrote."""
    found = data.get(FORMAT_KEY, OLD_FORMAT)
    if found not in (OLD_FORMAT, FORMAT):
        raise ClusterError(
            f"{called} is of form {shortened(found, 20)!r}, wanted {FORMAT!r}: another version of rescheduler wrote "
            "it; use that one, or name another ConfigMap in the policy (ledger.name)"
        )


def sound(ledger: Ledger) -> Ledger:
    """The ledger itself. Raises ValueError for one that cannot be."""
    fault = next(_faults(ledger), None)
    if fault is not None:
        raise ValueError(fault)
    return ledger


def _faults(ledger: Ledger) -> Iterator[str]:
    numbers = [entry.number for entry in ledger.entries]
    if numbers != sorted(set(numbers)) or (numbers and numbers[-1] >= ledger.next_entry):
        yield "the numbers of its entries are not in order"
    if ledger.plan < 0:
        yield f"plan is {ledger.plan}"
    for entry in ledger.entries:
        times = (entry.at, entry.ended_at or 0.0, entry.closed_at or 0.0)
        if not all(0.0 <= time < LATEST_TIME for time in times):
            yield f"entry {entry.number} has a time that is none"
        if not entry.pod.uid or not entry.pod.name:
            yield f"entry {entry.number} names no pod"
    for item in ledger.nominations:
        if not all(0.0 <= time < LATEST_TIME for time in (item.at, item.expires_at)):
            yield f"the nomination of {item.pod.key} has a time that is none"
        if not item.pod.uid or not item.pod.name:
            yield "a nomination names no pod"
