"""The shortest way to a pod's best nodes, where no other pod's place matters to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.kernels.arithmetic import Arithmetic
from rescheduler.scheduling.kernels.array_kernel import has_room, totals, use_of, with_shares
from rescheduler.scheduling.kernels.kind import REFUSED, Kind
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
        own = _lifted(placement, pod, kind)
        try:
            return self.arithmetic.best_nodes(kind, placement)
        finally:
            _put_back(placement, own)

    def totals(self, pod: int, placement: Placement) -> IntArray | None:
        """Total score of each node, int64[N]; -1 where it is not feasible."""
        kind = self.kinds.of(pod)
        if kind is None:
            return None
        own = _lifted(placement, pod, kind)
        try:
            found = with_shares(kind, totals(kind, use_of(placement), kind.base))
        finally:
            _put_back(placement, own)
        return np.where(found == REFUSED, -1, found)

    def is_outdone(self, pod: int, nodes: Sequence[int], placement: Placement) -> bool:
        """Whether the first of these nodes has a lower total than another; False where all nodes together decide."""
        kind = self.kinds.of(pod)
        if kind is None or kind.shares:
            return False
        rows = np.array(nodes, dtype=np.int64)
        found = totals(kind, use_of(placement).at(rows), kind.base[rows])
        return bool(found[0] < found.max())

    def feasible(self, pod: int, placement: Placement) -> BoolArray | None:
        """Nodes that pass every filter, bool[N]; a fresh array."""
        kind = self.kinds.of(pod)
        if kind is None:
            return None
        own = _lifted(placement, pod, kind)
        try:
            return has_room(kind, use_of(placement), kind.static)
        finally:
            _put_back(placement, own)


def _lifted(placement: Placement, pod: int, kind: Kind) -> list[tuple[int, IntArray, IntArray]]:
    """Take what the pod itself holds off the placement; what was taken, by node (``Placement.scored_at``)."""
    defaults = kind.requests[-2:] - kind.requests[:2]
    places = [(node, placement.held_at(pod, node)) for node in placement.places(pod)]
    own = [(node, held, held[:2] + defaults) for node, held in places]
    for node, held, scored in own:
        placement.used[:, node] -= held
        placement.scored_used[:, node] -= scored
    return own


def _put_back(placement: Placement, own: list[tuple[int, IntArray, IntArray]]) -> None:
    for node, held, scored in own:
        placement.used[:, node] += held
        placement.scored_used[:, node] += scored
