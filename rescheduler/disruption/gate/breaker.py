"""The circuit breaker: evictions that come to nothing stop the daemon. Pure on the ledger and a time."""

from __future__ import annotations

from collections.abc import Container, Iterator

from msgspec.structs import replace

from rescheduler.model.daemon.ledger import SENT, Breaker, EntryState, Ledger, LedgerEntry
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.daemon.safety import BreakerPolicy
from rescheduler.policy.fields.values import format_duration

MOST_OPENINGS = 2
"""With so many openings an operator has to close it."""


def judge_breaker(ledger: Ledger, rules: BreakerPolicy, now: float, bereft: Container[str] = ()) -> Breaker:
    """The breaker after everything that the ledger tells at ``now``; it is to be kept in the ledger.

    ``bereft``: uids of workloads without one ready pod. While it is open, the first eviction sent since counts as the
    trial: repaid, it closes the breaker; failed or late, it opens it for good.
    """
    if not rules.failures:
        return Breaker(since=ledger.breaker.since)
    if ledger.breaker.opened_at is not None:
        return _after_trial(ledger, ledger.breaker, ledger.breaker.opened_at, rules, now)
    reason = next(_reasons(ledger, rules, now, bereft), None)
    if reason is None:
        return ledger.breaker
    openings = ledger.breaker.openings + 1
    return replace(ledger.breaker, opened_at=now, openings=openings, reason=reason, trial=None)


def breaker_objection(breaker: Breaker, rules: BreakerPolicy, now: float) -> str | None:
    """Why nothing may be evicted; None: closed, or open for so long that one trial is due (see ``is_on_trial``)."""
    if breaker.opened_at is None:
        return None
    told = f"the circuit breaker is open: {breaker.reason}"
    if breaker.openings >= MOST_OPENINGS:
        return f"{told}; it opened {breaker.openings} times, so an operator has to close it"
    if breaker.trial is not None:
        return f"{told}; its trial eviction is not over yet"
    left = breaker.opened_at + rules.rest - now
    return f"{told}; one eviction is tried in {format_duration(float(round(left)))}" if left > 0 else None


def is_on_trial(breaker: Breaker) -> bool:
    """Whether no more than one eviction may be sent."""
    return breaker.opened_at is not None


def is_failure(entry: LedgerEntry, rules: BreakerPolicy, now: float) -> bool:
    """Whether an eviction came to nothing, or its replacement took too long."""
    if entry.state is EntryState.FAILED or (entry.failure and entry.state in SENT):
        return True
    ended = now if entry.closed_at is None else entry.closed_at
    if entry.method is MoveMethod.SURGE:
        return False  # nobody is missing, however long it takes, and it ends by itself
    return entry.state in SENT and ended - entry.at > rules.repay_within + entry.grace_seconds


def _reasons(ledger: Ledger, rules: BreakerPolicy, now: float, bereft: Container[str]) -> Iterator[str]:
    sent = [entry for entry in ledger.entries if entry.state in SENT and entry.at >= ledger.breaker.since]
    last = sent[-rules.of :]
    failed = [entry for entry in last if is_failure(entry, rules, now)]
    if len(failed) >= rules.failures:
        yield f"{len(failed)} of the last {len(last)} evictions came to nothing, {_named(failed[-1])} among them"
    for entry in sent:
        if entry.is_debt and now - entry.at > rules.oldest + entry.grace_seconds:
            yield f"{_named(entry)} has not been replaced for {format_duration(float(round(now - entry.at)))}"
        if entry.is_debt and entry.workload in bereft and entry.ready > 1:
            yield f"{entry.workload_key or _named(entry)} has no ready pod left"


def _after_trial(ledger: Ledger, breaker: Breaker, opened_at: float, rules: BreakerPolicy, now: float) -> Breaker:
    trial = next((entry for entry in ledger.entries if entry.state in SENT and entry.at > opened_at), None)
    if trial is None or breaker.openings >= MOST_OPENINGS:
        return replace(breaker, trial=None)
    if is_failure(trial, rules, now):
        reason = f"the trial eviction of {_named(trial)} came to nothing"
        return replace(breaker, opened_at=now, openings=breaker.openings + 1, reason=reason, trial=None)
    if trial.state is EntryState.REPAID:
        return Breaker(openings=breaker.openings, since=trial.at)
    return replace(breaker, trial=trial.number)


def _named(entry: LedgerEntry) -> str:
    return entry.pod.key
