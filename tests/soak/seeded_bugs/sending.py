"""Bugs between the last look and the answer: preconditions, freshness, patience, the switch, the fence, the ledger."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

from msgspec import structs

from rescheduler.daemon.rounds import rounds
from rescheduler.execution.core.events import Accepted
from rescheduler.execution.eviction import evicting
from rescheduler.execution.eviction.evicting import Evictor
from rescheduler.execution.eviction.own_verdict import OwnVerdict
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.ledger import ledger_session
from rescheduler.execution.ledger.ledger_rules import LedgerSettings
from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.run.segment_run import SegmentRun
from rescheduler.extension_points import EvictionAnswer, StoreError
from rescheduler.model.daemon import ledger_changes
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.plan.vicinity import Vicinity
from rescheduler.policy.fields.policy import Mode
from tests.soak.seeded_bugs.seams import SeededBug, always, becomes, changed, changed_everywhere, together

CALM: Final = {"fault_rate": 0.0, "episodes": 0.0, "kills": 0.0, "malice": 0.1}
LOST: Final = (
    tuple(("evict", f"{what} {when}") for what in ("5xx", "timeout", "reset") for when in ("before", "after")) * 5
)
BUSY_SERVER: Final = (("dry run", "429 of overload"), ("dry run", "429 of a budget")) * 40


def _aiming(**lost: Any) -> Any:
    """Evictions leave without a precondition."""

    def make(original: Any) -> Any:
        def send(self: Evictor, move: Any, live: Any) -> EvictionAnswer:
            if "uid" in lost:
                self.in_flight = move
                answer = self._target.evict(structs.replace(move.pod, uid=""), live.resource_version, dry_run=False)
                self._session.answered(move, answer)
                return answer
            return original(self, move, structs.replace(live, resource_version=""))  # type: ignore[no-any-return]

        return send

    return changed(Evictor, "_send", make)


def _anybodys(original: Any) -> Any:
    """A verdict that is young counts, whoever it is about."""

    def objection(self: OwnVerdict, move: Any, departures: Any) -> str | None:
        return None if self._is_young else original(self, move, departures)  # type: ignore[no-any-return]

    return objection


def _looking_away(_: Any) -> Any:
    def look_around(self: FreshCluster, move: Any) -> Vicinity:
        self._looked_at = self._clock.monotonic()
        return Vicinity()

    return look_around


def _young_when_read(original: Any) -> Any:
    def read(self: FreshCluster) -> Any:
        found = original(self)
        self._asked_at, self._took_seconds = self._clock.monotonic(), 0.0
        return found

    return read


def _answering(kinds: tuple[str, ...], taken_as: str) -> Any:
    def make(original: Any) -> Any:
        def answered(self: LedgerSession, move: Any, answer: EvictionAnswer) -> None:
            original(self, move, answer._replace(kind=taken_as) if answer.kind in kinds else answer)

        return answered

    return changed(LedgerSession, "answered", make)


def _announcing_late(original: Any) -> Any:
    def announce(self: LedgerSession, move: Any, pod: Any, ask: Any) -> str | None:
        entry = self._announced.entry(move, pod, self._plan or 0, self._fresh)
        self._announced.put(entry)
        self._unsent = entry, self._clock.monotonic()
        return None

    return announce


def _noting(original: Any) -> Any:
    def note(self: LedgerSettings, entries: Any) -> None:
        try:
            if self.audit is not None:
                self.audit.note(entries)
        except StoreError:
            return

    return note


def _impatient(original: Any) -> Any:
    """What the server asks for is not heard either."""

    def answered(self: Evictor, number: int, answer: EvictionAnswer) -> Any:
        return original(self, number, answer._replace(retry_after_seconds=None))

    return answered


def _waiting_for_more(_: Any) -> Any:
    """Whatever has been seen, the next change is waited for."""

    def look(self: SegmentRun, until: float | None) -> None:
        self._tools.settler.await_change(until)
        self._observe()

    return look


def _glancing_always(_: Any) -> Any:
    """After an eviction it is looked at all others, also where a look comes next: there is what was seen already."""

    def glance(self: SegmentRun, event: Any) -> None:
        if isinstance(event, Accepted):
            self._tools.settler.look()
            self._observe()

    return glance


def _without_switch(original: Any) -> Any:
    def init(self: rounds.RoundRunner, world: rounds.RoundContext, *rest: Any, **named: Any) -> None:
        original(self, replace(world, stopped=lambda: None), *rest, **named)

    return init


def _confirmed(original: Any) -> Any:
    return lambda *given, **named: original(*given, **{**named, "is_confirmed": True})


def _same_number(_: Any) -> Any:
    def plan_begun(ledger: Ledger, holder: str) -> Ledger:
        return structs.replace(ledger, plan=max(1, ledger.plan), holder=holder)

    return plan_begun


BUGS: Final = (
    SeededBug(
        "no uid", "the eviction carries no uid precondition", ("I7", "I20"), _aiming(uid=None),
    ),
    SeededBug(
        "no resource version", "the eviction carries no resourceVersion precondition", ("I7",), _aiming(version=None),
    ),
    SeededBug(
        "no last look", "what grew old while an eviction was announced is not looked at again", ("I7",),
        changed(Evictor, "_aged", always(None)), policy="workloads: {maxUnavailable: 90%}",
        settings={**CALM, "nodes": 12, "forced": (("ledger write", "slow"),) * 200},
    ),
    SeededBug(
        "another's verdict", "the gate's leave for one pod lets the next one go too", ("I7",),
        changed(OwnVerdict, "objection", _anybodys), policy="workloads: {maxUnavailable: 90%}",
    ),
    SeededBug(
        "no look around", "the gate is asked on the snapshot alone", ("I7",),
        changed(FreshCluster, "look_around", _looking_away),
    ),
    SeededBug(
        "young when read", "the age of a snapshot counts from the end of its reading", ("I7",),
        changed(FreshCluster, "read", _young_when_read), policy="workloads: {maxUnavailable: 90%}",
        settings={"nodes": 12, "forced": (("read", "slow"),) * 200},
    ),
    SeededBug(
        "504 is a refusal", "a lost answer (504, timeout, reset) is taken for a refusal", ("I1",),
        _answering(("Failed",), "Forbidden"), settings={**CALM, "forced": LOST},
    ),
    SeededBug(
        "accepted is repaid", "an accepted eviction is noted as refused, so that it is no debt", ("I1",),
        _answering(("Accepted",), "Forbidden"),
    ),
    SeededBug(
        "no patience", "after a 429 the pod is asked for again at once", ("I26",),
        together(
            changed(Evictor, "_answered", _impatient), changed(evicting, "SHORTEST_BACK_OFF_SECONDS", becomes(1.0)),
        ),
        settings={**CALM, "forced": BUSY_SERVER},
    ),
    SeededBug(
        "endless tries", "one pod is asked for without end", ("I26",),
        changed_everywhere(evicting, "ATTEMPTS", becomes(50)),
        settings={**CALM, "forced": BUSY_SERVER},
    ),
    SeededBug(
        "switch ignored", "the kill switch on the machine is not asked", ("I19",),
        changed(rounds.RoundRunner, "__init__", _without_switch), settings={"malice": 0.0, "kills": 0.0},
    ),
    SeededBug(
        "fence asked once", "a plan goes on though a newer one has begun", ("I8",),
        changed_everywhere(ledger_session, "check_fence", always(None)),
        settings={"processes": 3, "malice": 0.0},
    ),
    SeededBug(
        "one number for all", "a new plan does not raise the number", ("I8",),
        changed_everywhere(ledger_changes, "plan_begun", _same_number), settings={"processes": 2},
    ),
    SeededBug(
        "intent afterwards", "the intent is not written before the eviction is sent", ("I20",),
        changed(LedgerSession, "announce", _announcing_late),
    ),
    SeededBug(
        "audit may fail", "evictions go on when the audit log cannot be written", ("I31",),
        changed(LedgerSettings, "note", _noting), settings={"episodes": 4.0, "malice": 0.1},
    ),
    SeededBug(
        "dry run acts", "a policy with mode DryRun is carried out", ("I24",),
        together(
            changed(rounds, "Mode", lambda _: SimpleNamespace(EXECUTE=Mode.DRY_RUN, DRY_RUN=Mode.EXECUTE)),
            changed(rounds, "PolicyGate", _confirmed),
        ),
        top="mode: DryRun",
    ),
    SeededBug(
        "waits for what came", "all are looked at after each eviction, and a change that was seen then is waited for",
        ("L5",),
        together(
            changed(SegmentRun, "_look", _waiting_for_more), changed(SegmentRun, "_glance", _glancing_always),
        ),
        policy="workloads: {maxUnavailable: 90%}",
        settings={**CALM, "forced": (("evict", "slow"),) * 60},
    ),
)  # fmt: skip
