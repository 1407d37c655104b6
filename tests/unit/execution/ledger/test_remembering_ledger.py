"""A machine that remembers more than stands in the ledger lets nothing be evicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.execution.ledger.remembering_ledger import RememberingLedger
from rescheduler.extension_points import LedgerLostError, LedgerStore, StoreError
from rescheduler.model.daemon.known_ledger import NOTHING_KNOWN, KnownLedger
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Breaker, Ledger
from tests.builders import NOW
from tests.ledger_objects import MemoryObjects
from tests.unit.adapters.history_stores import ELSEWHERE, store

OPEN = Ledger(plan=4, breaker=Breaker(opened_at=NOW, openings=1, reason="because"))


class Broken:
    """A disk that cannot be read or written."""

    def known(self, _name: str) -> KnownLedger:
        """Never."""
        raise StoreError("history: input/output error")

    def remember(self, _name: str, _known: KnownLedger) -> None:
        """Never."""
        raise StoreError("history: input/output error")


def process(inner: LedgerStore, path: Path, name: str = "holds/book") -> RememberingLedger:
    """One that begins now."""
    return RememberingLedger(inner, store(path), name, pytest.fail)


def test_a_process_that_lives_notices_that_the_object_was_deleted(tmp_path: Path) -> None:
    """With an open breaker, which an empty ledger would close; it names the object and the remedy."""
    objects = MemoryObjects()
    ledger = process(objects.reader(), tmp_path / "h.sqlite")
    assert ledger.write(OPEN, ledger.read().version)
    assert ledger.read().ledger == OPEN
    del objects.all["book"]
    for _ in range(2):
        with pytest.raises(LedgerLostError, match=r"ConfigMap holds/book was removed .* plan 4.* ledger accept-loss"):
            ledger.read()


def test_a_process_that_begins_asks_this_machines_file(tmp_path: Path) -> None:
    """Of the same cluster and the same ledger only."""
    objects, path = MemoryObjects(), tmp_path / "h.sqlite"
    first = process(objects.reader(), path)
    first.write(OPEN, first.read().version)
    del objects.all["book"]
    with pytest.raises(LedgerLostError):
        process(objects.reader(), path).read()
    assert process(objects.reader(), path, "holds/another").read().ledger == EMPTY_LEDGER
    elsewhere = RememberingLedger(objects.reader(), store(path, ELSEWHERE), "holds/book", pytest.fail)
    assert elsewhere.read().ledger == EMPTY_LEDGER
    assert process(objects.reader(), tmp_path / "fresh.sqlite").read().ledger == EMPTY_LEDGER


def test_it_goes_on_once_the_loss_is_accepted_and_notices_the_next_one(tmp_path: Path) -> None:
    """The living process and the one that begins."""
    objects, path = MemoryObjects(), tmp_path / "h.sqlite"
    living = process(objects.reader(), path)
    living.write(OPEN, living.read().version)
    del objects.all["book"]
    with pytest.raises(LedgerLostError):
        living.read()
    objects.reader().accept_loss(NOW, 0)
    for ledger in (living, process(objects.reader(), path)):
        reading = ledger.read()
        assert reading.ledger.breaker.opened_at is None
    assert living.write(Ledger(plan=1, accepted_at=NOW), reading.version)
    del objects.all["book"]
    with pytest.raises(LedgerLostError):
        living.read()


def test_a_disk_that_fails_is_told_once_and_this_process_remembers() -> None:
    """The next one does not."""
    told: list[str] = []
    objects = MemoryObjects()
    ledger = RememberingLedger(objects.reader(), Broken(), "holds/book", told.append)
    ledger.write(OPEN, ledger.read().version)
    del objects.all["book"]
    with pytest.raises(LedgerLostError):
        ledger.read()
    assert len(told) == 1
    assert "input/output error" in told[0]


@pytest.mark.parametrize("name", ["known", "remember"])
def test_whatever_of_it_fails_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that can only be read, and one that can only be written."""
    told: list[str] = []
    memory = store(tmp_path / "h.sqlite")
    monkeypatch.setattr(memory, name, getattr(Broken(), name))
    ledger = RememberingLedger(MemoryObjects().reader(), memory, "holds/book", told.append)
    ledger.write(OPEN, ledger.read().version)
    assert len(told) == 1
    assert "input/output error" in told[0]


def test_what_was_only_read_is_remembered_too(tmp_path: Path) -> None:
    """A process that has written nothing notices that what others wrote is lost."""
    objects = MemoryObjects()
    writing = process(objects.reader(), tmp_path / "theirs.sqlite")
    writing.write(OPEN, writing.read().version)
    reading = process(objects.reader(), tmp_path / "ours.sqlite")
    assert reading.read().ledger == OPEN
    del objects.all["book"]
    with pytest.raises(LedgerLostError):
        reading.read()
    with pytest.raises(LedgerLostError):
        process(objects.reader(), tmp_path / "ours.sqlite").read()


def test_a_file_of_an_older_version_knows_nothing_and_is_kept(tmp_path: Path) -> None:
    """Its lines stay where they are."""
    path = tmp_path / "h.sqlite"
    store(path).note([])
    assert store(path).known("holds/book") == NOTHING_KNOWN
    store(path).remember("holds/book", KnownLedger(3, "uid"))
    assert store(path).known("holds/book") == KnownLedger(3, "uid")
    assert [found.name for found in tmp_path.iterdir()] == ["h.sqlite"]
