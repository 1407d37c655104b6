"""What an operator says to the ledger by annotations: evict nothing, close the breaker, this plan is approved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from rescheduler.model.daemon.ledger import Breaker, Ledger
from rescheduler.model.printable import shortened
from rescheduler.model.times import read_time

STOP_ANNOTATION: Final = "rescheduler.dev/stop"
"""On the ConfigMap or its namespace: while it is there, nothing is evicted; its value is told as the reason."""
CLOSED_ANNOTATION: Final = "rescheduler.dev/breaker-closed"
"""When an operator closed the breaker, RFC 3339: what went wrong before is forgiven."""
APPROVED_ANNOTATION: Final = "rescheduler.dev/approved"
"""The number of the plan that an operator says yes to, where the policy's mode is Approve."""
LONGEST_NUMBER: Final = 64


def stop_reason(marks: Iterable[Mapping[str, str]]) -> str | None:
    """Why nothing may be evicted, by the annotations of the ConfigMap and of its namespace."""
    told = [found[STOP_ANNOTATION] for found in marks if STOP_ANNOTATION in found]
    return shortened(told[0], 300) or "no reason is given" if told else None


def approved_plan(annotations: Mapping[str, str]) -> str:
    """The number of the plan that was approved; "" where there is none, or where it is none of ours by its length."""
    found = annotations.get(APPROVED_ANNOTATION, "").strip()
    return found if len(found) <= LONGEST_NUMBER else ""


def with_marks(ledger: Ledger, annotations: Mapping[str, str], now: float | None) -> Ledger:
    """The ledger with the breaker closed if it opened before the annotation says; a time to come counts as ``now``.

    A text that is no time says nothing: the breaker stays open, and everything that it stops says so.
    """
    closed_at = read_time(annotations.get(CLOSED_ANNOTATION))
    if closed_at is None:
        return ledger
    closed_at = closed_at if now is None else min(closed_at, now)
    opened_at = ledger.breaker.opened_at
    if closed_at <= ledger.breaker.since or (opened_at is not None and opened_at > closed_at):
        return ledger
    return replace(ledger, breaker=Breaker(since=closed_at))
