"""What computes the answers of the fast path; others than numpy may be given to a model."""

from __future__ import annotations

from typing import Protocol

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.kernels.array_kernel import highest, totals, use_of, with_shares
from rescheduler.scheduling.kernels.kind import Kind


class Arithmetic(Protocol):
    """Answers are equal, whichever it is."""

    name: str

    def best_nodes(self, kind: Kind, placement: Placement) -> IntArray:
        """Indices of the feasible nodes with the highest total, for a pod of this kind that stands nowhere."""


class ArrayArithmetic(Arithmetic):
    """With numpy alone: nothing to wait for."""

    name = "numpy"

    def best_nodes(self, kind: Kind, placement: Placement) -> IntArray:
        """See ``Arithmetic``."""
        return highest(with_shares(kind, totals(kind, use_of(placement), kind.base)))
