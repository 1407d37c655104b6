"""Each eviction is told of once for each thing that becomes known of it, wherever it is written down."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec import structs

from rescheduler.adapters.telemetry.eviction_news import EvictionNews, ToldLedgerStore
from rescheduler.adapters.telemetry.words import eviction_word
from rescheduler.execution.ledger.told_audit_log import ToldAuditLog
from rescheduler.extension_points import LedgerReading, StoreError
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.daemon.notices import EvictionNoted, LeadershipChanged, PolicyLoaded, Started
from rescheduler.model.plan.plan import Plan
from tests.builders import NOW
from tests.clocks import FakeClock
from tests.unit.adapters.telemetry.daemon_notices import Heard
from tests.unit.execution.entries import entry, ledger_of


class Shelf:
    """An audit log and a ledger in memory."""

    def __init__(self, ledger: Ledger | None = None) -> None:
        self.ledger = ledger or ledger_of()
        self.noted: list[LedgerEntry] = []
        self.is_full = False
        self.is_taken = False

    def note(self, entries: Sequence[LedgerEntry]) -> None:
        """Keep the lines."""
        if self.is_full:
            raise StoreError("the disk is full")
        self.noted += entries

    def keep_plan(self, number: int, plan: Plan) -> None:
        """Nobody asks for it again."""

    def read(self) -> LedgerReading:
        """As it stands."""
        return LedgerReading(self.ledger, "1")

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace it, unless somebody else was faster."""
        if self.is_taken:
            return None
        self.ledger = ledger
        return "2"


def words(heard: Heard) -> list[str]:
    """What was told of evictions, in order."""
    return [f"{one.entry.pod.name} {eviction_word(one.entry)}" for one in heard if isinstance(one, EvictionNoted)]


def test_each_state_is_told_once() -> None:
    """From the announcement to the end, whatever is written down how often."""
    heard = Heard()
    log = ToldAuditLog(Shelf(), EvictionNews(heard, FakeClock(NOW + 5)).learn)
    for state in (EntryState.INTENDED, EntryState.OPEN, EntryState.OPEN, EntryState.REPAID):
        log.note([entry(state=state)])
    assert words(heard) == ["web-0 announced", "web-0 sent", "web-0 repaid"]
    assert heard[0].at == NOW + 5


def test_what_the_ledger_still_holds_is_no_news() -> None:
    """It lags behind the audit log by one write: nothing goes back."""
    heard, shelf = Heard(), Shelf(ledger_of(entry(state=EntryState.INTENDED)))
    news = EvictionNews(heard, FakeClock())
    log, store = ToldAuditLog(None, news.learn), ToldLedgerStore(shelf, news)
    log.note([entry(state=EntryState.INTENDED)])
    log.note([entry(landed_on="n1")])
    store.read()
    store.write(ledger_of(entry()), "1")
    store.write(ledger_of(entry(landed_on="n1")), "1")
    assert words(heard) == ["web-0 announced", "web-0 landed"]
    log.note([entry("web-1", state=EntryState.REPAID)])
    store.write(ledger_of(entry("web-1")), "1")
    assert words(heard)[2:] == ["web-1 repaid"]


def test_what_stood_in_the_ledger_before_us_is_not_told() -> None:
    """But what becomes of it is."""
    heard, old = Heard(), entry("old")
    store = ToldLedgerStore(Shelf(ledger_of(old)), EvictionNews(heard, FakeClock()))
    assert store.read().ledger.entries == (old,)
    assert words(heard) == []
    store.write(ledger_of(structs.replace(old, state=EntryState.REPAID), entry("new", state=EntryState.INTENDED)), "1")
    assert words(heard) == ["old repaid", "new announced"]


def test_whoever_takes_the_lead_does_not_tell_what_another_did() -> None:
    """The entries of the time between are the other one's to tell; an election won by another changes nothing."""
    heard, shelf = Heard(), Shelf(ledger_of())
    news = EvictionNews(heard, FakeClock())
    store = ToldLedgerStore(shelf, news)
    store.read()
    shelf.ledger = ledger_of(entry("theirs"))
    news.hear(LeadershipChanged(NOW, True, "us"))
    store.read()
    assert words(heard) == []
    news.hear(LeadershipChanged(NOW, False, "them"))
    shelf.ledger = ledger_of(entry("theirs"), entry("further"))
    store.read()
    assert words(heard) == ["further sent"]


def test_a_dry_run_does_not_tell_what_others_evict() -> None:
    """It evicts nothing, so no line and no count may say that anything was evicted; but it learns."""
    heard, shelf = Heard(), Shelf()
    news = EvictionNews(heard, FakeClock())
    store = ToldLedgerStore(shelf, news)
    news.hear(Started(NOW, "1", "DryRun", "abc"))
    store.read()
    shelf.ledger = ledger_of(entry())
    store.read()
    assert words(heard) == []
    news.hear(PolicyLoaded(NOW, "abd", "p", "Execute"))
    store.read()
    assert words(heard) == []
    store.write(ledger_of(entry(state=EntryState.REPAID)), "1")
    assert words(heard) == ["web-0 repaid"]


def test_a_write_that_somebody_else_forestalled_is_not_told() -> None:
    """Nothing was written."""
    heard, shelf = Heard(), Shelf()
    shelf.is_taken = True
    store = ToldLedgerStore(shelf, EvictionNews(heard, FakeClock()))
    store.read()
    assert store.write(ledger_of(entry()), "1") is None
    assert words(heard) == []


def test_a_line_that_cannot_be_written_is_no_news() -> None:
    """The caller hears of it as before, and sends nothing."""
    heard, shelf = Heard(), Shelf()
    shelf.is_full = True
    log = ToldAuditLog(shelf, EvictionNews(heard, FakeClock()).learn)
    with pytest.raises(StoreError):
        log.note([entry(state=EntryState.INTENDED)])
    assert heard == []


def test_doubt_and_failure_are_told_each_by_itself() -> None:
    """An answer that was lost, and later a replacement that does not work."""
    heard = Heard()
    log = ToldAuditLog(Shelf(), EvictionNews(heard, FakeClock()).learn)
    log.note([entry(is_in_doubt=True)])
    log.note([entry()])
    log.note([entry(failure="its image cannot be pulled")])
    log.note([entry(state=EntryState.FAILED, failure="its image cannot be pulled")])
    assert words(heard) == ["web-0 in doubt", "web-0 sent", "web-0 failing", "web-0 failed"]


def test_two_evictions_of_one_pod_are_two() -> None:
    """Known by the time of their announcement; and pods of one name by their uid."""
    heard = Heard()
    log = ToldAuditLog(Shelf(), EvictionNews(heard, FakeClock()).learn)
    log.note([entry(state=EntryState.REFUSED), entry(at=NOW + 9)])
    assert words(heard) == ["web-0 refused", "web-0 sent"]
