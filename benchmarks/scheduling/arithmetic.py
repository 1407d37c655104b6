"""The two ways to place many pods in a row: numpy, or numba where it is installed and wanted."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from benchmarks.scheduling.kernels.array_batch import place_all
from benchmarks.scheduling.kernels.batch import pack
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.kernels.arithmetic import Arithmetic, ArrayArithmetic
from rescheduler.scheduling.kernels.array_kernel import highest, use_of, with_shares
from rescheduler.scheduling.kernels.kind import Kind
from rescheduler.scheduling.kernels.offers import Offers


class BatchArithmetic(Arithmetic, Protocol):
    """An arithmetic that places many pods at once."""

    def place_all(self, kinds: Sequence[Kind], origins: Sequence[int], placement: Placement) -> IntArray:
        """Place pods of these kinds one after another, each on the first of its best nodes; int64[n], -1 for nowhere.

        Each leaves its origin first (-1: it has none). The placement is not changed.
        """


class ArrayBatchArithmetic(ArrayArithmetic, BatchArithmetic):
    """With numpy alone."""

    def place_all(self, kinds: Sequence[Kind], origins: Sequence[int], placement: Placement) -> IntArray:
        """See ``BatchArithmetic``."""
        return place_all(kinds, origins, use_of(placement))


class LoopArithmetic(BatchArithmetic):
    """Compiled by numba when first used, which takes seconds: for processes that place many pods."""

    name = "numba"

    def __init__(self) -> None:
        """Raises ImportError without numba."""
        self._one: Any = import_module("benchmarks.scheduling.kernels.loop_kernel")
        self._many: Any = import_module("benchmarks.scheduling.kernels.batch_kernel")
        self._total = np.empty(0, dtype=np.int64)
        self._without = np.empty(0, dtype=np.float64)

    def best_nodes(self, kind: Kind, placement: Placement) -> IntArray:
        """See ``Arithmetic``."""
        columns = placement.columns
        offers = columns.facts(Offers)
        if len(self._total) != columns.node_count:
            self._total = np.empty(columns.node_count, dtype=np.int64)
            self._without = np.empty(columns.node_count, dtype=np.float64)
        best: IntArray = self._one.best_nodes(
            self._total, self._without, placement.used, placement.scored_used, columns.allocatable, offers.divisor,
            offers.inverse, kind.base, kind.checks, kind.fit, kind.balance, kind.points, kind.settings, kind.is_plain,
        )  # fmt: skip
        return highest(with_shares(kind, self._total)) if kind.shares else best

    def place_all(self, kinds: Sequence[Kind], origins: Sequence[int], placement: Placement) -> IntArray:
        """See ``Arithmetic``."""
        columns = placement.columns
        offers = columns.facts(Offers)
        found: IntArray = self._many.place_all(
            placement.used.copy(), placement.scored_used.copy(), columns.allocatable, offers.divisor, offers.inverse,
            *pack(kinds, origins, columns.node_count),
        )  # fmt: skip
        return found


def is_numba_installed() -> bool:
    """Whether ``LoopArithmetic`` can be had: the extra ``kube-rescheduler[fast]``."""
    return find_spec("numba") is not None
