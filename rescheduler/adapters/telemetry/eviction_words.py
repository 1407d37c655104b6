"""What an entry of the ledger says of its eviction, in one word: for lines, metrics and audit."""

from __future__ import annotations

from typing import Final

from rescheduler.model.ledger import EntryState, LedgerEntry

ANNOUNCED: Final = "announced"
SENT: Final = "sent"
IN_DOUBT: Final = "in doubt"
LANDED: Final = "landed"
REFUSED: Final = "refused"
NOT_EVICTED: Final = "not carried out"
FAILING: Final = "failing"
REPAID: Final = "repaid"
FAILED: Final = "failed"
WORDS: Final = (ANNOUNCED, SENT, IN_DOUBT, LANDED, REFUSED, NOT_EVICTED, FAILING, REPAID, FAILED)
"""In the order in which they may come."""


def eviction_word(entry: LedgerEntry) -> str:
    """How far the eviction has come."""
    if entry.state is EntryState.INTENDED:
        return ANNOUNCED
    if entry.state is EntryState.REFUSED:
        return REFUSED
    if entry.state is EntryState.NOT_EVICTED:
        return NOT_EVICTED
    if entry.state is EntryState.FAILED:
        return FAILED
    if entry.state is EntryState.REPAID:
        return REPAID
    if entry.failure:
        return FAILING
    if entry.is_in_doubt:
        return IN_DOUBT
    return LANDED if entry.landed_on else SENT


def is_bad(entry: LedgerEntry) -> bool:
    """Whether somebody should look at it."""
    return eviction_word(entry) in (FAILED, FAILING, IN_DOUBT)
