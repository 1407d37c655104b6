"""Every checker of a run, in the order of the invariants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tests.soak.invariants.accounting import Accountability
from tests.soak.invariants.autoscaling import AutoscalerPeace
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.circuit_breaker import CircuitBreaker
from tests.soak.invariants.disruption_budgets import DisruptionBudgets
from tests.soak.invariants.dry_run import DryRun
from tests.soak.invariants.eligibility import Eligibility
from tests.soak.invariants.freshness import Freshness
from tests.soak.invariants.gap import Gap
from tests.soak.invariants.health import HealthFreeze
from tests.soak.invariants.history import History
from tests.soak.invariants.honest_ledger import HonestLedger
from tests.soak.invariants.in_flight import InFlight
from tests.soak.invariants.ledger_first import Fencing, IntentFirst
from tests.soak.invariants.leftovers import Leftovers
from tests.soak.invariants.load import Load
from tests.soak.invariants.measured_load import MeasuredLoad
from tests.soak.invariants.older_states import OlderStates
from tests.soak.invariants.ping_pong import PingPong
from tests.soak.invariants.places import JointProof
from tests.soak.invariants.planning import SolverFailure
from tests.soak.invariants.prefixes import PrefixSafety
from tests.soak.invariants.progress import Progress
from tests.soak.invariants.quiet import CanBeRecreated, OrderedSets, QuietWorkload
from tests.soak.invariants.rates import Rates, RatesUnderJumps
from tests.soak.invariants.stopping import Stopping
from tests.soak.invariants.surges import NothingOut, OwnersWin, SurgeFloor
from tests.soak.invariants.windows import Windows
from tests.soak.invariants.workload_floor import NoBudgetIsNoPermission, SeveralLeaders, WorkloadFloor
from tests.soak.trace import Observer, Violation

CHECKERS: tuple[type[Checker], ...] = (
    WorkloadFloor, HonestLedger, Rates, InFlight, DisruptionBudgets, NoBudgetIsNoPermission, JointProof, Freshness,
    Fencing, PingPong, Eligibility, QuietWorkload, OrderedSets, HealthFreeze, CircuitBreaker, Stopping, IntentFirst,
    SeveralLeaders, Leftovers, DryRun, RatesUnderJumps, Load, SolverFailure, PrefixSafety, Windows, Accountability,
    AutoscalerPeace, CanBeRecreated, Gap, OlderStates, MeasuredLoad, SurgeFloor, NothingOut, OwnersWin, Progress,
)  # fmt: skip


def observers() -> list[Observer]:
    """New ones for one run: what all know first, then all checkers."""
    history = History()
    return [history, *(checker(history) for checker in CHECKERS)]


def report(violations: Iterable[Violation], guards: Mapping[str, int]) -> str:
    """A markdown table: each invariant, how often it had something to check, and how often it did not hold."""
    broken: dict[str, int] = {}
    for violation in violations:
        broken[violation.invariant] = broken.get(violation.invariant, 0) + 1
    lines = ["| invariant | checked | violations | sentence |", "|---|---|---|---|"]
    for name, sentences in sentences_of().items():
        lines.append(f"| {name} | {guards.get(name, 0)} | {broken.get(name, 0)} | {' '.join(sentences)} |")
    return "\n".join(lines)


def sentences_of() -> Mapping[str, Sequence[str]]:
    """What is checked, by invariant."""
    found: dict[str, list[str]] = {}
    for checker in CHECKERS:
        found.setdefault(checker.name, []).append(checker.sentence)
    return found
