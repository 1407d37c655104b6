"""The shortest way to a pod's best nodes, where no other pod's place matters to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.placement import Placement
from rescheduler.scheduling.kernels.arithmetic import Arithmetic
from rescheduler.scheduling.kernels.array_kernel import has_room, use_of
from rescheduler.scheduling.kernels.kinds import Kinds


class FastPath:
    """Answers equal to those of the filters and scores one by one; None for a pod that needs these."""

    def __init__(self, kinds: Kinds, arithmetic: Arithmetic) -> None:
        """``arithmetic``: what computes them."""
        self.kinds = kinds
        self.arithmetic = arithmetic

    def best_nodes(self, pod: int, placement: Placement) -> IntArray | None:
        """Indices of the feasible nodes that tie for the highest total."""
        kind = self.kinds.of(pod)
        if kind is None:
            return None
        with _lifted(placement, pod):
            return self.arithmetic.best_nodes(kind, placement)

    def feasible(self, pod: int, placement: Placement) -> BoolArray | None:
        """Nodes that pass every filter, bool[N]; a fresh array."""
        kind = self.kinds.of(pod)
        if kind is None:
            return None
        with _lifted(placement, pod):
            return has_room(kind, use_of(placement), kind.static)


@contextmanager
def _lifted(placement: Placement, pod: int) -> Iterator[None]:
    """The placement without what the pod itself holds, for as long as the block runs."""
    own = [(node, placement.held_at(pod, node), placement.scored_at(pod, node)) for node in placement.places(pod)]
    for node, held, scored in own:
        placement.used[:, node] -= held
        placement.scored_used[:, node] -= scored
    try:
        yield
    finally:
        for node, held, scored in own:
            placement.used[:, node] += held
            placement.scored_used[:, node] += scored
