"""Turns what is written down of evictions, in the ledger and in the audit log, into notices: each change once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from rescheduler.adapters.telemetry.listeners import Hear
from rescheduler.extension_points import Clock, LedgerReading, LedgerStore, Listener
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.daemon.notices import EvictionNoted, LeadershipChanged, Notice, PolicyLoaded, Started

MOST_REMEMBERED: Final = 20_000
"""Entries that are remembered; the ledger itself forgets after a day or a few."""
DRY_RUN: Final = "DryRun"
_ORDER: Final = {EntryState.INTENDED: 0, EntryState.OPEN: 1}
"""Entries do not go back: what is known later counts more."""
_Key = tuple[str, float]


class EvictionNews(Listener):
    """Tells of each entry when something new is known of it. Safe to use from several threads.

    Entries are known by the pod's uid and the time of their announcement, as in the ledger. Where the ledger lags
    behind the audit log, what it still holds is no news. As a listener it hears when we begin to lead (what others did
    before is theirs to tell), and whether this is a dry run, which evicts nothing and so has nothing to tell.
    """

    def __init__(self, tell: Hear, clock: Clock) -> None:
        """``tell`` is given each piece of news."""
        self._tell = tell
        self._clock = clock
        self._told: dict[_Key, tuple[int, set[str]]] = {}
        self._lock = threading.Lock()
        self._has_begun = False
        self._is_silent = False

    def hear(self, notice: Notice) -> None:
        """Begin anew where we take the lead; be silent in a dry run."""
        with self._lock:
            if isinstance(notice, LeadershipChanged) and notice.is_leader:
                self._has_begun = False
            elif isinstance(notice, Started | PolicyLoaded):
                self._is_silent = notice.mode == DRY_RUN

    def learn(self, entries: Sequence[LedgerEntry]) -> None:
        """Tell of those that are new or of which more is known."""
        with self._lock:
            self._has_begun = True
            news = [entry for entry in entries if self._is_news(entry)]
            is_silent = self._is_silent
        for entry in () if is_silent else news:
            self._tell(EvictionNoted(self._clock.now(), entry))

    def look(self, entries: Sequence[LedgerEntry]) -> None:
        """The same for a whole ledger; what stood in the first one is from the time before us, and not told."""
        with self._lock:
            if not self._has_begun:
                for entry in entries:
                    self._is_news(entry)
        self.learn(entries)

    def _is_news(self, entry: LedgerEntry) -> bool:
        key = entry.pod.uid or entry.pod.key, entry.at
        order = _ORDER.get(entry.state, 2)
        facts = {f"{entry.state}, in doubt: {entry.is_in_doubt}"}
        facts |= {f"landed on {entry.landed_on}"} if entry.landed_on else set()
        facts |= {f"failed: {entry.failure}"} if entry.failure else set()
        latest, told = self._told.setdefault(key, (order, set()))
        if order < latest or facts <= told:
            return False
        self._told[key] = order, told | facts
        while len(self._told) > MOST_REMEMBERED:
            del self._told[next(iter(self._told))]
        return True


class ToldLedgerStore(LedgerStore):
    """A ledger whose changes are told of, whoever made them, but for what stood in it when it was first read."""

    def __init__(self, inner: LedgerStore, news: EvictionNews) -> None:
        self._inner = inner
        self._news = news

    def read(self) -> LedgerReading:
        """As the inner one."""
        reading = self._inner.read()
        self._news.look(reading.ledger.entries)
        return reading

    def write(self, ledger: Ledger, version: str) -> str | None:
        """As the inner one; what was written is told."""
        written = self._inner.write(ledger, version)
        if written is not None:
            self._news.learn(ledger.entries)
        return written
