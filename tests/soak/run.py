"""One simulated run, from its seed to what it showed."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from rescheduler.model.plan.plan import Refusal
from rescheduler.policy.fields.policy import Policy
from tests.soak.clock import WorldClock
from tests.soak.gate_watch import proofs, watched_gates
from tests.soak.line.faults import Faults
from tests.soak.line.views import Past
from tests.soak.line.wire import Wire
from tests.soak.policies import policy_of
from tests.soak.processes import Process
from tests.soak.run_settings import RunSettings
from tests.soak.surging import MEDDLING, with_hashes
from tests.soak.telling import line_of
from tests.soak.trace import (
    Effect,
    Event,
    GateEvent,
    NodeChanged,
    Observer,
    PodChanged,
    Request,
    Trace,
    Violation,
    WorldEvent,
)
from tests.soak.world.events.world_events import WorldEvents
from tests.soak.world.ledger_object import LedgerObject
from tests.soak.world.lies import LIES, LIES_AN_HOUR, LONGEST_LIE_SECONDS, LYING, TRUE
from tests.soak.world.metrics_api import MetricsApi
from tests.soak.world.scenery import BEGAN, Scenery, draw_scenery
from tests.soak.world.truth import Truth
from tests.soak.world.world import World

CALM_SECONDS = 2400.0
"""After the last fault, until the run is judged as a whole."""
LAST_WORK_SECONDS = 600.0
"""After the last fault, processes still live for so long, and may put in order what was left behind."""
KEPT_LINES = 40


@dataclass
class Outcome:
    """What one run showed. ``lines``: what happened before the first violation; ``digest``: of the whole trace."""

    settings: RunSettings
    hours: float = 0.0
    violations: list[Violation] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    accepted: int = 0
    late: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    struck: Counter[tuple[str, str]] = field(default_factory=Counter)
    episodes: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    guards: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    crashes: list[str] = field(default_factory=list)
    digest: str = ""


class Recorder(Observer):
    """Counts events, keeps the last ones in words, and takes the digest of all."""

    interests = Event.__args__  # type: ignore[attr-defined]

    def __init__(self, outcome: Outcome, echo: Callable[[str], None] | None = None) -> None:
        self.guards = {}
        self.last: deque[str] = deque(maxlen=KEPT_LINES)
        self._outcome = outcome
        self._echo = echo
        self._digest = hashlib.sha256()

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Take note."""
        outcome = self._outcome
        line = line_of(event)
        self._digest.update(line.encode())
        if not isinstance(event, PodChanged | NodeChanged):
            self.last.append(line)
        if self._echo is not None:
            self._echo(line)
        if isinstance(event, Request):
            outcome.requests[f"{event.verb} {event.resource}{' dry run' if event.dry_run else ''}"] += 1
        elif isinstance(event, Effect) and event.request.is_eviction:
            outcome.accepted += 1
            outcome.late += event.request.pause > 0
        elif isinstance(event, GateEvent):
            outcome.verdicts.update(item.rule if isinstance(item, Refusal) else "permitted" for item in event.verdicts)
        return ()

    def at_end(self, truth: Truth) -> Sequence[Violation]:
        """The digest is whole."""
        self._outcome.digest = self._digest.hexdigest()
        return ()


class Run:
    """A world with its processes. ``observers``: new ones for this run alone."""

    def __init__(
        self,
        settings: RunSettings,
        observers: Sequence[Observer] = (),
        echo: Callable[[str], None] | None = None,
        *,
        scenery: Scenery | None = None,
        faults: Callable[[Callable[[], float]], Faults] | None = None,
    ) -> None:
        """``scenery`` and ``faults`` (from a clock) instead of those that the seed draws."""
        seed = settings.seed
        self.settings = settings
        self.outcome = Outcome(settings)
        self.policy: Policy = policy_of(settings.policy)
        self.clock = WorldClock(BEGAN)
        scenery = scenery or draw_scenery(Random(f"scenery/{seed}"), settings.nodes, settings.zones)
        scenery = with_hashes(scenery) if settings.has_surges else scenery
        self.world = World(scenery, self.clock, Random(f"conditions/{seed}"), seed)
        self.world.conditions.share_ill = settings.share_ill
        self.ledger = LedgerObject(self.clock)
        self.truth = Truth(self.world.store, self.ledger, settings)
        self.recorder = Recorder(self.outcome, echo)
        self.trace = Trace(self.truth, [self.recorder, *observers])
        self.trace.on_first_violation = lambda: self.outcome.lines.extend(self.recorder.last)
        self.world.store.on_pod_change(lambda old, new: self._tell(PodChanged, old, new))
        self.world.on_node_change(lambda old, new: self._tell(NodeChanged, old, new))
        self.faults = (faults or self._drawn_faults)(self.clock.monotonic)
        self.past = Past(self.world)
        self.events = WorldEvents(
            self.world, Random(f"events/{seed}"), settings.world_pace,
            {
                "large pod arrives": settings.large_pods, "node dedicated": settings.dedicated,
                **(MEDDLING if settings.has_surges else {}),
            },
            lambda kind, name, detail: self._tell(WorldEvent, kind, name, detail),
        )  # fmt: skip
        self.metrics = MetricsApi(Random(f"metrics/{seed}"), self.world.store.snapshot, self.clock.now)
        self.processes = [
            Process(
                f"p{number}", settings, self.policy, self.world, self.ledger, self.past, self.faults, self.trace,
                self.metrics,
            )
            for number in range(settings.processes)
        ]  # fmt: skip
        self._hand = Hand(self)

    def _drawn_faults(self, now: Callable[[], float]) -> Faults:
        asked = self.settings
        random = Random(f"faults/{asked.seed}")
        return Faults(random, now, asked.fault_rate, asked.episodes, asked.forced, asked.deadly)

    def _tell(self, kind: Callable[..., Event], *fields: Any) -> None:
        self.trace.tell(kind(self.clock.monotonic(), *fields))

    def _wires(self) -> list[Wire]:
        return [process.wire for process in self.processes if process.wire is not None]

    def go(self) -> Outcome:
        """Let it happen; stops at the first violation."""
        outcome = self.outcome
        self.live_until(self.settings.hours * 3600.0)
        self.events.end()
        self.faults.is_on = False
        self._hand.unmark()
        self._hand.tell_the_truth()
        for process in self.processes:
            process.go_on()
        self.live_until(self.clock.monotonic() + LAST_WORK_SECONDS)
        for process in self.processes:
            process.retire()
        self.live_until(self.clock.monotonic() + CALM_SECONDS)
        for process in self.processes:
            process.kill()
        if not self.trace.violations:
            self.trace.end()
        outcome.violations = self.trace.violations
        outcome.lines = outcome.lines or list(self.recorder.last)
        outcome.hours = self.clock.monotonic() / 3600.0
        outcome.struck, outcome.episodes = self.faults.struck, self.faults.episodes
        outcome.happened = Counter(self.events.counts)
        outcome.rounds = sum(process.rounds for process in self.processes)
        for observer in self.trace.observers:
            outcome.guards.update(observer.guards)
        return outcome

    def live_until(self, t: float) -> None:
        """Let time pass up to a true time, or to the first violation."""
        with watched_gates(self.trace, self._wires), proofs(has_proof=self.settings.has_proof):
            while self.clock.monotonic() < t and not self.trace.violations:
                self.clock.sleep(min(60.0, t - self.clock.monotonic()))


class Hand:
    """What is done to processes from outside: kills at any moment, jumping clocks, the kill switch."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._random = Random(f"hand/{run.settings.seed}")
        self._every(run.settings.kills, lambda process: process.kill())
        self._every(run.settings.wall_jumps, self._jump)
        self._every(0.1 if run.settings.is_faulted else 0.0, self._stop)
        self._every(0.03 if run.settings.is_faulted else 0.0, lambda _: self._mark())
        self._every(LIES_AN_HOUR if run.settings.is_measured else 0.0, lambda _: self._lie())

    def _every(self, per_hour: float, act: Callable[[Process], None]) -> None:
        if per_hour:

            def strike() -> None:
                if run.faults.is_on:
                    act(self._random.choice(run.processes))
                    self._every(per_hour, act)

            run = self._run
            seconds = self._random.expovariate(per_hour / 3600.0)
            run.clock.after(seconds, strike, is_background=True)

    def _jump(self, process: Process) -> None:
        size = self._random.choice((1, 60, 3600, 86400, 10 * 365 * 86400))
        seconds = self._random.choice((-1, 1)) * size * self._random.random()
        process.jump(seconds)
        # Somebody sets it right again, sooner or later.
        self._run.clock.after(self._random.uniform(10, 1800), lambda: process.jump(-seconds), is_background=True)

    def _stop(self, process: Process) -> None:
        process.stop("an operator says so")
        self._run.clock.after(self._random.uniform(60, 1200), process.go_on, is_background=True)

    def _mark(self) -> None:
        ledger = self._run.ledger
        ledger.stop = "an operator marked the ledger"
        self._run._tell(WorldEvent, "ledger marked", "ledger", ledger.stop)
        self._run.clock.after(self._random.uniform(60, 900), self.unmark, is_background=True)

    def _lie(self) -> None:
        if self._run.metrics.lie is None:
            lie = self._random.choice(LIES)
            self._run.metrics.begin(lie)
            self._run._tell(WorldEvent, LYING, lie.name, lie.fault)
            seconds = self._random.uniform(60.0, LONGEST_LIE_SECONDS)
            self._run.clock.after(seconds, self.tell_the_truth, is_background=True)

    def tell_the_truth(self) -> None:
        """The metrics API is right again, if it was not."""
        if self._run.metrics.lie is not None:
            self._run.metrics.end()
            self._run._tell(WorldEvent, TRUE, "metrics")

    def unmark(self) -> None:
        """The operator takes the mark off the ledger, if it is there."""
        if self._run.ledger.stop is not None:
            self._run.ledger.stop = None
            self._run._tell(WorldEvent, "ledger unmarked", "ledger")
