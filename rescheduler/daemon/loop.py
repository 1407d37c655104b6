"""The daemon's main loop: look, ask the triggers, run the round that is due, tell of it; until asked to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from traceback import extract_tb
from typing import Final, Protocol

from rescheduler.daemon.policies.policy_runtime import PolicyRuntime
from rescheduler.daemon.rounds.world import RoundOutcome
from rescheduler.execution.run.executor import plan_id_of
from rescheduler.extension_points import Clock, ClusterError, Listener, ReschedulerError
from rescheduler.model.daemon.notices import Fault, Notice, ObjectsSetAside, PolicyLoaded, RoundEnded, TriggerFired
from rescheduler.model.daemon.rounds import FIRST_TRY, AutoscalerNotice, Occasion, RoundReport, RoundRequest, Sight
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.set_aside import SetAside
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Mode

BEAT_SECONDS: Final = 1.0
"""How often it is asked, where nothing stirs, whether something has changed after all."""
SHORTEST_SECONDS: Final = 0.1
"""Between two looks, whatever stirs."""
SLACK_SECONDS: Final = 0.001
"""A trigger's time has surely come by so much later, though it goes by another clock than ours."""
WATCH_SECONDS: Final = 10.0
"""How often the cluster's health is judged between rounds: nodes may go, and requests fail, without any trigger."""
COST_OF_LOOKING: Final = 0.1
"""Looking takes at most this share of the time: a large cluster that changes all the time is looked at less often."""
COST_OF_HURRYING: Final = 0.25
"""And at most this where what a round may be wanted for keeps happening."""
FIRST_PATIENCE_SECONDS: Final = 15.0
LONGEST_PATIENCE_SECONDS: Final = 60.0
"""Between tries of a round that something passing stands in the way of: doubled each time."""


class Kept(Protocol):
    """A picture of the cluster that is kept up to date."""

    @property
    def generation(self) -> int:
        """Grows with every change."""

    def snapshot(self) -> Cluster:
        """The cluster as last heard. Raises ClusterError where it is not known well enough."""


class Steering(Protocol):
    """Whoever steers from outside: the REST API, annotations."""

    def publish(self, cluster: Cluster) -> None:
        """Show the newest snapshot."""

    def propose(self, plan_id: str, plan: Plan, now: float) -> None:
        """Let a plan wait for a person."""

    def approved_plan(self) -> tuple[str, Plan, str] | None:
        """Id and plan that a person has said yes to, and who; once."""


@dataclass(frozen=True)
class Parts:
    """What the loop works with, whatever the policy.

    ``stopping``: why to end; ``wait``: for so many seconds, or until somebody calls, or until the cluster stirs, for
    which the second number of seconds has to pass; ``beat``: tells that we live;
    ``leads``: whether rounds are ours to run; ``requests`` and ``notices``: those since the last call; ``changed``: an
    runtime under another policy, if one has come in force; ``stirred_at``: when the cluster has first stirred since it
    was asked before, by the clock that never jumps (None: it has not, or nobody knows).
    """

    kept: Kept
    steering: Steering
    listener: Listener
    clock: Clock
    stopping: Callable[[], str | None]
    wait: Callable[[float, float], None]
    beat: Callable[[], None]
    leads: Callable[[], bool]
    requests: Callable[[], tuple[RoundRequest, ...]]
    notices: Callable[[], tuple[AutoscalerNotice, ...]]
    changed: Callable[[PolicyRuntime], PolicyRuntime | None]
    stirred_at: Callable[[], float | None] = lambda: None


class Loop:
    """Runs in one thread; everything else tells it through ``Parts``."""

    def __init__(self, parts: Parts, runtime: PolicyRuntime, *, only: Occasion | None = None) -> None:
        """``only``: run one round, at once, for this reason, and end."""
        self._parts = parts
        self._monotonic = parts.clock.monotonic
        self._runtime = runtime
        self._is_once = only is not None
        self._number = 0
        self._due: dict[tuple[str, int], Occasion] = {} if only is None else {_key(only): only}
        self._untold: dict[tuple[str, int], Occasion] = {}
        self._seen = -1
        self._asked_of = ""
        self._aside: frozenset[SetAside] = frozenset()
        self._look_seconds = 0.0
        self._looked_at = self._asked_at = float("-inf")
        self._patience = 0.0
        self._not_before = 0.0
        self._watch_at = self._clear_at = float("-inf")
        self._clear_trouble = ""
        self.last: RoundReport | None = None

    @property
    def runtime(self) -> PolicyRuntime:
        """What is in force."""
        return self._runtime

    def run(self) -> str:
        """Until asked to stop, or until enough rounds have run; why it ended."""
        self._tell_policy()
        try:
            return self._run_on()
        finally:
            self._runtime.hand_over.end()

    def _run_on(self) -> str:
        while True:
            stopping = self._parts.stopping()
            if stopping is not None:
                return stopping
            if self._is_once and self._number:
                return "done"
            self._parts.beat()
            try:
                self.step()
            except (ReschedulerError, ArithmeticError, LookupError, RuntimeError, ValueError, TypeError) as error:
                self._hear(Fault(self._parts.clock.now(), "loop", f"{type(error).__name__}{_where(error)}: {error}"))
                self._parts.wait(FIRST_PATIENCE_SECONDS, FIRST_PATIENCE_SECONDS)
            self._parts.wait(*self._pace())

    def _pace(self) -> tuple[float, float]:
        """How long to wait at most where nothing happens, and at least though the cluster stirs."""
        looked_ago = self._monotonic() - self._looked_at
        rest = max(SHORTEST_SECONDS, self._look_seconds / COST_OF_HURRYING - looked_ago)
        calm = max(SHORTEST_SECONDS, self._look_seconds / COST_OF_LOOKING - looked_ago)
        now = self._parts.clock.now()
        wake_at = self._runtime.asking.wake_at(now)
        # A trigger whose time came before it was asked just now has had its say, whatever it wants.
        is_near = wake_at is not None and now < wake_at < now + BEAT_SECONDS
        longest = wake_at - now + SLACK_SECONDS if wake_at is not None and is_near else BEAT_SECONDS
        return (longest if self._due else max(longest, calm)), rest

    def step(self) -> None:
        """One look, and the round that is due, if any."""
        self._take_policy()
        began = self._monotonic()
        self._watch(began)
        self._runtime.hand_over.keep()
        self._look()
        self._looked_at = self._monotonic()
        self._look_seconds = self._looked_at - began
        approved = self._parts.steering.approved_plan()
        if not self._parts.leads():
            self._clear_at = float("-inf")
            return
        self._clear_up()
        self._tell_fired()
        if approved is not None:
            plan_id, plan, who = approved
            self._run(lambda: self._runtime.rounds.carry_out_approved(plan), (), plan_id=plan_id, who=who)
        elif (first := self._first_try()) is not None:
            self._run(lambda: self._runtime.rounds.try_first(first), (first,))
        elif self._due and self._monotonic() >= self._not_before:
            occasions = tuple(self._due.values())
            self._due.clear()
            self._run(self._runtime.rounds.run_once, occasions)

    def _first_try(self) -> Occasion | None:
        """What comes before any round, since it is of use in this moment alone; taken from what is due."""
        key = next((key for key, occasion in self._due.items() if occasion.trigger == FIRST_TRY), None)
        found = None if key is None else self._due.pop(key)
        return None if self._is_once else found

    def _watch(self, now: float) -> None:
        """Once in a while judge the cluster's health, changed or not."""
        if now < self._watch_at:
            return
        self._watch_at = now + WATCH_SECONDS
        with suppress(ClusterError):  # whoever looks next tells of it
            self._runtime.rounds.watch(self._parts.kept.snapshot())

    def _clear_up(self) -> None:
        """As soon as we lead, and once in a while: a leader that died has left pods that wait for no trigger."""
        now, trouble = self._monotonic(), ""
        if now < self._clear_at:
            return
        try:
            cluster = self._parts.kept.snapshot()
        except ClusterError:
            return  # whoever looks next tells of it
        self._clear_at = now + WATCH_SECONDS
        try:
            found = self._runtime.rounds.clear_up(cluster)
            if found is not None:
                self._hear(found)
        except ClusterError as error:
            trouble = str(error)
        if trouble and trouble != self._clear_trouble:
            self._hear(Fault(self._parts.clock.now(), "surroundings", trouble))
        self._clear_trouble = trouble

    def _look(self) -> None:
        """Ask the triggers, where there is something new to ask them about."""
        requests, notices = self._parts.requests(), self._parts.notices()
        unseen_for = self._unseen_for()
        generation, now = self._parts.kept.generation, self._parts.clock.now()
        wake_at = self._runtime.asking.wake_at(now)
        is_due = wake_at is not None and wake_at <= now
        if generation == self._seen and not is_due and not requests and not notices:
            return
        try:
            cluster = self._parts.kept.snapshot()
        except ClusterError as error:
            self._ask_later(str(error))
            return
        self._seen, self._asked_of = generation, ""
        self._tell_aside(cluster)
        self._parts.steering.publish(cluster)
        runtime = self._runtime
        runtime.hand_over.look(cluster, notices)

        def values() -> Mapping[str, float]:
            return runtime.values(cluster)

        sight = Sight(cluster, runtime.load.windows(cluster), notices, requests, values, unseen_for)
        for occasion in runtime.asking.look(sight, now):
            key = _key(occasion)
            if key not in self._due or key in self._untold:
                self._untold[key] = occasion
            self._due[key] = occasion

    def _unseen_for(self) -> float:
        """Within how many seconds what is new has come about: since it was looked before, or since it first stirred."""
        stirred_at, now = self._parts.stirred_at(), self._monotonic()
        since = self._asked_at if stirred_at is None else max(self._asked_at, stirred_at)
        self._asked_at = now
        return now - since

    def _tell_aside(self, cluster: Cluster) -> None:
        """Objects that cannot be counted, each told once for as long as it is there as it is."""
        fresh = tuple(item for item in cluster.set_aside if item not in self._aside)
        self._aside = frozenset(cluster.set_aside)
        if fresh:
            self._hear(ObjectsSetAside(self._parts.clock.now(), fresh))

    def _tell_fired(self) -> None:
        """What has fired and was not told of yet: followers tell nothing, and whoever leads next runs it."""
        now = self._parts.clock.now()
        for occasion in self._untold.values():
            self._hear(TriggerFired(now, occasion))
        self._untold.clear()

    def _ask_later(self, problem: str) -> None:
        if problem != self._asked_of:
            self._asked_of = problem
            self._hear(Fault(self._parts.clock.now(), "snapshot", problem))

    def _run(
        self, carry_out: Callable[[], RoundOutcome], occasions: Sequence[Occasion], *, plan_id: str = "", who: str = ""
    ) -> None:
        """One round, and everybody told of it."""
        self._number += 1
        began = self._parts.clock.now()
        done = carry_out()
        report = RoundReport(
            number=self._number,
            occasions=tuple(occasions),
            started_at=began,
            ended_at=self._parts.clock.now(),
            mode=self._runtime.policy.mode.value,
            policy_id=self._runtime.policy_id,
            plan_id=plan_id or ("" if done.plan is None else plan_id_of(done.plan)),
            plan=done.plan,
            result=done.result,
            reason=done.reason,
            seconds=done.seconds,
            approved_by=who,
            is_held=done.is_held,
        )
        self.last = report
        self._runtime.asking.answered(report)
        self._hear(RoundEnded(report.ended_at, report))
        self._after(report, done)

    def _after(self, report: RoundReport, done: RoundOutcome) -> None:
        """What a round leaves to others: to a person, to an autoscaler, or to a later try."""
        self._patience = min(max(2 * self._patience, FIRST_PATIENCE_SECONDS), LONGEST_PATIENCE_SECONDS)
        if not done.is_held:
            self._patience = 0.0
        self._not_before = self._monotonic() + self._patience
        if done.is_held:
            for occasion in report.occasions:
                self._due.setdefault(_key(occasion), occasion)
        waits = self._runtime.policy.mode is Mode.APPROVE and done.result is None and not report.approved_by
        if waits and done.plan is not None and done.plan.moves:
            self._parts.steering.propose(report.plan_id, done.plan, report.ended_at)
        if done.cluster is not None:
            self._runtime.hand_over.after(report, done.cluster)

    def _take_policy(self) -> None:
        """Go on under another policy, if one has come in force."""
        changed = self._parts.changed(self._runtime)
        if changed is not None:
            self._runtime = changed
            self._seen, self._not_before, self._patience = -1, 0.0, 0.0
            self._tell_policy()

    def _tell_policy(self) -> None:
        policy = self._runtime.policy
        now = self._parts.clock.now()
        self._hear(PolicyLoaded(now, self._runtime.policy_id, policy.metadata.name, policy.mode.value))

    def _hear(self, notice: Notice) -> None:
        self._parts.listener.hear(notice)


def _key(occasion: Occasion) -> tuple[str, int]:
    """One trigger asks for one round, however often it asks before that is run."""
    return occasion.trigger, occasion.place


def _where(error: Exception) -> str:
    """In which line of ours, for whoever mends it."""
    ours = [frame for frame in extract_tb(error.__traceback__) if "rescheduler" in frame.filename]
    return f" in {ours[-1].filename.rpartition('rescheduler/')[2]}:{ours[-1].lineno}" if ours else ""
