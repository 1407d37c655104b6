"""The processes under test: each lives, is killed and started anew, and believes that it leads."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from greenlet import getcurrent

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.policies.policy_runtime import Planner
from rescheduler.daemon.rounds.rounds import RoundRunner
from rescheduler.daemon.rounds.world import RoundContext as Surroundings
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.execution.ledger.remembering_ledger import RememberingLedger
from rescheduler.model.daemon.ledger import Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.plan import Plan, SnapshotSummary
from rescheduler.policy.fields.policy import Policy
from tests.soak.adversary import BY_LOAD, SHARES, Adversary
from tests.soak.clock import PlanningClock, ProcessClock, Thread
from tests.soak.line.faults import Faults
from tests.soak.line.target import ProcessTarget
from tests.soak.line.views import Past
from tests.soak.line.wire import Wire
from tests.soak.own_records import ProcessAudit, ProcessLedger, ProcessMemory
from tests.soak.run_settings import RunSettings
from tests.soak.surging import by_surge
from tests.soak.trace import PlanEvent, PolicyEvent, ProcessEvent, RoundEvent, Trace
from tests.soak.world.ledger_object import LedgerObject
from tests.soak.world.lies import INTERVAL_SECONDS
from tests.soak.world.metrics_api import MetricsApi, ProcessUsage
from tests.soak.world.world import World

RESTART_SECONDS = (1.0, 120.0)
BROKEN_SHARE = 0.02


class Process:
    """One machine that runs the daemon: its disk and its clock outlive the processes on it."""

    def __init__(
        self, name: str, run: RunSettings, policy: Policy, world: World, ledger: LedgerObject, past: Past,
        faults: Faults, trace: Trace, metrics: MetricsApi,
    ) -> None:  # fmt: skip
        self.name = name
        self.random = Random(f"process/{run.seed}/{name}")
        self.stopped: str | None = None
        self.lines: list[LedgerEntry] = []
        self.wire: Wire | None = None
        self._memory = ProcessMemory()
        self.wall_offset = 0.0
        self.rounds = 0
        self.is_retired = False
        self._run, self._policy, self._world, self._ledger = run, policy, world, ledger
        self._past, self._faults, self._trace, self._metrics = past, faults, trace, metrics
        shares = BY_LOAD if run.is_measured else SHARES
        self._adversary = Adversary(Random(f"adversary/{run.seed}/{name}"), run.malice, shares)
        self._thread: Thread | None = None
        self._clock: ProcessClock | None = None
        self._starts = self._runs = 0
        self.start()

    def start(self) -> None:
        """A new process on this machine, with nothing but its disk."""
        if self.is_retired:
            return
        self._starts += 1
        wire = self.wire = Wire(self.name, self._world, self._past, self._faults, self.random, self._trace)
        wire.on_death = self._start_later
        clock = self._clock = ProcessClock(wire.clock, lambda: wire.is_dead, self.wall_offset)
        wire.wall = lambda: wire.clock.now() + clock.offset
        self._tell("start", f"number {self._starts}")
        self._trace.tell(PolicyEvent(wire.clock.monotonic(), self.name, self._policy))
        self._thread = Thread(wire.clock, lambda: self._live(wire, clock), self._ended)
        self._world.clock.after(0.0, lambda: None)

    def kill(self) -> None:
        """kill -9, at any moment but in a call (those die there)."""
        if self.wire is not None and not self.wire.is_dead:
            self.wire.is_dead = True
            self._tell("kill", "at any moment")
            assert self._thread is not None
            self._thread.kill()
            self._start_later()

    def retire(self) -> None:
        """It ends by itself after the round that it is in, and no other comes."""
        self.is_retired = True

    def stop(self, reason: str) -> None:
        """The kill switch on this machine, or SIGTERM."""
        self.stopped = reason
        self._tell("stop", reason)

    def go_on(self) -> None:
        """The switch is taken back."""
        self.stopped = None
        self._tell("go on")

    def jump(self, seconds: float) -> None:
        """The wall clock jumps."""
        self.wall_offset += seconds
        if self._clock is not None:
            self._clock.offset = self.wall_offset
        self._tell("wall-clock", f"{seconds:+.0f} s")

    def _tell(self, kind: str, detail: str = "") -> None:
        self._trace.tell(ProcessEvent(self._world.clock.monotonic(), self.name, kind, detail))

    def _start_later(self) -> None:
        self._world.clock.after(self.random.uniform(*RESTART_SECONDS), self.start, is_background=True)

    def _ended(self, error: BaseException | None) -> None:
        self._tell("end" if error is None else "crash", "" if error is None else _told(error))
        if self.wire is not None and error is not None:
            self.wire.is_dead = True
            self._start_later()

    def _live(self, wire: Wire, clock: ProcessClock) -> None:
        wire.greenlet = getcurrent()
        usage = self._measured(wire, clock) if self._run.is_measured else None
        surroundings = Surroundings(
            target=ProcessTarget(wire),
            ledger=RememberingLedger(ProcessLedger(wire, self._ledger), self._memory, "holds/ledger", lambda _: None),
            clock=clock,
            audit=ProcessAudit(wire, self.lines),
            stopped=lambda: self.stopped,
            signals=wire.signals,
            trust=None if usage is None else usage.load.trust,
            learn=(lambda _: None) if usage is None else usage.own_moves.learn,
            holder=self.name,
            asked=wire.asked,
            **self._surging(),
        )
        planner = self._planner(wire, clock)
        rounds = RoundRunner(surroundings, self._policy, planner, again=planner)
        begin = getattr(rounds, "start", None)
        if begin is not None:
            begin()
        while not self.is_retired:
            found = rounds.run_once()
            self.rounds += 1
            self._trace.tell(RoundEvent(wire.clock.monotonic(), self.name, found.result, found.reason))
            clock.sleep(self._run.round_seconds * (0.9 + 0.2 * self.random.random()))

    def _surging(self) -> dict[str, Any]:
        """What runs with surges have besides: an id for each run, and a Lease, where one process alone leads by it."""
        if not self._run.has_surges:
            return {}

        @contextmanager
        def running(_plan: Plan) -> Iterator[str]:
            self._runs += 1
            yield f"{self.name}-{self._runs}"

        return {"running": running, "surges_under": "holds/lease" if self._run.processes == 1 else ""}

    def _measured(self, wire: Wire, clock: ProcessClock) -> ProcessUsage:
        """Load as this process measures it, at a steady beat until it is dead."""
        usage = ProcessUsage(self._metrics, self._policy.usage, self._world.store.snapshot, clock)

        def beat() -> None:
            if not wire.is_dead:
                usage.tick()
                self._world.clock.after(INTERVAL_SECONDS, beat, is_background=True)

        self._world.clock.after(0.0, beat, is_background=True)
        return usage

    def _planner(self, wire: Wire, clock: ProcessClock) -> Planner:
        run = self._run
        options = CycleOptions(clock, seed=run.seed % 1000, is_daemon=True)

        def propose(
            cluster: Cluster,
            ledger: Ledger,
            wanted: Mapping[str, Wanted],
            earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
        ) -> Plan:
            wire.check()
            kind = run.planner
            if run.is_faulted and self.random.random() < BROKEN_SHARE:
                kind = "broken"
            if kind == "broken":
                plan = self._broken(cluster)
            elif kind == "real":
                asked = replace(options, clock=PlanningClock(clock), ledger=ledger, wanted=wanted, earlier=earlier)
                plan = make_plan(cluster, self._policy, asked)
            else:
                plan = self._adversary.plan(cluster, ledger)
                plan = by_surge(plan, cluster, self.random) if run.has_surges else plan
            self._trace.tell(PlanEvent(wire.clock.monotonic(), self.name, kind, plan, cluster))
            return plan

        return propose

    def _broken(self, cluster: Cluster) -> Plan:
        """A solver that fails in its ways: an exception, no memory, or an answer of another cluster."""
        kind = self.random.randrange(4)
        if kind == 0:
            raise ValueError("the solver answers nonsense")
        if kind == 1:
            raise MemoryError
        if kind == 2:
            raise RuntimeError("the solver died")
        when, old = self._past.at(600.0)
        return self._adversary.plan(old, self._ledger.ledger) if when else Plan(SnapshotSummary(None, 0, 0, 0, ""))


def _told(error: BaseException) -> str:
    """An exception with the places that it came through last."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__}: {error} at {places}"
