"""What an objective thinks of a placement, in the form that the search over single moves asks for."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray


class ObjectiveState(Protocol):
    """One objective's cost of the placement as it stands; lower is better.

    Pods are named by their row among the movable ones of the problem, nodes by their index.
    """

    cost: float

    def change(self, row: int) -> FloatArray:
        """By how much the cost would change if this pod went from where it is to each node, float64[N]."""

    def promising(self) -> IntArray:
        """Rows whose move could lower the cost as things stand, most promising first."""

    def move(self, row: int, node: int) -> None:
        """Take a pod to a node."""


@runtime_checkable
class StrictState(Protocol):
    """An objective that forbids some ends, whatever they cost."""

    @property
    def is_allowed(self) -> bool:
        """Whether a plan may end with the placement as it stands."""
