"""Linear program that guides packing: which nodes to empty, and which share of each stream of pods goes to which group.

It shows a way and bounds nothing: pods of like proportions are one stream, and pods are divisible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when they are first named

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.highs import MixedInteger, Pace
from rescheduler.planning.solvers.loading import may_use_programmes

_PACE = Pace(root=0.0003, branch=0.00003)
_ENOUGH = 1e-6


class Flows(NamedTuple):
    """What flows: streams (T) of pods to groups (G) of nodes, of which some nodes (C) may be emptied.

    ``load``: float64[T, R], what a stream asks for in all; ``pods``: int64[T]; ``at_home``: float64[T, G], the share of
    it that is in each group; ``open_to``: bool[T, G]. ``room``: float64[G, R], what the nodes of a group offer
    together. Of each node that may be emptied ``group``, ``capacity`` float64[C, R], ``price`` and ``pods_on``.
    """

    load: FloatArray
    pods: IntArray
    at_home: FloatArray
    open_to: BoolArray
    room: FloatArray
    group: IntArray
    capacity: FloatArray
    price: FloatArray
    pods_on: IntArray
    most_nodes: int


class Shares(NamedTuple):
    """``emptied``: float64[C], how far each node is emptied; ``share``: float64[T, G], what of a stream ends where."""

    emptied: FloatArray
    share: FloatArray


class EmptyingFlow:
    """Variables: ``empty`` per node; ``stay`` and ``cross`` per stream and group, as shares of the stream."""

    def __init__(self, flows: Flows) -> None:
        """Work out what does not depend on how much room is to be spare."""
        self._flows = flows
        is_used = flows.open_to | (flows.at_home > 0)
        self._stream, self._group = np.nonzero(is_used)
        self._nodes, self._size = len(flows.group), len(self._stream)
        stay = flows.at_home[self._stream, self._group]
        cross = flows.open_to[self._stream, self._group].astype(np.float64)
        self._most = np.concatenate((np.ones(self._nodes), stay, cross))
        self._width = len(self._most)

    def solve(self, spare: float, deadline: Deadline) -> Shares | None:
        """Empty the most that leaves a share ``spare`` of the room free, moving few pods; None without an answer."""
        flows = self._flows
        if not self._nodes or not may_use_programmes(deadline):
            return None
        worth = np.zeros(self._width)
        worth[: self._nodes] = flows.price
        constraints = self._constraints(spare)
        best = self._solved(-worth, constraints, deadline.part(0.5))
        if best is None:
            return None
        value = float(worth @ best)
        if flows.price.min() == flows.price.max():
            value = np.floor(value / flows.price[0] + _ENOUGH) * flows.price[0]
        least = scipy.optimize.LinearConstraint(worth[None, :], value - _ENOUGH * flows.price.max(), np.inf)
        moves = np.zeros(self._width)
        moves[: self._nodes] = flows.pods_on
        moves[self._nodes + self._size :] = flows.pods[self._stream]
        found = self._solved(moves, [*constraints, least], deadline)
        return self._shares(best if found is None else found)

    def _solved(
        self, cost: FloatArray, constraints: list[scipy.optimize.LinearConstraint], deadline: Deadline
    ) -> FloatArray | None:
        programme = MixedInteger(
            cost=cost,
            integrality=np.zeros(self._width),
            bounds=scipy.optimize.Bounds(np.zeros(self._width), self._most),
            constraints=constraints,
            pace=_PACE,
        )
        found = programme.solved(deadline, 1)
        return None if found is None or found.x is None else np.asarray(found.x)

    def _shares(self, values: FloatArray) -> Shares:
        share = np.zeros(self._flows.at_home.shape)
        flow = values[self._nodes :]
        share[self._stream, self._group] = flow[: self._size] + flow[self._size :]
        return Shares(values[: self._nodes], share)

    def _constraints(self, spare: float) -> list[scipy.optimize.LinearConstraint]:
        """All of each stream ends somewhere; it and what is not offered any more fit into the room of each group."""
        flows = self._flows
        streams, resources = flows.load.shape
        unit = np.maximum(1.0, flows.room.max(axis=0, initial=1.0))
        flow = self._nodes + np.arange(2 * self._size)
        whole = self._matrix(np.ones(len(flow)), np.tile(self._stream, 2), flow, streams)
        row = np.tile(self._group, 2)[:, None] * resources + np.arange(resources)
        asked = np.tile(flows.load[self._stream] / unit, (2, 1))
        lost_row = flows.group[:, None] * resources + np.arange(resources)
        lost = (1.0 - spare) * flows.capacity / unit
        load = self._matrix(
            np.concatenate((asked.ravel(), lost.ravel())),
            np.concatenate((row.ravel(), lost_row.ravel())),
            np.concatenate((np.repeat(flow, resources), np.repeat(np.arange(self._nodes), resources))),
            flows.room.size,
        )
        rows = [
            scipy.optimize.LinearConstraint(whole, 1.0, 1.0),
            scipy.optimize.LinearConstraint(load, -np.inf, (1.0 - spare) * (flows.room / unit).ravel()),
        ]
        if flows.most_nodes < self._nodes:
            number = np.zeros((1, self._width))
            number[0, : self._nodes] = 1.0
            rows.append(scipy.optimize.LinearConstraint(number, -np.inf, flows.most_nodes))
        return rows

    def _matrix(self, value: FloatArray, row: IntArray, column: IntArray, rows: int) -> scipy.sparse.csr_matrix:
        return scipy.sparse.csr_matrix((value, (row, column)), shape=(rows, self._width))
