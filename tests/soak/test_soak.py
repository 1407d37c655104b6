"""A share of the simulated campaign: whatever happens to the cluster and to us, no invariant is broken."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.paths import ROOT
from tests.soak.campaign import run_seed
from tests.soak.kill_points import KillPoint, run_point, some_of
from tests.soak.line.faults import PAIRS
from tests.soak.matrix import run_pair
from tests.soak.policies import policy_text
from tests.soak.report import failure
from tests.soak.run_settings import drawn
from tests.soak.slow_surges import run_slowly

HOURS = 2.0
# Small clusters, which are cheap: `python -m tests.soak` runs far more, and large ones.
SMALL = [seed for seed in range(1, 41) if drawn(seed, HOURS, policy_text).nodes <= 8]
SEEDS = SMALL[:6]
# `make soak-share` runs 12 and 15 too: they take as long as all the others, and strike nothing that those do not.
OTHERS = sorted({*SMALL[6:16]} - {12, 15})
KILL_POINTS = 16


@pytest.mark.parametrize("seed", SEEDS)
def test_no_invariant_is_broken(seed: int) -> None:
    """Every checker finds nothing in a run with faults, several leaders, and a planner that means harm."""
    outcome, _ = run_seed(seed, HOURS)
    assert not outcome.violations, failure(outcome)


@pytest.mark.parametrize("seed", [4, 39])
def test_surges_hold_where_answers_are_slow(seed: int) -> None:
    """Each seed has shown a fault once: an old verdict, and a pod that was taken for another one's replacement."""
    outcome = run_slowly(seed)
    assert not outcome.violations, failure(outcome)
    assert outcome.guards["I34"] > 0


def test_runs_do_something() -> None:
    """V1: runs with faults evict pods, and the gate refuses more than it permits for many different reasons."""
    outcomes = [run_seed(seed, HOURS)[0] for seed in OTHERS]
    assert sum(outcome.accepted > 0 for outcome in outcomes) >= len(outcomes) / 3
    assert len({rule for outcome in outcomes for rule in outcome.verdicts}) >= 4
    assert len({kind for outcome in outcomes for _, kind in outcome.struck}) >= 10


def _digest(seed: int, hash_seed: str) -> str:
    command = [sys.executable, "-m", "tests.soak", "--replay", str(seed), "--hours-each", "0.5", "--quiet"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("trace "), done.stderr
    return done.stdout.splitlines()[0]


def test_same_seed_same_trace() -> None:
    """A seed leads to the same trace byte for byte, in another process and with another order of hashes too."""
    once = _digest(2, "1")
    assert once == _digest(2, "2")
    assert once != _digest(3, "1")


@pytest.mark.parametrize("share", range(4))
def test_struck_at_each_site(share: int) -> None:
    """One fault at one call site, of every kind and at every site in turn: no invariant is broken."""
    for pair in PAIRS[share::64]:
        outcome, _ = run_pair(pair)
        assert not outcome.violations, f"{pair[1]} at {pair[0]}: {failure(outcome)}"


def _told(point: KillPoint) -> str:
    return f"{point.guidance}-{point.seed}-call-{point.call}-{point.phase.replace(' ', '-')}"


def test_killed_at_any_call() -> None:
    """Killed before, in or after a call and started again: budgets hold, no pod goes twice, nothing is left behind."""
    for point in some_of(KILL_POINTS):
        _, outcome, _ = run_point(point)
        assert not outcome.violations, f"{_told(point)}\n{failure(outcome)}"
