"""Chooses options of nodes and seats for the pods that leave by them, as an integer program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts are imported when they are first named

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.highs import MixedInteger, Pace

_SAME = 1e-9
_PACE = Pace(root=0.1, branch=0.001)


@dataclass(frozen=True, eq=False)
class OptionChoice:
    """O options of N nodes, K kinds of pods, Y possible seats, L limits; amounts of R resources in shares of a node.

    An option: its ``node``, ``profit``, ``moves``, ``uses`` (int64[O, K], pods of each kind that leave by it) and
    ``slack`` (float64[O, R], room for newcomers once it is chosen). At most one option of each node is chosen; a node
    without one has ``spare`` (float64[N, R]). A seat: ``seat_kind``, ``seat_node``, ``seat_most``. ``request``:
    float64[K, R]. ``limit_of``: bool[L, K], kinds of which at most ``limit`` leave in all.
    """

    node: IntArray
    profit: FloatArray
    moves: IntArray
    uses: IntArray
    slack: FloatArray
    spare: FloatArray
    seat_kind: IntArray
    seat_node: IntArray
    seat_most: IntArray
    request: FloatArray
    limit_of: IntArray
    limit: IntArray
    most_moves: int

    def choose(self, deadline: Deadline, most_branches: int) -> tuple[IntArray, IntArray]:
        """Options chosen, and pods in each seat (int64[Y]); nothing at all where no answer was found in time."""
        options, seats = len(self.node), len(self.seat_kind)
        if not options or deadline.is_over():
            return np.zeros(0, dtype=np.int64), np.zeros(seats, dtype=np.int64)
        programme = MixedInteger(
            cost=np.concatenate((-self.profit, np.zeros(seats))),
            integrality=np.ones(options + seats),
            bounds=scipy.optimize.Bounds(0, np.concatenate((np.ones(options), self.seat_most))),
            constraints=self._constraints(),
            pace=_PACE,
        )
        found = programme.solved(deadline, most_branches, least_seconds=0.0, relative_gap=_SAME)
        if found is None or found.x is None:
            return np.zeros(0, dtype=np.int64), np.zeros(seats, dtype=np.int64)
        whole = np.round(found.x).astype(np.int64)
        return np.flatnonzero(whole[:options]), whole[options:]

    def _constraints(self) -> list[scipy.optimize.LinearConstraint]:
        options, seats = len(self.node), len(self.seat_kind)
        nodes, kinds = len(self.spare), self.uses.shape[1]
        option, seat = np.arange(options), np.arange(seats)
        one = scipy.sparse.csr_matrix((np.ones(options), (self.node, option)), shape=(nodes, options))
        arrive = scipy.sparse.csr_matrix((np.ones(seats), (self.seat_kind, seat)), shape=(kinds, seats))
        rows = [
            scipy.optimize.LinearConstraint(_beside(one, nodes, seats), -np.inf, 1.0),
            scipy.optimize.LinearConstraint(
                scipy.sparse.hstack([-scipy.sparse.csr_matrix(self.uses.T), arrive]), 0.0, 0.0
            ),
            scipy.optimize.LinearConstraint(
                _beside(scipy.sparse.csr_matrix(self.moves[None, :]), 1, seats), -np.inf, self.most_moves
            ),
        ]
        for resource in range(self.request.shape[1]):
            taken = scipy.sparse.csr_matrix(
                (self.request[self.seat_kind, resource], (self.seat_node, seat)), shape=(nodes, seats)
            )
            given = self.slack[:, resource] - self.spare[self.node, resource]
            made = scipy.sparse.csr_matrix((-given, (self.node, option)), shape=(nodes, options))
            rows.append(
                scipy.optimize.LinearConstraint(scipy.sparse.hstack([made, taken]), -np.inf, self.spare[:, resource])
            )
        if len(self.limit):
            left = scipy.sparse.csr_matrix((self.uses @ self.limit_of.T).T.astype(float))
            rows.append(scipy.optimize.LinearConstraint(_beside(left, len(self.limit), seats), -np.inf, self.limit))
        return rows


def _beside(left: scipy.sparse.csr_matrix, height: int, width: int) -> scipy.sparse.csr_matrix:
    return scipy.sparse.hstack([left, scipy.sparse.csr_matrix((height, width))], format="csr")
