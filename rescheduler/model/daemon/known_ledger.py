"""What one machine remembers of the cluster's ledger, by which it notices that the ledger was lost or set back."""

from __future__ import annotations

from msgspec import Struct

from rescheduler.model.daemon.ledger import Ledger


class KnownLedger(Struct, frozen=True, rename="camel", omit_defaults=True):
    """As it was read or written last: number of the plan, uid of its object, since when the breaker is open.

    ``accepted_at``: see ``Ledger``; a later one says that an operator knows of what was lost.
    """

    plan: int = 0
    uid: str = ""
    opened_at: float | None = None
    reason: str = ""
    accepted_at: float = 0.0


NOTHING_KNOWN = KnownLedger()


def known_of(ledger: Ledger, uid: str) -> KnownLedger:
    """What is worth remembering of a ledger."""
    breaker = ledger.breaker
    return KnownLedger(ledger.plan, uid, breaker.opened_at, breaker.reason, ledger.accepted_at)


def loss_of(known: KnownLedger, ledger: Ledger, uid: str) -> str | None:
    """What is known and does not stand in the ledger any more, in words; None if nothing is missing.

    A breaker is closed by a write to the same object, or by an operator's mark that is later than its opening.
    """
    if ledger.accepted_at > known.accepted_at:
        return None
    if ledger.plan < known.plan:
        return f"it knows plans up to {ledger.plan}, and this machine has seen plan {known.plan}"
    breaker = ledger.breaker
    is_open = breaker.opened_at is not None
    if known.opened_at is not None and uid != known.uid and not is_open and breaker.since < known.opened_at:
        return f"the circuit breaker is closed in it, and this machine has seen it open ({known.reason})"
    return None
