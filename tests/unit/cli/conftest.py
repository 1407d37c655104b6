"""A pretended world at the composition seam, and a shell that runs one command line."""

from __future__ import annotations

import io
import pkgutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import rescheduler.composition
from rescheduler import cycle
from rescheduler.cli.main import main
from rescheduler.composition import simulating
from rescheduler.composition.live import carrying_out, cluster_source, ledgers
from rescheduler.cycle import CycleOptions
from rescheduler.extension_points import NOTHING_EARLIER, LedgerReading
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_change import MoveChange
from rescheduler.model.plan.plan import Plan, PlanResult
from tests.unit.cli.desk import NODES, STANDING, Desk, waiting
from tests.unit.report.plans import small_cluster, small_plan, small_result


class Answer(NamedTuple):
    """What a command line left behind."""

    code: int
    out: str
    err: str


@dataclass
class World:
    """Answers for the composition's functions, and what they were called with."""

    cluster: Cluster = field(default_factory=small_cluster)
    plan: Plan = field(default_factory=small_plan)
    result: PlanResult = field(default_factory=small_result)
    error: BaseException | None = None
    left_behind: tuple[str, ...] = ()
    not_removed: tuple[str, ...] = ()
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    was_applied: bool = False
    changes: tuple[MoveChange, ...] = ()

    def read_cluster(self, options: Any, progress: Any) -> Cluster:
        """The cluster, or the error."""
        self.calls["read_cluster"] = {"options": options}
        progress("reading", 1, 2)
        if self.error is not None:
            raise self.error
        return self.cluster

    def make_plan(self, cluster: Cluster, policy: Any, options: CycleOptions) -> Plan:
        """The plan."""
        self.calls["plan"] = {"cluster": cluster, "policy": policy, "options": options}
        return self.plan

    def simulate(self, cluster: Cluster, policy: Any, **given: Any) -> Any:
        """The result, once for each cycle."""
        self.calls["simulate"] = {"policy": policy, **given}
        return simulating.SimulationReport(cluster, (self.result,) * given["cycles"], cluster)

    def apply(self, options: Any, policy: Any, *, confirm: Any, **given: Any) -> PlanResult | None:
        """Ask as the real one does; the result only after a yes."""
        self.calls["apply"] = {"options": options, "policy": policy, **given}
        if self.error is not None:
            raise self.error
        self.was_applied = confirm(given["reviewed"] or self.plan, self.cluster)
        for change in self.changes if self.was_applied else ():
            given["hear_moves"](change)
        return self.result if self.was_applied else None

    def earlier_evictions(self, *_arguments: Any) -> LedgerReading:
        """None."""
        return NOTHING_EARLIER

    def record(self, options: Any, file: str, **given: Any) -> str:
        """Say what was recorded."""
        self.calls["record"] = {"options": options, "file": file, **given}
        return "2 nodes and 4 pods"

    def clean(self, options: Any, policy: Any, *, confirm: Any, **given: Any) -> Sequence[str] | None:
        """Remove what is left behind after a yes."""
        self.calls["clean"] = {"options": options, "policy": policy, **given}
        if not self.left_behind:
            return ()
        return self.left_behind if confirm(self.left_behind) else None

    def clean_stale(self, options: Any, policy: Any, progress: Any) -> tuple[Sequence[str], Sequence[str]]:
        """Remove what has run out; what cannot be removed is told."""
        self.calls["clean_stale"] = {"options": options, "policy": policy}
        return self.left_behind, self.not_removed


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose answers a test may change before it runs a command."""
    for module in pkgutil.iter_modules(rescheduler.composition.__path__):  # none is to import what a test put there
        import_module(f"rescheduler.composition.{module.name}")
    pretended = World()
    monkeypatch.setattr(cluster_source, "read_cluster", pretended.read_cluster)
    monkeypatch.setattr(cycle, "make_plan", pretended.make_plan)
    monkeypatch.setattr(simulating, "simulate", pretended.simulate)
    monkeypatch.setattr(carrying_out, "apply", pretended.apply)
    for name in ("record", "clean", "clean_stale"):
        monkeypatch.setattr(cluster_source, name, getattr(pretended, name))
    monkeypatch.setattr(ledgers, "earlier_evictions", pretended.earlier_evictions)
    return pretended


class Terminal(io.StringIO):
    """Standard input at which a person sits."""

    def isatty(self) -> bool:
        """A terminal."""
        return True


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Runs one command line; ``typed`` is what a person types, None: nobody sits there."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("RESCHEDULER_TRACEBACK", raising=False)

    def run(*arguments: str, typed: str | None = None) -> Answer:
        monkeypatch.setattr(sys, "stdin", io.StringIO("") if typed is None else Terminal(typed))
        capsys.readouterr()
        code = main(arguments)
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture
def desk(tmp_path: Path, shell: Callable[..., Answer]) -> Desk:
    """Nodes a (3 of 4 cores taken), b (1 taken), c (empty), and one pending pod for each scheduler of the tests."""
    found = Desk(tmp_path, shell)
    found.record(*NODES, *STANDING, *(waiting(name) for name in ("default-scheduler", "packing", "volcano")))
    return found
