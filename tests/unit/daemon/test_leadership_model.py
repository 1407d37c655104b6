"""Three processes want one lease while everything goes wrong: never do two of them lead at the same moment."""

from __future__ import annotations

from functools import partial

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from rescheduler.daemon.leadership.leadership import Leadership
from rescheduler.policy.fields.daemon.leader_election import LeaderElectionPolicy
from tests.unit.daemon.leases import FakeLease, OwnClock

RULES = LeaderElectionPolicy()
PROCESSES = 3
CLOCK_ERROR = 0.15
"""Two clocks may go apart by ``leaseDuration / renewDeadline``, 1.5 here; 1.15 / 0.85 is 1.35."""
moments = st.floats(0, 3)
pauses = st.one_of(moments, st.floats(0, 600))
numbers = st.integers(0, PROCESSES - 1)
nobody = st.none()


class Election(RuleBasedStateMachine):
    """True time, one lease, processes with clocks of their own, and people who write to the lease."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.lease = FakeLease()
        self.made = 0
        self.processes: list[Leadership] = []
        self.clocks: list[OwnClock] = []

    @initialize(rates=st.lists(st.floats(1 - CLOCK_ERROR, 1 + CLOCK_ERROR), min_size=PROCESSES, max_size=PROCESSES))
    def begin(self, rates: list[float]) -> None:
        """All are there from the start."""
        self.clocks = [OwnClock(lambda: self.time, rate, 1000.0 * rate) for rate in rates]
        self.processes = [self._new(clock) for clock in self.clocks]

    @rule(number=numbers, before=pauses, after=pauses, fault=st.sampled_from(["", "", "", "before", "after", "late"]),
          other=nobody | numbers, last=nobody | numbers)  # fmt: skip
    def step(self, number: int, before: float, after: float, fault: str, other: int | None, last: int | None) -> None:
        """One process makes a step; time passes round each of its requests, and others make steps meanwhile."""
        self.lease.before = partial(self._pass, before, other, number)
        self.lease.meanwhile = partial(self._pass, after, last, number)
        self.lease.fault = fault
        self._step(number)
        self._quiet()

    @rule(seconds=pauses)
    def wait(self, seconds: float) -> None:
        """Nobody does anything."""
        self.time += seconds

    @rule(seconds=st.floats(5, 40))
    def keep_up(self, seconds: float) -> None:
        """All make their steps when they are due."""
        self._run(seconds)

    @rule()
    def land(self) -> None:
        """A request that was given up takes effect at last, if it still may."""
        self.lease.lands()

    @rule(number=numbers)
    def kill(self, number: int) -> None:
        """A process is killed, and started again under another name."""
        self.processes[number] = self._new(self.clocks[number])

    @rule(number=numbers, fault=st.sampled_from(["", "before", "after", "late"]))
    def restart(self, number: int, fault: str) -> None:
        """A process stops as it should, and comes again."""
        self.lease.fault = fault
        self.processes[number].stop()
        self.lease.fault = ""
        self.processes[number] = self._new(self.clocks[number])

    @rule(number=numbers, seconds=st.floats(-1e6, 1e6))
    def set_clock(self, number: int, seconds: float) -> None:
        """Somebody sets a machine's clock."""
        self.clocks[number].offset += seconds

    @rule()
    def delete(self) -> None:
        """Somebody deletes the lease."""
        self.lease.put(None)

    @rule(number=nobody | numbers)
    def rename(self, number: int | None) -> None:
        """Somebody writes a name into the lease, or takes the name out."""
        if self.lease.record is not None:
            name = "" if number is None else self.processes[number].identity
            self.lease.put(self.lease.record._replace(holder=name, duration_seconds=15))

    @rule()
    def label(self) -> None:
        """Somebody labels the lease."""
        self.lease.version += 1

    @invariant()
    def one_at_most(self) -> None:
        """The promise."""
        assert sum(process.is_leader for process in self.processes) <= 1
        assert all((process.fence() is None) == process.is_leader for process in self.processes)

    def teardown(self) -> None:
        """Once nothing goes wrong any more somebody leads, and stays in the lead."""
        self.lease.late.clear()
        self._run(45)
        leaders = [process.identity for process in self.processes if process.is_leader]
        assert len(leaders) == (1 if self.processes else 0)
        self._run(100)
        assert [process.identity for process in self.processes if process.is_leader] == leaders

    def _new(self, clock: OwnClock) -> Leadership:
        self.made += 1
        return Leadership(self.lease, RULES, clock, f"process-{self.made}")

    def _quiet(self) -> None:
        self.lease.before = self.lease.meanwhile = lambda: None
        self.lease.fault = ""

    def _pass(self, seconds: float, other: int | None, number: int) -> None:
        self._quiet()
        self.time += seconds
        if other is not None and other != number:
            self._step(other)

    def _step(self, number: int) -> float:
        pause = self.processes[number].step()
        self.one_at_most()
        return pause / self._rate(number)

    def _rate(self, number: int) -> float:
        return self.clocks[number].rate

    def _run(self, seconds: float) -> None:
        end = self.time + seconds
        due = dict.fromkeys(range(len(self.processes)), self.time)
        while due and min(due.values()) <= end:
            number = min(due, key=lambda one: due[one])
            self.time = max(self.time, due[number])
            due[number] = self.time + self._step(number)
        self.time = max(self.time, end)


Election.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestElection = Election.TestCase
