"""What the page is made of: the daemon's state, what it goes by, and what the caller may see and do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from rescheduler.daemon.rounds.vigilance import HealthFreeze
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.daemon.steering.told_ledger import told_ledger
from rescheduler.disruption.eligibility_context import EVERYTHING
from rescheduler.model.daemon.account import ApiRight
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, SENT, Ledger, LedgerEntry
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan, PlannedPlacement, PodReference, Refusal
from rescheduler.model.printable import shortened
from rescheduler.model.times import rfc3339
from rescheduler.model.usage.trust import NodeTrust
from rescheduler.policy.fields.policy import Policy

ALLOWED_HEADER: Final = "x-rescheduler-allow"
"""By which what a page comes through says what it lets through; it can only take away."""
HOUR_SECONDS: Final = 3600.0
LONGEST_CELL: Final = 160


class PageBasis(NamedTuple):
    """What the daemon goes by beside its state.

    ``ledger``: as last read, None before that. ``trust``: in each node's load, None where nothing is measured;
    ``load_age``: seconds since the newest sample. ``freeze``: what the cluster's health forbids, and since when.
    ``silent``: seconds since the loop last showed life.
    """

    policy: Policy
    selection: Selection = EVERYTHING
    ledger: Ledger | None = None
    trust: NodeTrust | None = None
    load_age: float | None = None
    freeze: HealthFreeze | None = None
    silent: float | None = None


class Rights(NamedTuple):
    """What the caller may see and do; each field as ``RIGHTS`` asks for it. ``get state`` is had by whoever sees it.

    ``narrowed``: what it comes through lets less be done than the account may.
    """

    rounds: bool = False
    plans: bool = False
    refusals: bool = False
    switch: bool = False
    approve: bool = False
    narrowed: bool = False

    def within(self, allowed: str | None) -> Rights:
        """The same where only what ``allowed`` names (approve, pause) may be done; None: all that the account may."""
        if allowed is None:
            return self
        names = {name.strip() for name in allowed.split(",")}
        narrowed = self._replace(switch=self.switch and "pause" in names, approve=self.approve and "approve" in names)
        return narrowed._replace(narrowed=narrowed != self)


RIGHTS: Final[Mapping[str, ApiRight]] = {
    "rounds": ApiRight("list", "rounds"),
    "plans": ApiRight("list", "plans"),
    "refusals": ApiRight("list", "refusals"),
    "switch": ApiRight("update", "switch"),
    "approve": ApiRight("create", "plans", "approve"),
}


@dataclass(frozen=True)
class Outlook:
    """One look at everything. ``now``: seconds since the epoch by the daemon's clock. ``most``: rows of a table."""

    state: DaemonState
    basis: PageBasis
    rights: Rights
    now: float
    most: int = 200

    @cached_property
    def ledger(self) -> Ledger:
        """As last read, or an empty one, with what was told of our own evictions since."""
        breaker = self.basis.policy.disruption.breaker
        return told_ledger(self.basis.ledger or EMPTY_LEDGER, self.state.evictions, breaker)

    @cached_property
    def sent(self) -> tuple[LedgerEntry, ...]:
        """Evictions of the ledger that were sent, the newest first."""
        found = [entry for entry in self.ledger.entries if entry.state in SENT]
        return tuple(sorted(found, key=lambda entry: (-entry.at, -entry.number)))

    @cached_property
    def sent_lately(self) -> tuple[LedgerEntry, ...]:
        """Those of the last hour."""
        return tuple(entry for entry in self.sent if entry.at > self.now - HOUR_SECONDS)

    @cached_property
    def planned(self) -> RoundReport | None:
        """The newest round that made a plan."""
        return next((report for report in reversed(self.state.rounds) if report.plan is not None), None)

    @cached_property
    def carried_out(self) -> RoundReport | None:
        """The newest round whose plan was carried out, in whole or in part."""
        return next((report for report in reversed(self.state.rounds) if report.result is not None), None)

    @property
    def plan(self) -> Plan | None:
        """The plan that waits, or else the newest one."""
        waiting = self.state.approvals.proposal
        if waiting is not None:
            return waiting.plan
        return None if self.planned is None else self.planned.plan

    @cached_property
    def placement_of(self) -> Mapping[str, PlannedPlacement]:
        """Places that the plan gives, by pod."""
        return {} if self.plan is None else {place.pod.key: place for place in self.plan.placements}

    @cached_property
    def refusal_of(self) -> Mapping[str, Refusal]:
        """What the plan says against each pod, the first of several."""
        found: dict[str, Refusal] = {}
        for refusal in () if self.plan is None else self.plan.refusals:
            if isinstance(refusal.pod, PodReference):
                found.setdefault(refusal.pod.key, refusal)
        return found

    def at(self, moment: float | None) -> str:
        """A moment in words: the time in UTC, and how long ago."""
        if moment is None:
            return "not known"
        gap = self.now - moment
        ago = f"{lasting(gap)} ago" if gap >= 0 else f"in {lasting(-gap)}"
        return f"{utc(moment)} ({ago})"


def utc(moment: float) -> str:
    """A moment as people read it."""
    try:
        return f"{rfc3339(moment)[:19].replace('T', ' ')} UTC"
    except (OverflowError, ValueError, OSError):
        return "a time beyond the calendar"


def lasting(seconds: float) -> str:
    """A time in its two largest units: ``3d 4h``, ``12m 5s``."""
    left, parts = int(min(max(0.0, seconds), 10**9)), []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if left >= size:
            parts.append(f"{left // size}{unit}")
            left %= size
    return " ".join(parts[:2]) or "0s"


def brief(text: object, longest: int = LONGEST_CELL) -> str:
    """A text of a cluster for one cell: printable, and not endless."""
    return shortened(str(text), longest)


def withheld(right: str) -> str:
    """What is said in the place of what the caller may not see or do."""
    return f"Your account may not {RIGHTS[right]}."
