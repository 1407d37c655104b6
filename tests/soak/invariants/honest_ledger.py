"""I1, its foundation: what the ledger says about debts is true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.model.daemon.ledger import EMPTY_LEDGER, SENT, EntryState, Ledger, LedgerEntry
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import DOUBT_SECONDS, Send
from tests.soak.invariants.history import History
from tests.soak.trace import Effect, Event, LedgerWrite, Violation
from tests.soak.world.truth import Truth

DAY_SECONDS = 86_400.0
ROUNDING_SECONDS = 2.0
LARGEST_WRITE = 16_000
"""Bytes in one object."""


class HonestLedger(Checker):
    """I1. Each committed ledger is compared with the one before and with the truth."""

    name = "I1"
    sentence = (
        "A debt is closed in the ledger only after a definite refusal, a look at the unharmed pod 90 s or more after "
        "the request ended, or by a replacement that works for 30 s; a refusal closes only its own send; an entry that "
        "still counts never vanishes; one write takes 16 kB at most, whatever stands on pods."
    )
    interests = (LedgerWrite, Effect)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._before: Ledger = EMPTY_LEDGER
        self._declared_unharmed: dict[str, float] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """What changed."""
        if isinstance(event, Effect):
            declared = self._declared_unharmed.get(event.request.uid) if event.request.is_eviction else None
            if declared is None or event.request.t > declared:
                return ()
            return self.violated(
                event.t, f"{event.request.name} was evicted after it was told at {declared:.1f} that it was not"
            )
        if not isinstance(event, LedgerWrite) or not event.ok:
            return ()
        before = {(entry.pod.uid, entry.at): entry for entry in self._before.entries}
        self._before = event.ledger
        after = {(entry.pod.uid, entry.at): entry for entry in event.ledger.entries}
        whys = [why for key, entry in before.items() if key not in after for why in _vanished(entry, event.t, truth)]
        if event.size > LARGEST_WRITE:
            whys.append(f"wrote {event.size} bytes into one object for {len(event.ledger.debts)} open evictions")
        for key, entry in after.items():
            if not entry.is_debt and (key not in before or before[key].is_debt):
                whys += self._closed(entry, event)
        return [found for why in whys for found in self.violated(event.t, f"{event.process} {why}")]

    def _closed(self, entry: LedgerEntry, event: LedgerWrite) -> Iterator[str]:
        sends = [send for send in self.history.sends if send.request.uid == entry.pod.uid]
        self.bites()
        if entry.state is EntryState.REFUSED:
            told = f"noted {entry.pod.key} as refused, but its eviction"
            if any(send.took_effect for send in sends[-1:]):
                yield f"{told} took effect"
            elif sends and not sends[-1].is_refused and sends[-1].closed_by != "unharmed":
                yield f"{told} was answered with {sends[-1].request.answer}"
        elif entry.state is EntryState.NOT_EVICTED:
            self._declared_unharmed[entry.pod.uid] = event.t
            for send in sends[-1:]:
                yield from _unharmed_too_early(entry, send, event.t)
        elif entry.state is EntryState.REPAID and not self._was_misled(event):
            for send in sends[-1:]:
                if send.is_debt and send.took_effect:
                    yield f"noted {entry.pod.key} as repaid, but no replacement has worked for 30 s"
                elif send.is_debt:
                    yield f"noted {entry.pod.key} as repaid, but nothing has come of its eviction yet"

    def _was_misled(self, event: LedgerWrite) -> bool:
        """Whether the API server has just answered with an older state, in which the replacement may have worked."""
        snapshot = self.history.snapshots.get(event.process)
        return snapshot is not None and snapshot.as_of < snapshot.asked_at - ROUNDING_SECONDS


def _unharmed_too_early(entry: LedgerEntry, send: Send, t: float) -> Iterator[str]:
    """Closed without an answer; one that was never sent may be closed at once."""
    if send.took_effect:
        yield f"noted {entry.pod.key} as not evicted, but it was, at {send.effect_at:.1f}"
    elif not send.is_refused and send.request.answered_at is not None:
        waited = t - send.request.answered_at
        if waited < DOUBT_SECONDS - ROUNDING_SECONDS:
            yield f"noted {entry.pod.key} as not evicted {waited:.0f} s after its answer was lost"


def _vanished(entry: LedgerEntry, t: float, truth: Truth) -> Iterator[str]:
    age = truth.epoch(t) - entry.at
    if entry.is_debt:
        yield f"dropped the open entry of {entry.pod.key}"
    elif entry.state in SENT and age < DAY_SECONDS - ROUNDING_SECONDS:
        yield f"dropped the entry of {entry.pod.key} of {age:.0f} s ago, which still counts"
