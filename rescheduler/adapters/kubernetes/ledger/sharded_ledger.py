"""The ledger as one store: what is open in the main object, what is over moves out of it into numbered ones.

A shard is written first, and named by the main object afterwards, in the same write that takes its entries out of it:
an entry stands in at least one place at any time, and by its number it counts once. What the main object names is never
written again. Each shard tells which version of the main object it was made from: while that is the newest, whoever
made it may yet name it, and nobody else takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from rescheduler.adapters.kubernetes.ledger.ledger_layout import CLOSED_BYTES, OPEN_BYTES, Layout, Shard, Slots, size_of
from rescheduler.adapters.kubernetes.ledger.ledger_marks import approved_plan, stop_reason, with_marks
from rescheduler.adapters.kubernetes.ledger.ledger_objects import ABSENT, Content, LedgerObject, LedgerObjects
from rescheduler.adapters.kubernetes.ledger.ledger_text import (
    DATA_KEY,
    FORMAT,
    FORMAT_KEY,
    PACKED_KEY,
    LedgerHead,
    ShardMark,
    check_form,
    digest_of,
    ledger_of_head,
    read_head,
    read_old,
    shard_name,
    sound,
    unpack,
)
from rescheduler.extension_points import (
    ClusterError,
    LedgerDeniedError,
    LedgerFullError,
    LedgerLostError,
    LedgerReading,
    LedgerStore,
)
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger, LedgerEntry
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.printable import shortened

BASE_KEY: Final = "base"
"""Of a shard: the version of the main object that it was made from."""
TRIES: Final = 5


class _View(NamedTuple):
    """What was read, or written, last."""

    main: LedgerObject = ABSENT
    ledger: Ledger = EMPTY_LEDGER
    shards: tuple[Shard, ...] = ()


class _ShardGoneError(Exception):
    """What stands in a slot is not what the main object names."""


class ShardedLedger(LedgerStore, Slots):
    """One process's way to the ledger ``name`` among ``objects``; shards that were read once are remembered.

    ``counted_seconds``: how long an eviction counts in some window; older ones are dropped where there is no more room.
    """

    def __init__(
        self, objects: LedgerObjects, name: str, *, counted_seconds: float, closed_bytes: int = CLOSED_BYTES
    ) -> None:
        """Nothing is sent yet. ``closed_bytes``: see CLOSED_BYTES."""
        self._closed_bytes = closed_bytes
        self._objects = objects
        self._name = name
        self._counted_seconds = counted_seconds
        self._view = _View()
        self._known: dict[ShardMark, Shard] = {}
        self._turn = 0
        self._dropped: frozenset[int] = frozenset()

    def read(self) -> LedgerReading:
        """A live read. Raises LedgerDeniedError, LedgerLostError where a shard is gone, ClusterError for no ledger."""
        for _ in range(TRIES):
            main = self._objects.get(self._name)
            try:
                ledger, shards = self._read_whole(main)
            except _ShardGoneError as gone:
                if self._objects.get(self._name).version != main.version:
                    continue  # whoever wrote meanwhile may have dropped it
                raise LedgerLostError(f"{gone}; {self._remedy}") from None
            self._view, self._dropped = _View(main, ledger, shards), frozenset()
            marks = main.annotations
            return LedgerReading(
                with_marks(ledger, marks, self._objects.now()),
                main.version,
                stop_reason([marks, self._objects.namespace_marks()]),
                approved_plan(marks),
                main.uid,
            )
        raise ClusterError(f"others write to {self._called} all the time, and it cannot be read whole; try again")

    def approved(self) -> str:
        """The number of the plan that somebody has approved, by a live look at the main object alone.

        Raises LedgerDeniedError, ClusterError.
        """
        return approved_plan(self._objects.get(self._name).annotations)

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace the ledger if it still is at ``version`` ("": if there is none yet); None if it is not.

        What was dropped since the last reading, to make room, is not written again by who does not know of it yet.
        Raises LedgerDeniedError, LedgerFullError, OutcomeUnknownError where it may have been written, ClusterError.
        """
        before = self._view
        if version != before.main.version:
            return None
        kept = tuple(entry for entry in ledger.entries if entry.number not in self._dropped)
        layout = Layout(self, before.shards, replace(ledger, entries=kept), self._closed_bytes)
        if not layout.move_out():
            return None
        self._check_room(layout)
        written = self._objects.put(self._name, layout.main_content(), before.main)
        if written is None:
            return None
        self._dropped |= {entry.number for entry in kept} - {entry.number for entry in layout.ledger.entries}
        self._view = _View(written, layout.ledger, tuple(layout.shards))
        self._known = {shard.mark: shard for shard in layout.shards}
        return written.version

    def what_is_left(self) -> Ledger:
        """All that can still be read. Raises ClusterError where it is no ledger of ours."""
        return self._what_is_left(self._objects.get(self._name))[0]

    def losses(self) -> Sequence[str]:
        """In words what is missing. Raises ClusterError where it is no ledger of ours."""
        return self._what_is_left(self._objects.get(self._name))[2]

    def accept_loss(self, now: float, plan: int = 0, accepted_at: float = 0.0) -> None:
        """Go on without what is lost. Raises ClusterError, also where others write meanwhile.

        ``plan``: the highest number that is known from elsewhere; later plans have higher ones. ``accepted_at``: when a
        loss was accepted before, as far as is known from elsewhere.
        """
        main = self._objects.get(self._name)
        ledger, shards, _ = self._what_is_left(main)
        self._view = _View(main, ledger, shards)
        accepted = replace(
            ledger, plan=max(ledger.plan, plan), accepted_at=max(now, ledger.accepted_at + 1.0, accepted_at + 1.0)
        )
        if self.write(accepted, main.version) is None:
            raise ClusterError(f"somebody else has just written {self._called}; nothing was accepted: try again")

    def put_shard(self, slot: int, entries: Sequence[LedgerEntry], packed: bytes) -> Shard | None:
        """Write one that nothing names yet into a free slot; None if somebody else was there, or has written since.

        The slot is read before the main object: as long as that stands as it was read, a shard that others made from an
        older version will never be named.
        """
        name, version = shard_name(self._name, slot), self._view.main.version
        found = self._look_at(name)
        if self._objects.get(self._name).version != version or not self._is_free(found, version):
            return None
        latest = max(entry.at for entry in entries)
        data = {FORMAT_KEY: FORMAT, BASE_KEY: version}
        content = Content(data, {PACKED_KEY: packed}, self._view.ledger.plan, latest)
        try:
            if self._objects.put(name, content, found) is None:
                return None
        except LedgerDeniedError as error:
            raise _not_elsewhere(error) from error
        return Shard(ShardMark(slot, digest_of(packed)), tuple(entries), len(packed))

    def can_take(self, slot: int) -> bool:
        """Whether a slot is free, by a look at it."""
        return self._is_free(self._look_at(shard_name(self._name, slot)), self._view.main.version)

    def counts_no_more(self, shard: Shard, ledger: Ledger) -> bool:
        """Whether everything in it has left each window."""
        now = self._objects.now() or max((entry.at for entry in ledger.entries), default=0.0)
        return all(now - entry.at > self._counted_seconds for entry in shard.entries)

    def _is_free(self, found: LedgerObject, version: str) -> bool:
        if not found.version:
            return True
        is_ours = found.labels.get(MANAGED_BY) == OURS and found.data.get(FORMAT_KEY) == FORMAT
        return is_ours and found.data.get(BASE_KEY) != version

    def _check_room(self, layout: Layout) -> None:
        """Raise LedgerFullError for another open eviction that would not fit; what does not add one may be written."""
        ledger = layout.ledger
        if len(ledger.debts) <= len(self._view.ledger.debts):
            return
        opened, whole = layout.open_size, size_of(layout.main_content())
        if opened > OPEN_BYTES or whole > OPEN_BYTES + CLOSED_BYTES:
            raise LedgerFullError(
                f"{self._called} is full: of {len(ledger.entries)} evictions that count {len(ledger.debts)} are open; "
                f"with one more, what cannot leave it takes {whole} bytes, and {OPEN_BYTES} is the most; open ones "
                "make room when they are over, others when they count no more"
            )

    def _read_whole(self, main: LedgerObject) -> tuple[Ledger, tuple[Shard, ...]]:
        """Raises _ShardGoneError, ClusterError."""
        if not self._is_ledger(main):
            return EMPTY_LEDGER, ()
        try:
            if main.data.get(FORMAT_KEY) != FORMAT:
                return read_old(main.data), ()
            head = read_head(main.data)
            own = unpack(main.packed.get(PACKED_KEY, b""))
            shards = self._shards_of(head)
            ledger = sound(_whole(head, shards, own))
        except (ValueError, RecursionError, msgspec.DecodeError) as error:
            raise self._unusable(str(error)) from error
        return ledger, shards

    def _shards_of(self, head: LedgerHead) -> tuple[Shard, ...]:
        """All that are named; of those that are known already one is looked at again, each time another."""
        marks = head.marks
        again = marks[self._turn % len(marks)] if marks else None
        self._turn += 1
        for mark in marks:
            if mark not in self._known or mark == again:
                self._known[mark] = self._read_shard(mark)
        self._known = {mark: self._known[mark] for mark in marks}
        return tuple(self._known.values())

    def _read_shard(self, mark: ShardMark) -> Shard:
        name = shard_name(self._name, mark.slot)
        found = self._look_at(name)
        packed = found.packed.get(PACKED_KEY, b"")
        if not found.version or digest_of(packed) != mark.digest:
            what = "is gone" if not found.version else "is not as it was written"
            raise _ShardGoneError(
                f"ConfigMap {self._objects.namespace}/{name} {what}: evictions that may still count stood in it"
            )
        known = self._known.get(mark)
        return known or Shard(mark, unpack(packed), len(packed))

    def _look_at(self, name: str) -> LedgerObject:
        """A shard as it stands. Raises ClusterError."""
        try:
            return self._objects.get(name)
        except LedgerDeniedError as error:
            raise _not_elsewhere(error) from error

    def _what_is_left(self, main: LedgerObject) -> tuple[Ledger, tuple[Shard, ...], list[str]]:
        """What can still be read, and in words what cannot. Raises ClusterError where it is no ledger of ours."""
        if not self._is_ledger(main):
            return EMPTY_LEDGER, (), [f"{self._called} is not there, or empty"]
        try:
            if main.data.get(FORMAT_KEY) != FORMAT:
                return read_old(main.data), (), []
            head = read_head(main.data)
            own, marks = unpack(main.packed.get(PACKED_KEY, b"")), head.marks
        except (ValueError, RecursionError, msgspec.DecodeError) as error:
            return EMPTY_LEDGER, (), [str(self._unusable(str(error)))]
        shards, lost = [], []
        for mark in marks:
            try:
                shards.append(self._read_shard(mark))
            except (_ShardGoneError, ValueError, msgspec.DecodeError) as error:
                lost.append(str(error))
        return _whole(head, shards, own), tuple(shards), lost

    def _is_ledger(self, found: LedgerObject) -> bool:
        """False for none, or for an empty one. Raises ClusterError for another version's, or somebody else's."""
        if DATA_KEY in found.data:
            check_form(found.data, self._called)
            return True
        is_ours = found.labels.get(MANAGED_BY) == OURS
        if (found.data or found.packed) and not is_ours:
            keys = ", ".join(shortened(key, 40) for key in sorted([*found.data, *found.packed])[:5])
            raise ClusterError(
                f"{self._called} is not ours: found the keys {keys}, wanted {DATA_KEY}; name another one in the policy "
                "(ledger.name)"
            )
        return False

    def _unusable(self, found: str) -> ClusterError:
        return ClusterError(
            f"{self._called} holds no ledger that can be read: {shortened(found, 200)}; nothing is evicted without it. "
            f"{self._remedy}"
        )

    @property
    def _called(self) -> str:
        return f"ConfigMap {self._objects.namespace}/{self._name}"

    @property
    def _remedy(self) -> str:
        return (
            "Put back what stood there, or, if no eviction is under way, let it go on without: rescheduler ledger "
            "accept-loss"
        )


def _not_elsewhere(error: LedgerDeniedError) -> ClusterError:
    """Who may see the main object keeps to it: with a part of it out of sight, evictions would not count."""
    return ClusterError(f"{error}; the roles of this version list the ledger's shards by name")


def _whole(head: LedgerHead, shards: Iterable[Shard], own: Iterable[LedgerEntry]) -> Ledger:
    return ledger_of_head(head, [*(entry for shard in shards for entry in shard.entries), *own])
