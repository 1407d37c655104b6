"""Many runs, one seed each, over several processes of the machine; what they showed together."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial

from tests.soak.invariants.catalogue import observers
from tests.soak.line.faults import PAIRS
from tests.soak.policies import policy_text
from tests.soak.run import Outcome, Run
from tests.soak.run_settings import drawn


@dataclass
class Totals:
    """Sums over runs. ``seconds``: of processor time."""

    runs: int = 0
    faulted: int = 0
    with_evictions: int = 0
    hours: float = 0.0
    seconds: float = 0.0
    rounds: int = 0
    accepted: int = 0
    late: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    struck: Counter[tuple[str, str]] = field(default_factory=Counter)
    episodes: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    guards: Counter[str] = field(default_factory=Counter)
    guarded_runs: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    crashes: Counter[str] = field(default_factory=Counter)
    leaders: int = 0

    def add(self, outcome: Outcome, seconds: float) -> None:
        """One more run."""
        self.runs += 1
        self.seconds += seconds
        self.hours += outcome.hours
        self.rounds += outcome.rounds
        self.accepted += outcome.accepted
        self.late += outcome.late
        self.leaders += outcome.settings.processes > 1
        if outcome.settings.is_faulted:
            self.faulted += 1
            self.with_evictions += outcome.accepted > 0
        for name in ("requests", "verdicts", "struck", "episodes", "happened", "guards"):
            getattr(self, name).update(getattr(outcome, name))
        self.guarded_runs.update(name for name, number in outcome.guards.items() if number)
        self.violations.update(violation.invariant for violation in outcome.violations)
        self.crashes.update(outcome.crashes)

    def merge(self, other: Totals) -> None:
        """More runs, summed already."""
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))

    @property
    def missing_pairs(self) -> list[tuple[str, str]]:
        """Pairs of call site and fault that never met."""
        return [pair for pair in PAIRS if not self.struck[pair]]


def of_one(outcome: Outcome, seconds: float) -> Totals:
    """One run alone."""
    totals = Totals()
    totals.add(outcome, seconds)
    return totals


def run_seed(seed: int, hours: float, echo: Callable[[str], None] | None = None) -> tuple[Outcome, float]:
    """One run, with all checkers, and the processor time it took."""
    began = time.process_time()
    outcome = Run(drawn(seed, hours, policy_text), observers(), echo).go()
    return outcome, time.process_time() - began


def campaign(seeds: Iterable[int], hours: float, processes: int) -> Iterator[tuple[Outcome, float]]:
    """Runs of these seeds as they end, in order. ``hours``: simulated ones of each."""
    work = partial(run_seed, hours=hours)
    if processes == 1:
        yield from map(work, seeds)
        return
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=200) as pool:
        yield from pool.imap(work, seeds, chunksize=1)
