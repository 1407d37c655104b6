"""Leader election: one of several daemons may act, and it knows by its own clock until when.

The clock of the machine plays no part in it, nor do the times that stand in the lease. The leader leads until
``renewDeadline`` after it *began* its last successful renewal. The others wait ``leaseDuration`` after they *saw* the
last change; the difference is what clocks may go wrong by meanwhile. Every write is a compare-and-swap.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf
from typing import Final, NamedTuple

from rescheduler.adapters.background import BackgroundThread
from rescheduler.daemon.leadership.lease_watch import LeaseWatch
from rescheduler.extension_points import Clock, ClusterError, LeaseStore
from rescheduler.model.daemon.lease import RELEASED_SECONDS, LeaseReading, LeaseRecord
from rescheduler.model.daemon.notices import Fault, LeadershipChanged, Notice
from rescheduler.policy.fields.daemon.leader_election import LeaderElectionPolicy
from rescheduler.policy.fields.values import format_duration

JOIN_SECONDS: Final = 10.0
FIRST_POLL: Final = 0.5
POLL_SPREAD: Final = 0.25
"""Those who wait look at the lease after half to three quarters of ``retryPeriod``, so that they do not all at once."""


class Term(NamedTuple):
    """``leads_until``: on the clock that never jumps. ``holder``: as read last. ``problem``: what failed last."""

    leads_until: float = -inf
    holder: str = ""
    problem: str = ""


class Leadership:
    """Whether we lead, kept up by ``start`` in a thread of its own, or by whoever calls ``step``.

    ``identity`` must be another one in each process that ever runs. ``hear`` is told of each change from that thread.
    What is asked from other threads never waits for the API server.
    """

    def __init__(
        self,
        store: LeaseStore,
        rules: LeaderElectionPolicy,
        clock: Clock,
        identity: str,
        hear: Callable[[Notice], None] = lambda _: None,
    ) -> None:
        self.identity = identity
        self._store = store
        self._rules = rules
        self._clock = clock
        self._hear = hear
        self._watch = LeaseWatch(identity, rules.lease_duration)
        self._standing = Term()
        self._told: tuple[bool, str] | None = None
        self._told_problem = ""
        self._is_stopped = False
        self._jitter = random.Random(identity)  # noqa: S311 - spreads requests, guards nothing
        self._thread = BackgroundThread(self._run, "leadership")

    @property
    def is_leader(self) -> bool:
        """Whether we lead at this very moment."""
        return not self._is_stopped and self._clock.monotonic() < self._standing.leads_until

    @property
    def holder(self) -> str:
        """Who leads, as far as is known; "" if nobody is known to."""
        return self._standing.holder

    @property
    def transitions(self) -> int:
        """How often the lease has changed hands, by anybody."""
        return self._watch.transitions

    def fence(self) -> str | None:
        """Why nothing may be written at this moment; None: we lead."""
        if self._is_stopped:
            return "this instance is stopping and does not lead any more"
        if self.is_leader:
            return None
        standing = self._standing
        if standing.problem:
            return f"this instance does not lead: {standing.problem}"
        if standing.holder and standing.holder != self.identity:
            return f"this instance does not lead, {standing.holder} does"
        return "this instance does not lead yet"

    def start(self) -> None:
        """Keep it up in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Lead no more, and give the lease up so that the next one need not wait. Nothing may be written after it."""
        self._is_stopped = True
        self._thread.stop()
        self._thread.join(JOIN_SECONDS)
        self._release()
        self._tell("stopping")

    def step(self) -> float:
        """Renew the lease, take it, or look at it; seconds until the next step. Never raises for what the store did."""
        began, how = self._clock.monotonic(), ""
        try:
            how = self._attempt()
            self._standing = self._standing._replace(problem="")
            self._told_problem = ""
        except ClusterError as error:
            self._standing = self._standing._replace(problem=str(error))
            self._tell_problem(str(error))
        self._tell(how)
        return self._pause(began)

    def _attempt(self) -> str:
        """Write if we may; how that came about, in words. Raises ClusterError."""
        watch = self._watch
        if watch.is_ours and self._write():  # our own last version: no need to read it first
            return ""
        watch.see(self._store.read(), self._clock.monotonic())
        if watch.is_missing and not self.is_leader and not self._is_stopped:
            watch.see(self._store.create(watch.record_of_nobody()), self._clock.monotonic())
        if watch.is_anothers:
            self._standing = self._standing._replace(leads_until=-inf)
        self._standing = self._standing._replace(holder=watch.holder)
        reason = watch.may_take(self._clock.monotonic(), is_leader=self.is_leader)
        return reason if reason is not None and self._write() else ""

    def _write(self) -> bool:
        """Write ourselves into the lease; False if somebody else was faster. Raises ClusterError."""
        watch, began = self._watch, self._clock.monotonic()
        if self._is_stopped:
            return False
        record = watch.record_of_ours(self._clock.now())
        watch.sends(record)
        found = self._sent(record)
        if found is None:
            watch.was_refused()
            return False
        watch.written(found, self._clock.monotonic())
        self._standing = Term(began + self._rules.renew_deadline, self.identity)
        return True

    def _sent(self, record: LeaseRecord) -> LeaseReading | None:
        version = self._watch.version
        return self._store.update(record, version) if version else self._store.create(record)

    def _release(self) -> None:
        """Give the lease up, if it is ours; a write of ours whose answer was lost may stand in between."""
        try:
            for _ in range(2):
                if not self._watch.holds:
                    return
                now = self._clock.now()
                record = LeaseRecord("", RELEASED_SECONDS, now, now, self._watch.transitions)
                if self._sent(record) is not None:
                    self._standing = Term()
                    return
                self._watch.see(self._store.read(), self._clock.monotonic())
        except ClusterError as error:
            self._tell_problem(f"the lease was not given up, so that others wait until it runs out: {error}")

    def _tell(self, how: str) -> None:
        now = (self.is_leader, self._standing.holder)
        if now != self._told:
            had_led = self._told is not None and self._told[0]
            self._told = now
            reason = how or self._why_lost() if had_led and not self.is_leader else how
            self._hear(LeadershipChanged(self._clock.now(), *now, reason))

    def _why_lost(self) -> str:
        if self._watch.is_anothers:
            return f"the lease names {self._watch.holder or 'nobody'} now"
        late = f"the lease was not renewed within {format_duration(self._rules.renew_deadline)}"
        return f"{late}: {self._standing.problem}" if self._standing.problem else late

    def _tell_problem(self, problem: str) -> None:
        if problem != self._told_problem:
            self._told_problem = problem
            self._hear(Fault(self._clock.now(), "leader election", problem))

    def _pause(self, began: float) -> float:
        now, retry = self._clock.monotonic(), self._rules.retry_period
        if self.is_leader:
            return max(0.0, min(began + retry, self._standing.leads_until) - now)
        poll = retry * (FIRST_POLL + POLL_SPREAD * self._jitter.random())
        left = self._watch.free_at - now
        return left if 0.0 < left < poll else poll

    def _run(self) -> None:
        while not self._thread.stopping.is_set():
            try:
                pause = self.step()
            except Exception as error:  # noqa: BLE001 - without this thread nobody would ever lead again
                self._tell_problem(f"{type(error).__name__}: {error}")
                pause = self._rules.retry_period
            self._thread.stopping.wait(pause)


class NoElection:
    """Stands in for Leadership where there is no election: we lead, until we stop."""

    identity = holder = ""
    transitions = 0

    def __init__(self) -> None:
        self.is_leader = True

    def fence(self) -> str | None:
        """Why nothing may be written; None: nothing speaks against it."""
        return None if self.is_leader else "this instance is stopping"

    def start(self) -> None:
        """Nothing has to be kept up."""

    def stop(self) -> None:
        """Lead no more."""
        self.is_leader = False
