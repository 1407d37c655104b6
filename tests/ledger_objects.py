"""ConfigMaps of a ledger in memory: versions, uids, compare-and-swap, and somebody who may meddle at each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rescheduler.adapters.kubernetes.ledger.ledger_layout import size_of
from rescheduler.adapters.kubernetes.ledger.ledger_objects import ABSENT, Content, LedgerObject, LedgerObjects
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.annotations import MANAGED_BY, OURS


class MemoryObjects(LedgerObjects):
    """``sizes``: name and bytes of each write; ``at_call`` is called before each call with its verb and name."""

    namespace = "holds"

    def __init__(self, at_call: Callable[[str, str], None] = lambda _verb, _name: None) -> None:
        self.all: dict[str, LedgerObject] = {}
        self.marks: dict[str, str] = {}
        self.sizes: list[tuple[str, int]] = []
        self.gets: list[str] = []
        self.at_call = at_call
        self.time: float | None = None
        self.version = 0

    def now(self) -> float | None:
        """As it was set."""
        return self.time

    def namespace_marks(self) -> Mapping[str, str]:
        """As they were set."""
        return self.marks

    def get(self, name: str) -> LedgerObject:
        """A live read."""
        self.at_call("get", name)
        self.gets.append(name)
        return self.all.get(name, ABSENT)

    def put(self, name: str, content: Content, found: LedgerObject) -> LedgerObject | None:
        """Compare and swap."""
        self.at_call("put", name)
        return self.swap(name, content, found)

    def swap(self, name: str, content: Content, found: LedgerObject) -> LedgerObject | None:
        """The same, whoever asks."""
        stands = self.all.get(name, ABSENT)
        if stands.version != found.version:
            return None
        self.version += 1
        new = LedgerObject(
            str(self.version),
            stands.uid or f"uid-{self.version}",
            dict(content.data),
            dict(content.packed),
            {**found.labels, MANAGED_BY: OURS},
            dict(found.annotations),
        )
        self.all[name] = new
        self.sizes.append((name, size_of(content)))
        return new

    def reader(self, name: str = "book") -> ShardedLedger:
        """A process that begins now, and is not meddled with."""
        return ShardedLedger(_Unseen(self), name, counted_seconds=3600.0)

    def ledger(self, name: str = "book") -> Ledger:
        """What such a process reads."""
        return self.reader(name).read().ledger


class _Unseen(LedgerObjects):
    """The same objects, of whose calls nobody is told."""

    namespace = "holds"

    def __init__(self, objects: MemoryObjects) -> None:
        self._objects = objects

    def now(self) -> float | None:
        return self._objects.time

    def namespace_marks(self) -> Mapping[str, str]:
        return self._objects.marks

    def get(self, name: str) -> LedgerObject:
        return self._objects.all.get(name, ABSENT)

    def put(self, name: str, content: Content, found: LedgerObject) -> LedgerObject | None:
        return self._objects.swap(name, content, found)
