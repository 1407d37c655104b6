"""Processes that share a cluster and a ledger, and that can be killed or overtaken at any call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.execution.run.executor import Executor, HoldSettings, LedgerRules
from rescheduler.extension_points import ClusterError, LedgerReading, StoreError
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState, Ledger, LedgerEntry
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, Plan, PlanResult, PodReference, Refusal
from tests.unit.execution.worlds import AllowAll, World, fragmented, two_moves


class Killed(BaseException):
    """The process is no more."""


class Process:
    """One run of the executor: counts its calls to cluster and ledger, and calls ``at_call`` with number and phase.

    After it was killed every further call fails in the same way, so that nothing it would tidy up is tidied up.
    """

    def __init__(self, world: World, ledger: Any, at_call: Callable[[int, str], None] = lambda _n, _p: None) -> None:
        self.calls = 0
        self.is_dead = False
        self._at_call = at_call
        self.target: Any = _Counted(world, self, ("evict", "read_pod", "read", "hold", "release", "renew"))
        self.ledger: Any = _Counted(ledger, self, ("read", "write"))

    def call(self, act: Callable[[], Any]) -> Any:
        """One call, with what happens before and after it."""
        if self.is_dead:
            raise Killed
        number = self.calls
        self.calls += 1
        try:
            self._at_call(number, "before")
            answer = act()
            self._at_call(number, "after")
        except Killed:
            self.is_dead = True
            raise
        return answer

    def apply(self, plan: Plan, world: World, **options: Any) -> PlanResult | None:
        """Carry a plan out; None if the process was killed on the way."""
        given: dict[str, Any] = {"guidance": "Hold", "gate": AllowAll(), "rules": LedgerRules(), **options}
        executor = Executor(
            self.target,
            given.pop("gate"),
            world.clock,
            hold=HoldSettings(60.0, "rescheduler-holds"),
            timeout_seconds=given.pop("timeout", 600.0),
            proof=given.pop("proof", lambda _cluster, _plan: ()),
            ledger=self.ledger,
            **given,
        )
        try:
            return executor.carry_out(plan)
        except Killed:
            return None


class _Counted:
    """Passes everything on; the named calls go through the process."""

    def __init__(self, inner: Any, process: Process, names: Sequence[str]) -> None:
        self._inner = inner
        self._process = process
        self._names = names

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._names:
            return found
        return lambda *given, **named: self._process.call(lambda: found(*given, **named))


class OneMoving:
    """A gate that lets at most ``most`` pods be under way, by the ledger and what this plan has sent."""

    def __init__(self, most: int = 1) -> None:
        self.most = most
        self.ledgers: list[Ledger] = []

    def permit(
        self, moves: Sequence[Move], _cluster: Any, _sent: Sequence[PodReference], ledger: Ledger = EMPTY_LEDGER
    ) -> list[Permit | Refusal]:
        """In order, as long as there is room."""
        self.ledgers.append(ledger)
        free = self.most - len(ledger.debts)
        return [
            Permit(move, "1") if number < free else Refusal("Budget", "one pod moves at a time", pod=move.pod)
            for number, move in enumerate(moves)
        ]


class LossyLedger(SimulatedLedger):
    """Loses answers: ``losses`` is used up by writes, "before" or "after" they took effect, or None."""

    def __init__(self, clock: Any, losses: Sequence[str | None]) -> None:
        super().__init__(clock)
        self.losses = list(losses)

    def write(self, ledger: Ledger, version: str) -> str | None:
        """As told."""
        loss = self.losses.pop(0) if self.losses else None
        if loss == "before":
            raise ClusterError("the answer was lost")
        answer = super().write(ledger, version)
        if loss == "after":
            raise ClusterError("the answer was lost")
        return answer


class Markless(SimulatedLedger):
    """A ledger whose reading can be replaced: ``reading`` is told in place of it."""

    reading: LedgerReading | None = None

    def read(self) -> LedgerReading:
        """As told."""
        return self.reading if self.reading is not None else super().read()


class Audit:
    """Keeps lines, as long as ``room`` is left."""

    def __init__(self, room: int = 100) -> None:
        self.room = room
        self.lines: list[LedgerEntry] = []

    def note(self, entries: Sequence[LedgerEntry]) -> None:
        """One line an entry."""
        if len(self.lines) >= self.room:
            raise StoreError("history: no space left on device")
        self.lines.extend(entries)

    def keep_plan(self, number: int, plan: Plan) -> None:
        """Nobody asks for it again."""


def run(world: World, ledger: SimulatedLedger, **options: object) -> PlanResult:
    """Move two pods."""
    result = Process(world, ledger).apply(two_moves(fragmented()), world, **options)
    assert result is not None
    return result


def states(ledger: Ledger) -> list[EntryState]:
    """Of all entries."""
    return [item.state for item in ledger.entries]
