"""Puts every fault into what decides: python -m tests.mutation [--room ROOM] [--own] [MODULE...] [--floor PERCENT]."""

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
from tests.mutation.rooms import ROOMS, Room
from tests.mutation.swapping import NotSwappableError, swap
from tests.paths import ROOT

QUIETLY = ("-x", "-q", "-n0", "--assert=plain", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:rerunfailures")
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


def imported_anew(room: Room, module: str, mutant: Mutant, tests: Sequence[str], seconds: int) -> bool:
    """Whether a test fails in a process that imports the faulty text."""
    packages = tuple(path.replace("/", ".") for path in (room.path, room.tests))

    def run() -> bool:
        sys.meta_path.insert(0, Faulty(module, mutant.text))
        for name in [name for name in sys.modules if name.startswith(packages)]:
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

    def __init__(self, room: Room, names: Sequence[str]) -> None:
        self.counts: dict[str, tuple[int, int]] = {}
        self._room = room
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
        room = self._room
        paths = tuple(f"{room.tests}/{file}.py" for file in room.judged[name])
        quick = [item for item in items if self._seconds[item.nodeid] < OTHERS_SECONDS]
        own = [item for item in items if item.nodeid.startswith(paths)]
        asked = list(dict.fromkeys((*(item for item in own if item in quick), *quick, *own)))
        module = f"{room.path}/{name}".replace("/", ".")
        limit = SPARE_SECONDS + int(3 * sum(self._seconds[item.nodeid] for item in asked))
        found = total = 0
        for mutant in mutants((ROOT / room.path / f"{name}.py").read_text(encoding="utf-8")):
            swapped = partial(fails, module, mutant, asked)
            is_found = in_a_fork(swapped, limit) or imported_anew(room, module, mutant, paths, limit)
            if is_found or not is_known(room, name, mutant.what):
                found, total = found + is_found, total + 1
            if not is_found and not is_known(room, name, mutant.what):
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
    parser.add_argument("--room", choices=ROOMS, default="disruption")
    parser.add_argument("modules", nargs="*", help="as disruption/gate/gate is called gate/gate in its room")
    parser.add_argument("--own", action="store_true", help="ask these modules' own tests only, which is quicker")
    parser.add_argument("--floor", type=float, default=95.0)
    options = parser.parse_args()
    os.chdir(ROOT)
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # any failure will do: it need not be a small one
    hypothesis.settings.register_profile("mutation", derandomize=True, database=None, deadline=None, phases=phases)
    hypothesis.settings.load_profile("mutation")
    room = ROOMS[options.room]
    if strange := set(options.modules) - set(room.judged):
        parser.error(
            f"no module of {options.room}: {', '.join(sorted(strange))} (choose from {', '.join(room.judged)})"
        )
    names = options.modules or list(room.judged)
    judge = Judge(room, names)
    own = dict.fromkeys(f"{room.tests}/{file}.py" for name in names for file in room.judged[name])
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        code = pytest.main([*QUIETLY, *(own if options.own else (room.tests,))], plugins=[judge])
    if code != pytest.ExitCode.OK or not all(total for _, total in judge.counts.values()):
        sys.exit("the faults could not be judged")
    found, total = (sum(column) for column in zip(*judge.counts.values(), strict=True))
    print(f"all: {found} of {total} faults found ({100 * found / total:.1f} %)")
    low = [name for name, (found, total) in judge.counts.items() if 100 * found < options.floor * total]
    if low:
        sys.exit(f"less than {options.floor:g} % of the faults were found in {', '.join(low)}")


if __name__ == "__main__":
    main()
