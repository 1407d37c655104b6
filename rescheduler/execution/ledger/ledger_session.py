"""The ledger session of one plan: every eviction is in the ledger before it is sent, and its answer afterwards.

Order of one eviction: intent into the ledger (compare-and-swap), line into the audit log, a last look at what grew old
meanwhile and at whether we were stopped, and only then the request. What is learned later waits for the next write, so
that an eviction costs about one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec import structs

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.ledger.ledger_entries import AnnouncedEvictions
from rescheduler.execution.ledger.ledger_rules import LedgerSettings, check_fence
from rescheduler.execution.ledger.open_evictions import SENT_WITHIN_SECONDS
from rescheduler.execution.ledger.repayment import OpenEvictions
from rescheduler.execution.stopping import NoRoomError, PlanStoppedError, Waiter
from rescheduler.extension_points import (
    Clock,
    ClusterError,
    EvictionAnswer,
    ExecutionTarget,
    StoreError,
)
from rescheduler.model.daemon.ledger import SENT, EntryState, Ledger, LedgerEntry
from rescheduler.model.daemon.ledger_changes import announced, debt_of, holds, plan_begun, without
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.plan import Move, Plan, PlanResult, PodReference

LASTING: Final = frozenset({"Forbidden", "TwoBudgets", "BudgetExhausted", "BudgetNotObserved"})
"""Refusals that a later try would meet again; others are about a moment, or about the server."""


class LedgerSession:
    """Everything that one plan reads from the ledger and writes to it."""

    def __init__(
        self,
        settings: LedgerSettings,
        target: ExecutionTarget,
        fresh: FreshCluster,
        waiter: Waiter,
        clock: Clock,
        earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
    ) -> None:
        self._settings = settings
        self._fresh = fresh
        self._clock = clock
        rules = settings.rules
        self._writer = rules.writer(settings.store, clock)
        self._announced = AnnouncedEvictions(rules.label_keys, earlier)
        self._open_evictions = OpenEvictions(self._writer, target, fresh, waiter)
        self._plan: int | None = None
        self._seen: str | None = None
        self._unsent: tuple[LedgerEntry, float] | None = None
        self._aside: LedgerEntry | None = None
        self._is_full = False

    @property
    def ledger(self) -> Ledger:
        """As the gate is to see it: own debts whose replacements are Ready are over for the plan's next wave.

        With ``waits_until_repaid`` only what is proven closes a debt. An intent that is not sent yet is what the gate
        is asked about, and so does not count against itself.
        """
        ledger = self._writer.ledger
        if self._unsent is not None:
            ledger = without(ledger, self._unsent[0])
        if self._aside is not None:
            ledger = without(ledger, self._aside)
        if self._settings.rules.waits_until_repaid:
            return ledger
        return self._announced.without_complete(ledger, self._fresh.time)

    @property
    def ready(self) -> frozenset[PodReference]:
        """Pods of this plan whose replacements are Ready."""
        return self._announced.ready

    def open(self, moves: Sequence[Move]) -> None:
        """Read what earlier plans and other processes left; wait for evictions of these pods that are in doubt.

        Raises ClusterError, and PlanStoppedError where somebody has stopped us.
        """
        self._open_evictions.await_doubts(moves, lambda: self._settings.check_stop(self._writer))

    def begin(self, plan: Plan) -> None:
        """Take the next number: every older plan stops. Raises PlanStoppedError, ClusterError."""
        if self._plan is not None:
            return
        self._settings.note([])
        holder = f"{self._settings.rules.holder}, since {self._fresh.time:.3f}"

        def change(ledger: Ledger) -> Ledger:
            self._settings.check_stop(self._writer)
            return plan_begun(ledger, holder)

        self._writer.update(change, lambda ledger: ledger.holder == holder, self._fresh.time)
        self._plan = self._writer.ledger.plan
        self._settings.keep_plan(self._plan, plan)
        self._seen = self._writer.version

    def were_sent(self, moves: Sequence[Move]) -> bool:
        """Whether somebody has sent one of these pods, by the ledger as our number was taken: since then nobody can."""
        uids = {move.pod.uid for move in moves}
        return any(entry.state in SENT and entry.pod.uid in uids for entry in self._writer.ledger.entries)

    def look(self) -> Ledger:
        """The ledger for the gate, read anew. Raises PlanStoppedError where another plan has begun, ClusterError."""
        return self._seen_by_gate(self._writer.read())

    def know(self) -> Ledger:
        """The same, as it was read a moment ago: for what is announced next, since that finds who has written since."""
        return self._seen_by_gate(self._writer.know())

    def announce(self, move: Move, pod: Pod, ask: Callable[[], str | None]) -> str | None:
        """Write the intent to evict ``pod`` as it was read just now; in words what speaks against it, None: it stands.

        ``ask`` asks the gate again, where somebody else has written meanwhile. Raises PlanStoppedError, ClusterError;
        NoRoomError where ``await_room`` may help.
        """
        assert self._plan is not None
        began = self._clock.monotonic()
        entry = self._announced.entry(move, pod, self._plan, self._fresh)
        objection: str | None = None

        def change(ledger: Ledger) -> Ledger | None:
            nonlocal objection
            self._check(ledger)
            objection = _in_debt(ledger, pod)
            if objection is None and self._writer.version != self._seen:
                objection = ask()
                self._seen = self._writer.version
            return None if objection is not None else announced(ledger, entry)

        with self._announcing(entry):
            is_written = self._writer.update(change, lambda ledger: holds(ledger, entry), self._fresh.time)
        if not is_written:
            self._announced.forget(entry)
            return objection
        self._seen = self._writer.version
        try:
            self._settings.note([entry])
        except PlanStoppedError as error:
            self._withdraw(entry, f"not sent: {error}")
            raise
        self._unsent = entry, began
        return None

    @contextmanager
    def _announcing(self, entry: LedgerEntry) -> Iterator[None]:
        """An entry is remembered while it is written, and no longer where an error says that it was not."""
        self._announced.put(entry)
        try:
            yield
        except NoRoomError as error:
            self._announced.forget(entry)
            self._is_full = any(other.plan == self._plan for other in self._writer.ledger.debts)
            if not self._is_full:
                raise PlanStoppedError(str(error)) from error
            raise
        except (PlanStoppedError, ClusterError):
            if self._writer.doubt is None:
                self._announced.forget(entry)
            raise

    def last_look(self, move: Move) -> str | None:
        """Right before the request: what speaks against sending what was announced. Raises PlanStoppedError.

        From here on the intent counts as sent.
        """
        assert self._unsent is not None
        took = self._clock.monotonic() - self._unsent[1]
        self._unsent = None
        if took > SENT_WITHIN_SECONDS:
            return f"announcing the eviction of {move.pod.key} took {took:.0f} s; apply again to go on"
        self._settings.check_switch()
        return None

    def answered(self, move: Move, answer: EvictionAnswer) -> None:
        """What was said to the last request for the pod of a move; told to the ledger with the next write."""
        entry = self._announced.of(move.pod)
        if entry is None:
            return
        now = round(self._fresh.time, 3)
        if answer.kind == "Accepted":
            entry = self._change(entry, state=EntryState.OPEN, ended_at=now)
        elif answer.kind in ("Failed", "TwoBudgets"):  # a 5xx is no refusal
            entry = self._change(entry, state=EntryState.OPEN, ended_at=now, is_in_doubt=True, message=answer.message)
        else:
            entry = self._change(entry, **_refused(answer, now))
        self._settings.tell(entry)

    def not_sent(self, move: Move, why: str) -> None:
        """The eviction that was announced was held back at the last moment."""
        entry = self._announced.of(move.pod)
        if entry is not None:
            self._withdraw(entry, f"not sent: {why}")

    def refused(self, move: Move, pod: Pod, answer: EvictionAnswer) -> None:
        """Remember a refusal that will last, so that later plans go around it; one that came before any intent too."""
        if self._plan is None or answer.kind not in LASTING:
            return
        known, now = self._announced.of(move.pod), self._fresh.time
        if known is not None and (known.is_debt or known.state is EntryState.REFUSED):
            return
        entry = structs.replace(self._announced.entry(move, pod, self._plan, self._fresh), **_refused(answer, now))
        try:
            self._writer.update(lambda ledger: announced(ledger, entry), lambda ledger: holds(ledger, entry), now)
        except (ClusterError, PlanStoppedError):
            return  # nothing was evicted, so nothing is owed
        self._announced.put(entry)
        self._settings.tell(entry)

    @contextmanager
    def set_aside(self, move: Move) -> Iterator[None]:
        """For the time of a question to the gate: the entry of the surge that it is about does not count."""
        self._aside = self._announced.of(move.pod)
        try:
            yield
        finally:
            self._aside = None

    def check_switch(self) -> None:
        """Raise PlanStoppedError if we were told to stop on our own machine."""
        self._settings.check_switch()

    def is_moved_by_owner(self, move: Move) -> None:
        """An eviction whose answer was lost was heard by whoever moves the pod himself: it is no debt."""
        entry = self._announced.of(move.pod)
        if entry is not None:
            self._settings.tell(
                self._change(entry, state=EntryState.SURGING, ended_at=None, is_in_doubt=False, message="")
            )

    def surged(self, move: Move, landed_on: str | None) -> None:
        """A pod has left, or is about to, whose replacement works: nobody was ever missing."""
        now = round(self._fresh.time, 3)
        entry = self._announced.of(move.pod)
        if entry is not None:
            changes = {"ended_at": now, "closed_at": now, "landed_on": landed_on}
            self._settings.tell(self._change(entry, state=EntryState.REPAID, **changes))

    def undone(self, move: Move, why: str, failure: str = "") -> None:
        """A pod that was taken out has been given back; ``failure``: where that was for what became of itself."""
        entry = self._announced.of(move.pod)
        if entry is not None and entry.state is EntryState.SURGING:
            now = round(self._fresh.time, 3)
            changes = {"ended_at": now, "closed_at": now, "message": why, "failure": failure}
            self._settings.tell(self._change(entry, state=EntryState.NOT_EVICTED, **changes))

    def left(self, move: Move) -> None:
        """An eviction whose answer was lost has taken effect."""
        entry = self._announced.of(move.pod)
        if entry is not None:
            self._change(entry, state=EntryState.OPEN, is_in_doubt=False, message="")

    def failed(self, move: Move, why: str) -> None:
        """The replacement of a moved pod does not work: remembered, whatever becomes of it."""
        entry = self._announced.of(move.pod)
        if entry is not None:
            self._change(entry, failure=why)

    def landed(self, nodes: Mapping[PodReference, str], ready: Iterable[PodReference] = ()) -> None:
        """Where pods landed so far; ``ready``: those whose replacements work."""
        for pod, node in nodes.items():
            entry = self._announced.of(pod)
            if entry is not None and entry.landed_on != node:
                self._change(entry, landed_on=node)
        self._announced.complete(ready)

    def await_room(self) -> None:
        """Where the ledger was full of evictions of this plan, wait until half of them are over. Raises
        PlanStoppedError, ClusterError."""
        if self._is_full:
            self._open_evictions.await_half(self._plan, lambda: self._settings.check_stop(self._writer))
            self._is_full = False

    def owing(self, moves: Iterable[Move]) -> Sequence[Move]:
        """Those whose workloads have to be repaid first, where the rules are so strict."""
        return self._open_evictions.owing(moves) if self._settings.rules.waits_until_repaid else ()

    def await_repaid(self, choose: Callable[[], Sequence[Move]]) -> None:
        """Wait until workloads that are to lose pods again owe nothing, where the rules are so strict."""
        if self._settings.rules.waits_until_repaid:
            self._open_evictions.await_repaid(choose)

    def close(self, result: PlanResult) -> str | None:
        """Write what is left to be told; in words why that was not possible, None: it stands."""
        if self._plan is None:
            return None
        self.landed({move.pod: move.landed_on for move in result.moves if move.landed_on is not None})
        trouble = None
        # One fails without the other: a full disk here is no reason to leave the cluster's own ledger behind.
        for write in (self._write_rest, lambda: self._settings.note(self._announced.all)):
            try:
                write()
            except (ClusterError, StoreError, PlanStoppedError) as error:
                trouble = f"where pods landed could not be written down ({error}); the next plan finds out by itself"
        return trouble

    def _write_rest(self) -> None:
        if self._writer.has_news:
            self._writer.update(lambda ledger: ledger, lambda _: False, self._fresh.time)

    def _seen_by_gate(self, ledger: Ledger) -> Ledger:
        self._check(ledger)
        self._seen = self._writer.version
        return self.ledger

    def _check(self, ledger: Ledger) -> None:
        if self._plan is not None:
            check_fence(ledger, self._plan)
        self._settings.check_stop(self._writer)

    def _withdraw(self, entry: LedgerEntry, message: str) -> None:
        self._unsent = None
        now = self._fresh.time
        self._change(entry, state=EntryState.NOT_EVICTED, ended_at=now, closed_at=now, message=message)

    def _change(self, entry: LedgerEntry, **fields: Any) -> LedgerEntry:
        self._writer.note(entry.pod.uid, entry.at, **fields)
        changed = structs.replace(entry, **fields)
        self._announced.put(changed)
        return changed


def _refused(answer: EvictionAnswer, now: float) -> dict[str, Any]:
    """What a definite refusal makes of an entry."""
    return {
        "state": EntryState.REFUSED,
        "ended_at": now,
        "closed_at": now,
        "message": answer.message or answer.kind,
        "failure": answer.kind if answer.kind in LASTING else "",
    }


def _in_debt(ledger: Ledger, pod: Pod) -> str | None:
    entry = debt_of(ledger, pod.uid)
    if entry is None:
        return None
    return f"{pod.key} was sent for eviction by plan {entry.plan} already, and what became of that is not known yet"
