"""Puts every fault into the gate and its neighbours: python -m tests.mutation [MODULE...] [--floor PERCENT]."""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout

import hypothesis
import msgspec  # noqa: F401 - these are imported once, before forking
import numpy  # noqa: F401
import pydantic  # noqa: F401
import pytest

import rescheduler.policy.fields.policy
import rescheduler.scheduling.schedulers  # noqa: F401
import tests.builders  # noqa: F401
from tests.mutation.mutants import Mutant, mutants
from tests.paths import ROOT

ROOM = "rescheduler/disruption"
TESTS = "tests/unit/disruption"
JUDGED = {
    "gate": ("test_gate", "test_spent", "test_usage_trust"),
    "breaker": ("test_breaker",),
    "back_off": ("test_back_off",),
    "ramp_up": ("test_ramp_up", "test_ramp_up_steps"),
    "health": ("test_health", "test_head_room"),
    "absent_kinds": ("test_absent_kinds",),
    "cautions": ("test_cautions",),
    "eligibility": ("test_eligibility",),
    "eligibility_context": ("test_eligibility", "rules/test_unsettled"),
    "kill_switch": ("rules/test_orders",),
    "open_evictions": ("test_open_evictions",),
    "owed_room": ("test_owed_room",),
    "pod_kinds": ("test_eligibility",),
    "policy_gate": ("test_policy_gate",),
    "replica_changes": ("test_replica_changes",),
    "budgets/budget_status": ("budgets/test_policy_budgets", "budgets/test_windows", "budgets/test_gate_with_budgets"),
    "budgets/coverage": ("budgets/test_policy_budgets", "budgets/test_workload_budgets"),
    "budgets/open_evictions_counted": ("budgets/test_pod_disruption_budgets", "budgets/test_gate_with_budgets"),
    "budgets/pod_disruption_budgets": ("budgets/test_pod_disruption_budgets",),
    "budgets/policy_budgets": ("budgets/test_policy_budgets",),
    "budgets/windows": ("budgets/test_windows",),
    "budgets/workload_budgets": ("budgets/test_workload_budgets",),
    "rules/budgets": ("budgets/test_pod_disruption_budgets", "budgets/test_policy_budgets"),
    "rules/identity": ("rules/test_identity",),
    "rules/marks": ("rules/test_marks",),
    "rules/nodes": ("rules/test_nodes",),
    "rules/orders": ("rules/test_orders",),
    "rules/prediction": ("rules/test_prediction",),
    "rules/scope": ("rules/test_scope",),
    "rules/storage": ("rules/test_storage",),
    "rules/unsettled": ("rules/test_unsettled",),
}
"""Modules of the room and the test files that are asked first; what these miss is given to all tests of the room."""
LONGEST_SECONDS = 60.0


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


def is_found(module: str, mutant: Mutant, tests: Sequence[str]) -> bool:
    """Whether a test fails in a process of its own; one that never ends is found too."""
    child = os.fork()
    if not child:
        sys.meta_path.insert(0, Faulty(module, mutant.text))
        hypothesis.settings.register_profile("mutation", derandomize=True, database=None)
        hypothesis.settings.load_profile("mutation")
        arguments = ["-x", "-q", "-n0", "--assert=plain", "-p", "no:randomly", "-p", "no:cacheprovider", *tests]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            code = pytest.main(arguments)
        os._exit(0 if code == pytest.ExitCode.OK else 1)
    began = time.monotonic()
    while time.monotonic() - began < LONGEST_SECONDS:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) != 0
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return True


def judge(name: str, files: Sequence[str]) -> tuple[int, int]:
    """How many faults of a module there are, and how many were found; those that were not are printed."""
    module = f"{ROOM}/{name}".replace("/", ".")
    text = (ROOT / ROOM / f"{name}.py").read_text(encoding="utf-8")
    tests = [f"{TESTS}/{file}.py" for file in files]
    if is_found(module, Mutant("none", text), tests):
        sys.exit(f"{name}: its tests fail without any fault")
    found = total = 0
    for mutant in mutants(text):
        total += 1
        if is_found(module, mutant, tests) or is_found(module, mutant, [TESTS]):
            found += 1
        else:
            print(f"  not found: {name}.py {mutant.what}", flush=True)
    print(f"{name}: {found} of {total} faults found ({100 * found / max(1, total):.1f} %)", flush=True)
    return total, found


def main() -> None:
    """Print the score; exit 1 below the floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[*JUDGED, []], default=[])
    parser.add_argument("--floor", type=float, default=95.0)
    options = parser.parse_args()
    os.chdir(ROOT)
    counts = [judge(name, JUDGED[name]) for name in options.modules or JUDGED]
    total, found = (sum(column) for column in zip(*counts, strict=True))
    score = 100 * found / max(1, total)
    print(f"all: {found} of {total} faults found ({score:.1f} %, at least {options.floor:g} % wanted)")
    sys.exit(0 if score >= options.floor else 1)


if __name__ == "__main__":
    main()
