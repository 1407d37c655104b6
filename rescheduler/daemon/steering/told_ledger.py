"""The ledger as it stands between two rounds: as last read, with what was told of our own evictions since. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from rescheduler.disruption.gate.breaker import judge_breaker
from rescheduler.model.daemon.ledger import Ledger, LedgerEntry
from rescheduler.policy.fields.daemon.safety import BreakerPolicy


def told_ledger(read: Ledger, told: Mapping[tuple[str, float], LedgerEntry], rules: BreakerPolicy) -> Ledger:
    """The ledger with the newest word on each eviction, and its breaker as these have it.

    ``told``: by the pod's uid and when the eviction was announced. A round judges the breaker as it begins, and may
    then wait for replacements for long; whoever looks meanwhile is to see that it opened. What is only late by now is
    left to the next round, which looks at the cluster first, and what the ledger has dropped does not come back.
    """
    entries = {(entry.pod.uid, entry.at): entry for entry in read.entries}
    latest = max((entry.at for entry in read.entries), default=0.0)
    known = dict(entries)
    for key, entry in told.items():
        before = entries.get(key)
        if (entry.at >= latest) if before is None else (before.is_debt and (not entry.is_debt or entry.failure)):
            known[key] = entry
    if known == entries:
        return read
    ledger = replace(read, entries=tuple(sorted(known.values(), key=lambda entry: entry.at)))
    newest = max(max(entry.at, entry.ended_at or 0.0, entry.closed_at or 0.0) for entry in ledger.entries)
    return replace(ledger, breaker=judge_breaker(ledger, rules, newest))
