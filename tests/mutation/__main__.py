"""Puts every fault into the gate and its neighbours: python -m tests.mutation [MODULE...] [--floor PERCENT]."""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

import hypothesis
import msgspec  # noqa: F401 - these are imported once, before forking
import numpy  # noqa: F401
import pydantic  # noqa: F401
import pytest
from _pytest import runner

import rescheduler.policy.fields.policy
import rescheduler.scheduling.schedulers  # noqa: F401
import tests.builders  # noqa: F401
from tests.mutation.equivalent import is_known
from tests.mutation.mutants import Mutant, mutants
from tests.mutation.swapping import NotSwappableError, swap
from tests.paths import ROOT

ROOM = "rescheduler/disruption"
TESTS = "tests/unit/disruption"
JUDGED = {
    "gate/gate": ("gate/test_gate", "test_spent", "test_usage_trust", "test_methods_at_the_gate"),
    "gate/breaker": ("gate/test_breaker",),
    "gate/health": ("gate/test_health", "test_head_room"),
    "gate/kill_switch": ("rules/test_orders",),
    "gate/policy_gate": ("gate/test_policy_gate",),
    "earlier/back_off": ("earlier/test_back_off",),
    "earlier/open_evictions": ("earlier/test_open_evictions",),
    "earlier/owed_room": ("earlier/test_owed_room",),
    "earlier/ramp_up": ("earlier/test_ramp_up", "test_ramp_up_steps"),
    "absent_kinds": ("test_absent_kinds",),
    "cautions": ("test_cautions",),
    "eligibility": ("test_eligibility", "test_eligibility_of_few"),
    "eligibility_context": (
        "test_eligibility_context",
        "test_eligibility",
        "rules/test_unsettled",
        "methods/test_surges",
    ),
    "karpenter": ("test_karpenter",),
    "methods/could_surge": ("methods/test_surges",),
    "methods/move_methods": ("methods/test_surges", "test_migrations"),
    "methods/surges": ("methods/test_surges",),
    "pod_kinds": ("test_pod_kinds", "test_eligibility"),
    "replica_changes": ("test_replica_changes",),
    "budgets/budget_status": ("budgets/test_policy_budgets", "budgets/test_rates", "budgets/test_gate_with_budgets"),
    "budgets/coverage": ("budgets/test_policy_budgets", "budgets/test_rates", "budgets/test_workload_budgets"),
    "budgets/open_evictions_counted": ("budgets/test_open_evictions_counted", "budgets/test_gate_with_budgets"),
    "budgets/pod_disruption_budgets": ("budgets/test_pod_disruption_budgets",),
    "budgets/policy_budgets": ("budgets/test_policy_budgets", "methods/test_surges"),
    "budgets/windows": ("budgets/test_windows",),
    "budgets/workload_budgets": ("budgets/test_workload_budgets",),
    "rules/budgets": ("budgets/test_pod_disruption_budgets", "budgets/test_policy_budgets"),
    "rules/identity": ("rules/test_identity", "test_migrations"),
    "rules/marks": ("rules/test_marks",),
    "rules/methods": ("methods/test_surges", "test_migrations"),
    "rules/nodes": ("rules/test_nodes",),
    "rules/orders": ("rules/test_orders",),
    "rules/prediction": ("rules/test_prediction",),
    "rules/scope": ("rules/test_scope",),
    "rules/storage": ("rules/test_storage", "test_migrations"),
    "rules/unsettled": ("rules/test_unsettled",),
}
"""Modules of the room and the test files that are asked first; what these miss is given to all tests of the room."""
QUIETLY = ("-x", "-q", "-n0", "--assert=plain", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:rerunfailures")
TESTS_PACKAGE = "tests.unit.disruption"
OTHERS_SECONDS = 0.3
"""Other tests of the room are asked where they take no longer."""
SPARE_SECONDS = 20
"""A test run with a fault may take so much processor time beyond three times that of one without."""


class Faulty(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives out another text for one module."""

    def __init__(self, module: str, text: str) -> None:
        self._module = module
        self._text = text

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """Its place, for this one module."""
        return importlib.util.spec_from_loader(name, self) if name == self._module else None

    def exec_module(self, module: object) -> None:
        """Run the faulty text."""
        exec(compile(self._text, self._module, "exec"), vars(module))


def imported_anew(module: str, mutant: Mutant, tests: Sequence[str], seconds: int) -> bool:
    """Whether a test fails in a process that imports the faulty text."""

    def run() -> bool:
        sys.meta_path.insert(0, Faulty(module, mutant.text))
        for name in [name for name in sys.modules if name.startswith(("rescheduler.disruption", TESTS_PACKAGE))]:
            del sys.modules[name]
        return pytest.main([*QUIETLY, *tests]) != pytest.ExitCode.OK

    return in_a_fork(run, seconds)


def in_a_fork(is_found: Callable[[], bool], seconds: int) -> bool:
    """The answer of a process of its own; one that never ends, or ends by itself, has found the fault too.

    It may take so many seconds of processor time: how busy the machine is finds no faults.
    """
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            try:
                code = 1 if is_found() else 0
            except BaseException:  # noqa: BLE001 - whatever ends a test run has found the fault
                code = 1
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


class Judge:
    """Collects and times the tests once; each fault is then put into a fork of this process, where its tests are run.

    First the module's own that are quick, then the other quick ones of the room, then the module's own that are slow.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.counts: dict[str, tuple[int, int]] = {}
        self._names = names
        self._seconds: dict[str, float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In the place of running the tests: run them once for each fault."""
        self._seconds = {item.nodeid: self._took(item) for item in session.items}
        items = sorted(session.items, key=lambda item: self._seconds[item.nodeid])
        for name in self._names:
            self.counts[name] = self._judged(name, items)
        return True

    def _took(self, item: pytest.Item) -> float:
        """How long a test takes where nothing is wrong; a test that fails then ends it all."""
        began = time.process_time()
        reports = runner.runtestprotocol(item, nextitem=None, log=False)
        if any(report.failed for report in reports):
            text = f"{item.nodeid} fails without any fault"
            tell(text)
            pytest.exit(text, returncode=pytest.ExitCode.TESTS_FAILED)
        return time.process_time() - began

    def _judged(self, name: str, items: Sequence[pytest.Item]) -> tuple[int, int]:
        """How many faults of a module are found, of how many that are any."""
        paths = tuple(f"{TESTS}/{file}.py" for file in JUDGED[name])
        quick = [item for item in items if self._seconds[item.nodeid] < OTHERS_SECONDS]
        own = [item for item in items if item.nodeid.startswith(paths)]
        asked = list(dict.fromkeys((*(item for item in own if item in quick), *quick, *own)))
        module = f"{ROOM}/{name}".replace("/", ".")
        limit = SPARE_SECONDS + int(3 * sum(self._seconds[item.nodeid] for item in asked))
        found = total = 0
        for mutant in mutants((ROOT / ROOM / f"{name}.py").read_text(encoding="utf-8")):
            swapped = partial(fails, module, mutant, asked)
            is_found = in_a_fork(swapped, limit) or imported_anew(module, mutant, paths, limit)
            if is_found or not is_known(name, mutant.what):
                found, total = found + is_found, total + 1
            if not is_found and not is_known(name, mutant.what):
                tell(f"  not found: {name}.py {mutant.what}")
        tell(f"{name}: {found} of {total} faults found ({100 * found / max(1, total):.1f} %)")
        return found, total


def fails(module: str, mutant: Mutant, items: Sequence[pytest.Item]) -> bool:
    """Whether one of these tests fails with the fault put into the module as it is imported here."""
    try:
        swap(module, mutant.text)
    except NotSwappableError:
        return False
    return any(report.failed for item in items for report in runner.runtestprotocol(item, nextitem=None, log=False))


def tell(text: str) -> None:
    """Say it beside what pytest captures."""
    print(text, file=sys.__stdout__, flush=True)


def main() -> None:
    """Print the score; exit 1 where a module is below the floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[*JUDGED, []], default=[])
    parser.add_argument("--floor", type=float, default=95.0)
    options = parser.parse_args()
    os.chdir(ROOT)
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # any failure will do: it need not be a small one
    hypothesis.settings.register_profile("mutation", derandomize=True, database=None, deadline=None, phases=phases)
    hypothesis.settings.load_profile("mutation")
    judge = Judge(options.modules or list(JUDGED))
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        code = pytest.main([*QUIETLY, TESTS], plugins=[judge])
    if code != pytest.ExitCode.OK or not all(total for _, total in judge.counts.values()):
        sys.exit("the faults could not be judged")
    found, total = (sum(column) for column in zip(*judge.counts.values(), strict=True))
    print(f"all: {found} of {total} faults found ({100 * found / total:.1f} %)")
    low = [name for name, (found, total) in judge.counts.items() if 100 * found < options.floor * total]
    if low:
        sys.exit(f"less than {options.floor:g} % of the faults were found in {', '.join(low)}")


if __name__ == "__main__":
    main()
