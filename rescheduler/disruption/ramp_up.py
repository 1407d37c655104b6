"""The ramp-up: a daemon starts with few evictions an hour, and is allowed twice as many with each clean day."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from rescheduler.model.daemon.ledger import SENT, EntryState, Ledger, LedgerEntry
from rescheduler.policy.fields.safety import RampUpPolicy

MOST_DOUBLINGS = 30


class Allowance(NamedTuple):
    """Evictions in one sliding window: how many are allowed, and how many of them are left."""

    allowed: int
    left: int


def allowance(ledger: Ledger, rules: RampUpPolicy, now: float) -> Allowance:
    """What the ramp-up allows at ``now``."""
    clean_seconds = max(0.0, now - clean_since(ledger, now))
    allowed = rules.start << min(MOST_DOUBLINGS, int(clean_seconds // rules.double_every))
    sent = sum(entry.state in SENT and entry.at > now - rules.window for entry in ledger.entries)
    return Allowance(allowed, max(0, allowed - sent))


def clean_since(ledger: Ledger, now: float) -> float:
    """Since when nothing went wrong: from the first eviction on, from the newest that came to nothing, or from the
    breaker's last opening or closing.

    ``ledger.clean_since`` remembers it once the entries that tell it are dropped.
    """
    first = next((entry.at for entry in ledger.entries if entry.state in SENT), now)
    began = first if ledger.clean_since is None else ledger.clean_since
    failed = (entry.at if entry.closed_at is None else entry.closed_at for entry in ledger.entries if _failed(entry))
    return max(began, ledger.breaker.opened_at or began, ledger.breaker.since, *failed)


def remembering(ledger: Ledger, rules: RampUpPolicy | None, now: float) -> Ledger:
    """The ledger with what the ramp-up must not forget; it is to be kept. Without a ramp-up nothing is changed.

    The first day begins with the first eviction, not before: quiet days prove nothing. A time in the future is that
    of a clock that was wrong.
    """
    has_begun = ledger.clean_since is not None or any(entry.state in SENT for entry in ledger.entries)
    if rules is None or not has_begun:
        return ledger
    return replace(ledger, clean_since=min(now, clean_since(ledger, now)))


def _failed(entry: LedgerEntry) -> bool:
    return entry.state is EntryState.FAILED or (bool(entry.failure) and entry.state in SENT)
