"""Puts every fault into the gate and its neighbours: python -m tests.mutation [MODULE...] [--floor PERCENT]."""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
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
    "eligibility_context": ("test_eligibility", "rules/test_unsettled", "methods/test_surges"),
    "karpenter": ("test_karpenter",),
    "methods/could_surge": ("methods/test_surges",),
    "methods/move_methods": ("methods/test_surges", "test_migrations"),
    "methods/surges": ("methods/test_surges",),
    "pod_kinds": ("test_pod_kinds", "test_eligibility"),
    "replica_changes": ("test_replica_changes",),
    "budgets/budget_status": ("budgets/test_policy_budgets", "budgets/test_windows", "budgets/test_gate_with_budgets"),
    "budgets/coverage": ("budgets/test_policy_budgets", "budgets/test_workload_budgets"),
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
LONGEST_SECONDS = 60.0
OTHERS_SECONDS = 0.3
"""Other tests of the room are asked where they take no longer."""


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


def imported_anew(module: str, mutant: Mutant, tests: Sequence[str]) -> bool:
    """Whether a test fails in a process that imports the faulty text."""

    def run() -> bool:
        sys.meta_path.insert(0, Faulty(module, mutant.text))
        for name in [name for name in sys.modules if name.startswith(("rescheduler.disruption", TESTS_PACKAGE))]:
            del sys.modules[name]
        return pytest.main([*QUIETLY, *tests]) != pytest.ExitCode.OK

    return in_a_fork(run)


def in_a_fork(is_found: Callable[[], bool]) -> bool:
    """The answer of a process of its own; one that never ends, or ends by itself, has found the fault too."""
    child = os.fork()
    if not child:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            try:
                code = 1 if is_found() else 0
            except BaseException:  # noqa: BLE001 - whatever ends a test run has found the fault
                code = 1
        os._exit(code)
    began = time.monotonic()
    while time.monotonic() - began < LONGEST_SECONDS:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


class Judge:
    """Collects the tests once; each fault is then put into a fork of this process, and its tests are run there.

    Quick tests come first, the module's own before the others of the room.
    """

    def __init__(self, name: str, files: Sequence[str]) -> None:
        self.counts = (0, 0)
        self._name = name
        self._module = f"{ROOM}/{name}".replace("/", ".")
        self._text = (ROOT / ROOM / f"{name}.py").read_text(encoding="utf-8")
        self._own = [f"{TESTS}/{file}.py" for file in files]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In the place of running the tests: run them once for each fault."""
        seconds = {item.nodeid: self._took(item) for item in session.items}
        own = [item for item in session.items if item.nodeid.startswith(tuple(self._own))]
        own = sorted(own, key=lambda item: seconds[item.nodeid])
        others = [item for item in session.items if item not in own and seconds[item.nodeid] < OTHERS_SECONDS]
        others = sorted(others, key=lambda item: seconds[item.nodeid])
        found = total = 0
        for mutant in mutants(self._text):
            total += 1
            if self._is_found(mutant, own, others):
                found += 1
            elif is_known(self._name, mutant.what):
                total -= 1
            else:
                self._tell(f"  not found: {self._name}.py {mutant.what}")
        self._tell(f"{self._name}: {found} of {total} faults found ({100 * found / max(1, total):.1f} %)")
        self.counts = total, found
        return True

    def _took(self, item: pytest.Item) -> float:
        """How long a test takes where nothing is wrong; a test that fails then ends it all."""
        began = time.process_time()
        reports = runner.runtestprotocol(item, nextitem=None, log=False)
        if any(report.failed for report in reports):
            text = f"{self._name}: {item.nodeid} fails without any fault"
            self._tell(text)
            pytest.exit(text, returncode=pytest.ExitCode.TESTS_FAILED)
        return time.process_time() - began

    def _is_found(self, mutant: Mutant, own: Sequence[pytest.Item], others: Sequence[pytest.Item]) -> bool:
        quickly = in_a_fork(lambda: self._fails(mutant, (*own, *others)))
        return quickly or imported_anew(self._module, mutant, self._own)

    def _fails(self, mutant: Mutant, items: Sequence[pytest.Item]) -> bool:
        try:
            swap(self._module, mutant.text)
        except NotSwappableError:
            return False
        return any(report.failed for item in items for report in runner.runtestprotocol(item, nextitem=None, log=False))

    def _tell(self, text: str) -> None:
        print(text, file=sys.__stdout__, flush=True)


def judged(name: str) -> tuple[int, int]:
    """The counts of one module, found in a process of its own: tests that ran twice in one are not the same twice."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        judge = Judge(name, JUDGED[name])
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            code = pytest.main([*QUIETLY, TESTS], plugins=[judge])
        os.write(write, "{} {}".format(*judge.counts).encode())
        os._exit(code)
    os.close(write)
    with os.fdopen(read) as told:
        total, found = map(int, told.read().split() or (0, 0))
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != pytest.ExitCode.OK or not total:
        sys.exit(f"{name}: its faults could not be judged")
    return total, found


def main() -> None:
    """Print the score; exit 1 below the floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[*JUDGED, []], default=[])
    parser.add_argument("--floor", type=float, default=95.0)
    options = parser.parse_args()
    os.chdir(ROOT)
    hypothesis.settings.register_profile("mutation", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("mutation")
    counts = [judged(name) for name in options.modules or JUDGED]
    total, found = (sum(column) for column in zip(*counts, strict=True))
    score = 100 * found / max(1, total)
    print(f"all: {found} of {total} faults found ({score:.1f} %, at least {options.floor:g} % wanted)")
    sys.exit(0 if score >= options.floor else 1)


if __name__ == "__main__":
    main()
