"""Master of a column generation: which columns to take, as a linear program with prices and as an integer program."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray


class MasterPrices(NamedTuple):
    """Optimum of the linear program, and its duals: of each owner, of one move, of one item of each kind."""

    value: float
    owner: FloatArray
    move: float
    kind: FloatArray


class ColumnMaster:
    """Take at most one column of each owner and at most so many moves in all; what leaves must come elsewhere.

    Columns: ``value`` and ``moves`` (numbers), ``net`` (int64[T], items that leave less items that come), ``owner``.
    """

    def __init__(self, owners: int, kinds: int, most_moves: int) -> None:
        """Begin without columns."""
        self._owners = owners
        self._kinds = kinds
        self._most_moves = most_moves
        self._value: list[int] = []
        self._moves: list[int] = []
        self._net: list[IntArray] = []
        self._owner: list[int] = []

    def __len__(self) -> int:
        return len(self._value)

    def add(self, *, value: int, moves: int, net: IntArray, owner: int) -> None:
        """Offer one more column."""
        self._value.append(value)
        self._moves.append(moves)
        self._net.append(net)
        self._owner.append(owner)

    def prices(self) -> MasterPrices:
        """Solve the linear program; nothing taken at all is always feasible."""
        limits, most, balance = self._rows()
        found = linprog(
            -np.array(self._value, dtype=float),
            A_ub=limits,
            b_ub=most,
            A_eq=balance,
            b_eq=np.zeros(self._kinds),
            method="highs",
        )
        duals = -found.ineqlin.marginals
        return MasterPrices(-found.fun, duals[: self._owners], float(duals[self._owners]), found.eqlin.marginals)

    def choose(self, seconds: float) -> list[int]:
        """Columns to take, whole; the best found in time, none if nothing was found."""
        limits, most, balance = self._rows()
        found = milp(
            -np.array(self._value, dtype=float),
            constraints=[LinearConstraint(limits, -np.inf, most), LinearConstraint(balance, 0.0, 0.0)],
            bounds=Bounds(0, 1),
            integrality=np.ones(len(self)),
            options={"time_limit": max(0.05, seconds)},
        )
        return [] if found.x is None else np.flatnonzero(np.round(found.x)).tolist()

    def _rows(self) -> tuple[sparse.csr_matrix, FloatArray, sparse.csr_matrix]:
        count = len(self)
        owners = sparse.csr_matrix((np.ones(count), (self._owner, np.arange(count))), shape=(self._owners, count))
        moves = sparse.csr_matrix(np.array([self._moves], dtype=float))
        balance = sparse.csr_matrix(np.array(self._net, dtype=float).reshape(count, self._kinds).T)
        most = np.append(np.ones(self._owners), float(self._most_moves))
        return sparse.vstack([owners, moves], format="csr"), most, balance
