"""Linear program of nodes to empty: shapes flow to groups of like nodes that are kept; its value bounds any plan."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when they are first named

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.relaxation import Relaxation
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.highs import MixedInteger, Pace
from rescheduler.planning.solvers.loading import may_use_programmes

# Mixed-integer program: the fewest pods on so many emptied nodes that the others could have room for, summed up.

_MOST_NODES_OF_TREE = 5_000
_PACE = Pace(root=0.0003, branch=0.00003)
_ENOUGH = 1e-6


def fewest_to_empty(
    pods_on: IntArray,
    load: IntArray,
    room: IntArray,
    can_be_emptied: BoolArray,
    is_empty: BoolArray,
    count: int,
    deadline: Deadline,
) -> int:
    """A proven least number of evictions for ``count`` nodes more that are empty; 0 where nothing is proven.

    ``pods_on``: int64[N]; ``load``: int64[R, N], what these pods request; ``room``: int64[R, N], free now, never
    negative; an empty node's room may be used only if another node is emptied for it. What must fit somewhere must fit
    in all the room together, so no real plan is cut off.
    """
    nodes = np.flatnonzero(can_be_emptied)
    spare = np.flatnonzero(is_empty)
    if count <= 0 or count > len(nodes) or deadline.is_over():
        return 0
    scale = np.maximum(1, (load + room).max(axis=1, initial=1))[:, None].astype(np.float64)
    taken, free = load / scale, room / scale
    used = free.sum(axis=1) - free[:, spare].sum(axis=1)
    rows = np.hstack([taken[:, nodes] + free[:, nodes], -free[:, spare]])
    number = np.concatenate([np.ones(len(nodes)), -np.ones(len(spare))])
    cost = np.concatenate([pods_on[nodes].astype(np.float64), np.zeros(len(spare))])
    programme = MixedInteger(
        cost=cost,
        integrality=np.ones(len(cost)),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=[
            scipy.optimize.LinearConstraint(rows, -np.inf, used * (1 + _ENOUGH) + _ENOUGH),
            scipy.optimize.LinearConstraint(number[None, :], count, np.inf),
        ],
        pace=_PACE,
    )
    found = programme.solved(deadline, _MOST_NODES_OF_TREE)
    bound = getattr(found, "mip_dual_bound", None)
    return 0 if bound is None or not np.isfinite(bound) else max(0, ceil(bound - 1e-4))


_FEW_PER_NODE = 3
_MOST_ENTRIES = 400_000
_MOST_WHOLE_NODES = 400
_MOST_BRANCHES = 2000


class EmptiedShare(NamedTuple):
    """``share``: float64[C], how far each node that may be chosen is empty; ``bound``: most value, empty nodes off."""

    share: FloatArray
    bound: float


class EmptiedShareProgram:
    """Variables: ``empty`` per node to choose, ``flow`` per shape and group that is open to it."""

    def __init__(self, relaxation: Relaxation) -> None:
        """Work out the rows that do not depend on how much room is to be spare."""
        self._relaxation = relaxation
        self.nodes = relaxation.node
        shapes = relaxation.shapes
        self._request, self._units = shapes.request, shapes.units
        self._shape, self._group = np.nonzero(shapes.open_to)
        self._nodes = len(relaxation.node)
        self._width = self._nodes + len(self._shape)
        self._unit = np.maximum(1.0, relaxation.largest.max(axis=0, initial=1))
        self._load, self._loss = self._rows_of_room()
        self._few = self._rows_of_few_per_node() if shapes.are_pods else None

    def solve(
        self, spare: float, deadline: Deadline, *, is_whole: bool = False, fee: float = 0.0
    ) -> EmptiedShare | None:
        """Keep a share ``spare`` of the room free; None if nothing was found in time.

        ``is_whole``: nodes are emptied whole or not at all, where that is not too much work. ``fee``: taken off for
        each pod of a node that is emptied, so that of like values those of few evictions are found; what is told as
        the bound bounds nothing then.
        """
        relaxation = self._relaxation
        if not may_use_programmes(deadline):
            return None
        cost = np.zeros(self._width)
        cost[: self._nodes] = fee * relaxation.pods_on - relaxation.price
        most = np.concatenate((np.ones(self._nodes), self._units[self._shape]))
        integrality = np.zeros(self._width)
        if is_whole and self._nodes <= _MOST_WHOLE_NODES:
            integrality[: self._nodes] = 1
        programme = MixedInteger(
            cost=cost,
            integrality=integrality,
            bounds=scipy.optimize.Bounds(np.zeros(self._width), most),
            constraints=self._constraints(spare),
            pace=_PACE,
        )
        found = programme.solved(deadline, _MOST_BRANCHES)
        if found is None:
            return None
        before = float(relaxation.price[relaxation.pods_on == 0].sum())
        proven = found.mip_dual_bound if integrality.any() else found.fun
        if found.x is None or proven is None or not np.isfinite(proven):
            return None
        return EmptiedShare(np.asarray(found.x[: self._nodes]), -float(proven) - before)

    def _constraints(self, spare: float) -> list[scipy.optimize.LinearConstraint]:
        relaxation = self._relaxation
        room = (relaxation.room / self._unit).ravel()
        rows = [
            scipy.optimize.LinearConstraint(
                self._matrix(*self._arrivals(), len(self._units)), (1 - 1e-9) * self._units, np.inf
            ),
            scipy.optimize.LinearConstraint(self._load + (1.0 - spare) * self._loss, -np.inf, (1.0 - spare) * room),
        ]
        if self._few is not None:
            rows.append(scipy.optimize.LinearConstraint(self._few[0], -np.inf, self._few[1]))
        in_use = (relaxation.pods_on > 0).astype(np.int64)
        limits = [(relaxation.pods_on, relaxation.most_evictions), (in_use, relaxation.most_nodes)]
        limits += relaxation.namespaces
        for number, limit in limits:
            row = np.zeros((1, self._width))
            row[0, : self._nodes] = number
            rows.append(scipy.optimize.LinearConstraint(row, -np.inf, limit))
        return rows

    def _arrivals(self) -> tuple[FloatArray, IntArray, IntArray]:
        flows = self._nodes + np.arange(len(self._shape))
        return np.ones(len(flows)), self._shape, flows

    def _matrix(self, value: FloatArray, row: IntArray, column: IntArray, rows: int) -> scipy.sparse.csr_matrix:
        return scipy.sparse.csr_matrix((value, (row, column)), shape=(rows, self._width))

    def _rows_of_room(self) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
        """What flows to each group, and what its emptied nodes do not offer, resource by resource."""
        relaxation = self._relaxation
        groups, resources = relaxation.room.shape
        row = self._group[:, None] * resources + np.arange(resources)
        column = np.broadcast_to((self._nodes + np.arange(len(self._shape)))[:, None], row.shape)
        asked = self._request[self._shape] / self._unit
        at = relaxation.group[:, None] * resources + np.arange(resources)
        node = np.broadcast_to(np.arange(self._nodes)[:, None], at.shape)
        lost = relaxation.capacity / self._unit
        size = groups * resources
        return (
            self._matrix(asked.ravel(), row.ravel(), column.ravel(), size),
            self._matrix(lost.ravel(), at.ravel(), node.ravel(), size),
        )

    def _rows_of_few_per_node(self) -> tuple[scipy.sparse.csr_matrix, FloatArray] | None:
        """Of shapes that a node takes a few times at most, and larger ones, no more than so many a kept node."""
        relaxation = self._relaxation
        rows: list[scipy.sparse.csr_matrix] = []
        limits: list[float] = []
        entries = 0
        for group, size in enumerate(relaxation.group_sizes.tolist()):
            flows = np.flatnonzero(self._group == group)
            chosen = np.flatnonzero(relaxation.group == group)
            often = _how_often(self._request[self._shape[flows]], relaxation.largest[group])
            for flow in np.flatnonzero(often <= _FEW_PER_NODE).tolist():
                larger = flows[
                    (self._request[self._shape[flows]] >= self._request[self._shape[flows[flow]]]).all(axis=1)
                ]
                entries += len(larger) + len(chosen)
                if entries > _MOST_ENTRIES:  # rows only tighten: any part of them will do
                    break
                column = np.concatenate((self._nodes + larger, chosen))
                value = np.concatenate((np.ones(len(larger)), np.full(len(chosen), float(often[flow]))))
                rows.append(self._matrix(value, np.zeros(len(column), dtype=np.int64), column, 1))
                limits.append(float(often[flow]) * size)
        return (scipy.sparse.vstack(rows, format="csr"), np.array(limits)) if rows else None


def _how_often(request: FloatArray, offered: IntArray) -> IntArray:
    """How often each shape fits into one node that offers so much, int64[S]."""
    often = np.full(len(request), np.iinfo(np.int32).max, dtype=np.int64)
    for asked, room in zip(request.T, offered, strict=True):
        is_asked = asked > 0
        often[is_asked] = np.minimum(often[is_asked], (room // asked[is_asked]).astype(np.int64))
    return often
