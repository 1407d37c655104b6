"""The loops of draining, compiled where numba is there and the search is long enough to pay for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from rescheduler.planning.objectives.empty_nodes.draining import drain_loops
from rescheduler.planning.objectives.empty_nodes.draining.seats import DrainSeats, Ints, SeatedPods, seats_of

_CALLED = ("drain", "go_home", "undo")


class Loops(NamedTuple):
    """The functions of ``drain_loops`` that searches call. ``is_compiled``: they want arrays; else they want lists."""

    drain: Callable[[DrainSeats, int, Ints, int, float], bool]
    go_home: Callable[[DrainSeats, int, float], bool]
    undo: Callable[[DrainSeats, int], None]
    is_compiled: bool


PLAIN = Loops(drain_loops.drain, drain_loops.go_home, drain_loops.undo, is_compiled=False)


class Compilation:
    """Compiles in a thread of its own; it takes seconds the first time, in which plain loops may do the work."""

    def __init__(self) -> None:
        """Begin; without numba nothing is ever ready."""
        self._future: Future[Loops] | None = None
        if find_spec("numba"):  # it comes with the extra ``fast``
            executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="compile-loops")
            self._future = executor.submit(compiled_loops)
            executor.shutdown(wait=False)

    def wait(self, seconds: float | None) -> None:
        """Wait until the loops are ready, so long at most (None: however long it takes)."""
        if self._future is not None:
            wait((self._future,), timeout=seconds)

    def loops(self) -> Loops | None:
        """The loops once they are ready; None before, and where they cannot be compiled here."""
        if self._future is None or not self._future.done() or self._future.exception() is not None:
            return None
        return self._future.result()


@cache
def compilation() -> Compilation:
    """The one compilation of this process, begun when first asked for."""
    return Compilation()


@cache
def compiled_loops() -> Loops:
    """The loops for arrays, compiled. Needs numba."""
    compiled = import_module("rescheduler.scheduling.kernels.compiling").compiled
    names: dict[str, Any] = dict(vars(drain_loops))
    for name, loop in vars(drain_loops).items():  # all are rebound before any is called
        if isinstance(loop, FunctionType):
            copy = FunctionType(loop.__code__, names, name, loop.__defaults__, loop.__closure__)
            is_inner = name not in _CALLED
            names[name] = compiled(copy, no_cpython_wrapper=is_inner, no_cfunc_wrapper=True)
    loops = Loops(names["drain"], names["go_home"], names["undo"], is_compiled=True)
    _call_each(loops)
    return loops


def _call_each(loops: Loops) -> None:
    """Compilation happens at the first call: here with one pod that is alone on a node."""
    one = np.zeros(1, dtype=np.int64)
    room = np.ones((1, 1), dtype=np.int64)
    pods = SeatedPods(
        room, room, room, one, np.ones((1, 1), dtype=np.bool_), one, one, one, np.zeros(1, dtype=np.bool_)
    )
    seats = seats_of(pods, 0, is_compiled=True)
    loops.drain(seats, 0, one, 0, 0.5)
    loops.go_home(seats, 0, 0.5)
    loops.undo(seats, 0)
