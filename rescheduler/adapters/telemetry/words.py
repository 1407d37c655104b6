"""What an entry of the ledger says of its eviction, in one word: for lines, metrics and audit."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.plan.plan import Plan

# What became of a round, in one word out of a few: for log lines, metrics and traces.

FAILED: Final = "failed"
"""No plan could be made."""
NOTHING: Final = "nothing"
"""The plan is empty."""
PLANNED: Final = "planned"
"""There is a plan, and nothing was carried out: a dry run, an approval that is awaited, a freeze."""
STOPPED: Final = "stopped"
"""Carried out in part."""
DONE: Final = "done"
"""Carried out whole."""
OUTCOMES: Final = (DONE, STOPPED, PLANNED, NOTHING, FAILED)


def outcome_of(report: RoundReport) -> str:
    """One of ``OUTCOMES``."""
    if report.plan is None:
        return FAILED
    if report.result is not None:
        return STOPPED if report.reason else DONE
    return PLANNED if report.plan.moves or report.plan.placements else NOTHING


def wanted_and_helped(plan: Plan) -> tuple[int, int]:
    """Pending pods that were to be helped, and those that get a place."""
    wanted = helped = 0
    for objective in plan.objectives:
        wanted += 0 if objective.wanted is UNSET else objective.wanted
        helped += 0 if objective.helped is UNSET else objective.helped
    return wanted, helped


ANNOUNCED: Final = "announced"
SENT: Final = "sent"
IN_DOUBT: Final = "in doubt"
LANDED: Final = "landed"
REFUSED: Final = "refused"
NOT_EVICTED: Final = "not carried out"
FAILING: Final = "failing"
REPAID: Final = "repaid"
WORDS: Final = (ANNOUNCED, SENT, IN_DOUBT, LANDED, REFUSED, NOT_EVICTED, FAILING, REPAID, FAILED)
"""In the order in which they may come."""


def eviction_word(entry: LedgerEntry) -> str:
    """How far the eviction has come."""
    if entry.state in (EntryState.INTENDED, EntryState.SURGING):
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
