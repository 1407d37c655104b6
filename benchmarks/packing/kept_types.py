"""How many nodes of each type must be kept: a linear program of shapes that flow to types of nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage, how_often

_FEW_PER_NODE = 12
_SECONDS = 5.0


class KeptTypes(NamedTuple):
    """``type_of``: int64[N]; ``kept``: float64[T], nodes of each type to keep; ``total``: their sum, a lower bound."""

    type_of: IntArray
    kept: FloatArray
    total: float


class KeptTypesProgram:
    """Least number of kept nodes whose summed room by type holds all pods, shape by shape, pods divisible.

    Large shapes count also as whole pods: of shapes that fit on a node a few times only, no type takes more than that.
    """

    def __init__(self, drainage: Drainage) -> None:
        """Group nodes that offer the same to the same pods, and pods that ask for the same."""
        looks = np.hstack((drainage.capacity, drainage.open_to.T.astype(np.int64)))
        _, first, self._type_of = np.unique(looks, axis=0, return_index=True, return_inverse=True)
        self._capacity = drainage.capacity[first].clip(min=0)
        kinds = np.hstack((drainage.request, drainage.class_of[:, None]))
        shapes, self._pods = np.unique(kinds, axis=0, return_counts=True)
        self._request, classes = shapes[:, :-1], shapes[:, -1]
        self._nodes = np.bincount(self._type_of, minlength=len(first))
        self._fixed = np.bincount(self._type_of[~drainage.can_be_emptied], minlength=len(first))
        is_in_use = (drainage.pods_on > 0) | ~drainage.can_be_emptied
        self._in_use = np.bincount(self._type_of[is_in_use], minlength=len(first))
        self._fits = how_often(self._request, self._capacity) * drainage.open_to[classes][:, first]
        self._shape, self._type = np.nonzero(self._fits)
        self._width = len(self._nodes) + len(self._shape)
        self._all_pods = self._rows_of_pods()
        room, few = self._rows_of_room(), self._rows_of_few_per_node()
        self._demand, self._offer = (sparse.vstack(parts, format="csr") for parts in zip(room, few, strict=True))

    def solve(self, spare: float, *, fills_empty: bool) -> KeptTypes | None:
        """Keep a share ``spare`` of each type's room free; None if even all nodes are not enough.

        ``fills_empty``: whether nodes may be kept that are empty now. A bound needs that; in a plan it would only
        trade one empty node for another.
        """
        types = len(self._nodes)
        cost = np.zeros(self._width)
        cost[:types] = 1.0
        nodes = self._nodes if fills_empty else self._in_use
        most = np.concatenate((nodes, self._pods[self._shape])).astype(float)
        least = np.concatenate((self._fixed, np.zeros(len(self._shape)))).astype(float)
        rows = [
            LinearConstraint(self._all_pods, self._pods, self._pods),
            LinearConstraint(self._demand - (1.0 - spare) * self._offer, -np.inf, 0.0),
        ]
        found = milp(cost, constraints=rows, bounds=Bounds(least, most), options={"time_limit": _SECONDS})
        if found.x is None:
            return None
        return KeptTypes(self._type_of, np.asarray(found.x[:types]), float(found.fun))

    def _matrix(self, value: FloatArray, row: IntArray, column: IntArray, rows: int) -> sparse.csr_matrix:
        return sparse.csr_matrix((value, (row, column)), shape=(rows, self._width))

    def _rows_of_pods(self) -> sparse.csr_matrix:
        """All pods of a shape are on some type."""
        flows = len(self._nodes) + np.arange(len(self._shape))
        return self._matrix(np.ones(len(flows)), self._shape, flows, len(self._pods))

    def _rows_of_room(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """What flows to a type, and what its kept nodes offer, resource by resource."""
        types, resources = self._capacity.shape
        unit = np.maximum(1, self._capacity.max(axis=0))  # keeps coefficients near one
        row = self._type[:, None] * resources + np.arange(resources)
        flows = np.broadcast_to((types + np.arange(len(self._shape)))[:, None], row.shape)
        asked = self._request[self._shape] / unit
        own = np.repeat(np.arange(types), resources)
        return (
            self._matrix(asked.ravel(), row.ravel(), flows.ravel(), types * resources),
            self._matrix((self._capacity / unit).ravel(), np.arange(types * resources), own, types * resources),
        )

    def _rows_of_few_per_node(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """For shapes that a type takes at most a few times: they and larger ones count as whole pods."""
        types = len(self._nodes)
        few = np.flatnonzero(self._fits[self._shape, self._type] <= _FEW_PER_NODE)
        rows: list[IntArray] = []
        flows: list[IntArray] = []
        for row, pair in enumerate(few.tolist()):
            same_type = np.flatnonzero(self._type == self._type[pair])
            is_larger = (self._request[self._shape[same_type]] >= self._request[self._shape[pair]]).all(axis=1)
            flows.append(types + same_type[is_larger])
            rows.append(np.full(int(is_larger.sum()), row))
        at_row = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
        at_flow = np.concatenate(flows) if flows else np.zeros(0, dtype=np.int64)
        often = self._fits[self._shape[few], self._type[few]].astype(float)
        return (
            self._matrix(np.ones(len(at_row)), at_row, at_flow, len(few)),
            self._matrix(often, np.arange(len(few)), self._type[few], len(few)),
        )
