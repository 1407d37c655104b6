"""One sort of violation, counted over a placement that changes."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray


class Blame(NamedTuple):
    """Pods (indices, each once) that take part in violations, int64[n], and in how many, int64[n]."""

    pods: IntArray
    amounts: IntArray


class ViolationCounter(Protocol):
    """Violations of one sort or of one constraint. ``cost``: their number as things stand."""

    cost: int

    def change(self, pod: int) -> FloatArray:
        """By how much ``cost`` would change if a placed pod went to each node, float64[N]; 0 where it is."""

    def move(self, pod: int, node: int) -> None:
        """A pod goes to a node."""

    def blame(self) -> Blame:
        """Placed pods whose move could lower ``cost``."""

    def hopes(self) -> Blame:
        """Placed pods, each with at most so much that ``cost`` falls if it alone moves; others bring nothing."""

    def concerns(self) -> IntArray | None:
        """Pods whose place matters, ascending; None: any."""

    def copy(self) -> ViolationCounter:
        """An independent copy; what never changes is shared."""

    def describe(self) -> str:
        """What is violated, for a sentence: ``spread of 3 pods over zone (maxSkew 1)``."""
