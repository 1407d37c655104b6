"""Looks for one seeded bug, seed by seed, until a checker finds it or fifty cluster-hours are over."""

from __future__ import annotations

import time
from typing import NamedTuple

from tests.soak.invariants.catalogue import observers
from tests.soak.run import Run
from tests.soak.seeded_bugs.catalogue import BUGS
from tests.soak.seeded_bugs.seams import SeededBug
from tests.soak.seeded_bugs.stage import settings_of
from tests.soak.trace import Observer, Violation

MOST_HOURS = 50.0


class Catch(NamedTuple):
    """``violation`` None: not found. ``hours``: simulated ones, all seeds together; ``seconds``: of processor time."""

    bug: str
    violation: Violation | None
    seed: int
    hours: float
    seconds: float


def hunt(bug: SeededBug, first_seed: int = 1, most_hours: float = MOST_HOURS) -> Catch:
    """Run with the bug. What is found without it too was not found by it, and does not count."""
    hours, seed, began = 0.0, first_seed, time.process_time()
    while hours < most_hours:
        settings = settings_of(bug, seed)
        with bug.sow():
            outcome = Run(settings, _observers(bug)).go()
        hours += outcome.hours
        found = next(iter(outcome.violations), None)
        if found is not None and found.invariant not in _found_without(bug, seed):
            return Catch(bug.name, found, seed, hours, time.process_time() - began)
        seed += 1
    return Catch(bug.name, None, seed - 1, hours, time.process_time() - began)


def hunt_named(work: tuple[str, float]) -> Catch:
    """``hunt`` for a process of its own: the bug's name and the most hours."""
    name, most_hours = work
    return hunt(BUGS[name], most_hours=most_hours)


def _observers(bug: SeededBug) -> list[Observer]:
    """Those that are to find it; a run ends with its first violation, whoever found it."""
    return [item for item in observers() if getattr(item, "name", None) in (None, *bug.invariants)]


def _found_without(bug: SeededBug, seed: int) -> set[str]:
    outcome = Run(settings_of(bug, seed), _observers(bug)).go()
    return {item.invariant for item in outcome.violations}
