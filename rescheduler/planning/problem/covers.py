"""Covers: the cheapest pods of one node whose departure makes up for what newcomers lack there.

A multi-dimensional min-knapsack per node. The bound for all nodes at once is a few array operations; the exact answer
for one node is a depth-first search with an explicit stack.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IndexArray, IntArray

IMPOSSIBLE = 2**30
MOST_STEPS = 1500
LARGEST_KEY = 2**62

CostOf = Callable[[IntArray], IntArray]
"""Positive costs of movable pods, given by their rows."""


@dataclass(frozen=True)
class Cover:
    """Rows of movable pods to evict from a node, and what they cost; ``is_exact``: nothing is cheaper."""

    rows: tuple[int, ...]
    cost: int
    is_exact: bool


class Covers:
    """Covers over all nodes for a fixed set of pods that may leave."""

    def __init__(self, held: IntArray, origin: IndexArray, node_count: int, allowed: BoolArray | None = None) -> None:
        """``held``: int64[R, M] amounts of each movable pod, ``origin``: its node; ``allowed``: bool[M]."""
        self.held = held
        rows = np.arange(held.shape[1]) if allowed is None else np.flatnonzero(allowed)
        self._rows = rows[np.argsort(origin[rows], kind="stable")]
        self._gone = np.zeros(held.shape[1], dtype=np.bool_)
        self._starts = np.searchsorted(origin[self._rows], np.arange(node_count + 1))
        self.node_count = node_count
        self._cumulated = self._cumulate(origin[self._rows])

    def rows_on(self, node: int) -> IntArray:
        """Movable pods (rows) on a node."""
        rows = self._rows[self._starts[node] : self._starts[node + 1]]
        return rows[~self._gone[rows]]

    @property
    def largest_sums(self) -> Sequence[IntArray]:
        """Per resource: sums of the 1, 2, ... largest amounts on each node, int64[N, most pods on a node]."""
        return self._cumulated

    def copy(self) -> Covers:
        """An independent copy, from which pods may be removed."""
        other = copy(self)
        other._gone = self._gone.copy()
        other._cumulated = [table.copy() for table in self._cumulated]
        return other

    def remove(self, node: int, rows: tuple[int, ...]) -> None:
        """Some pods of a node have left it."""
        self._gone[list(rows)] = True
        amounts = np.sort(self.held[:, self.rows_on(node)], axis=1)[:, ::-1]
        for row, table in enumerate(self._cumulated):
            table[node] = 0
            table[node, : amounts.shape[1]] = amounts[row]
            table[node] = np.cumsum(table[node])

    def least(self, deficit: IntArray, nodes: IntArray | None = None) -> IntArray:
        """Fewest departures that could make up for ``deficit`` (int64[R, n]), looking at each resource alone, int64[n].

        ``nodes``: the n nodes looked at (None: all).
        """
        worst = np.zeros(deficit.shape[1], dtype=np.int64)
        for row, lacking in enumerate(deficit):
            if (lacking <= 0).all():
                continue
            sums = self._cumulated[row] if nodes is None else self._cumulated[row][nodes]
            number = (sums < lacking[:, None]).sum(axis=1) + 1
            number[lacking <= 0] = 0
            number[lacking > (sums[:, -1] if sums.shape[1] else 0)] = IMPOSSIBLE
            np.maximum(worst, number, out=worst)
        return worst

    def cheapest(
        self, node: int, deficit: IntArray, cost_of: CostOf, most: int, steps: int = MOST_STEPS
    ) -> Cover | None:
        """The cheapest set of at most ``most`` pods on a node that makes up for ``deficit`` (int64[R]), None for none.

        ``steps`` bounds the search; where it was cut short the cover's ``is_exact`` is False.
        """
        lacking = np.flatnonzero(deficit > 0)
        rows = self.rows_on(node)
        if not len(lacking):
            return Cover((), 0, is_exact=True)
        amounts = self.held[np.ix_(lacking, rows)]
        useful = (amounts > 0).any(axis=0)
        rows, amounts = rows[useful], amounts[:, useful]
        if (amounts.sum(axis=1) < deficit[lacking]).any():
            return None
        return _search(rows, amounts, deficit[lacking], cost_of(rows), most, steps)

    def _cumulate(self, origin: IndexArray) -> list[IntArray]:
        """Per resource: sums of the k largest amounts on each node, int64[N, most pods on a node]."""
        counts = np.diff(self._starts)
        width = int(counts.max(initial=0))
        position = np.arange(len(self._rows)) - np.repeat(self._starts[:-1], counts)
        found = []
        for amounts in self.held[:, self._rows]:
            most = int(amounts.max(initial=0)) + 1
            if most < LARGEST_KEY // (self.node_count + 1):  # one sort by one key is much quicker than two
                order = np.argsort(origin.astype(np.int64) * most + (most - 1 - amounts), kind="stable")
            else:
                order = np.lexsort((-amounts, origin))
            table = np.zeros((self.node_count, width), dtype=np.int64)
            table[origin, position] = amounts[order]
            found.append(np.cumsum(table, axis=1))
        return found


def _search(
    rows: IntArray, amounts: IntArray, deficit: IntArray, cost: IntArray, most: int, most_steps: int
) -> Cover | None:
    """Depth-first: take or leave one pod after the other, the largest in the scarcest resource first."""
    scarcest, order = _order(amounts, deficit, cost)
    rows, amounts, cost = rows[order], amounts[:, order], cost[order]
    sums = [0, *np.cumsum(amounts[scarcest]).tolist()]
    largest = np.maximum.accumulate(amounts[:, ::-1], axis=1)[:, ::-1].T.tolist()
    items, costs = amounts.T.tolist(), cost.tolist()
    cheapest, count = min(costs), len(items)
    best: tuple[int, ...] | None = None
    best_cost = most * int(cost.max()) + 1
    stack: list[tuple[int, tuple[int, ...], list[int], int]] = [(0, (), deficit.tolist(), 0)]
    steps = 0
    while stack and steps < most_steps:
        position, chosen, lacking, spent = stack.pop()
        steps += 1
        if all(amount <= 0 for amount in lacking):
            if spent < best_cost and len(chosen) <= most:
                best, best_cost = chosen, spent
            continue
        if position == count:
            continue
        least = (
            bisect_left(sums, sums[position] + lacking[scarcest], position) - position if lacking[scarcest] > 0 else 1
        )
        for amount, top in zip(lacking, largest[position], strict=True):
            if amount > 0:
                least = max(least, IMPOSSIBLE if top <= 0 else -(-amount // top))
        if position + least > count or len(chosen) + least > most or spent + least * cheapest >= best_cost:
            continue
        following = position + 1
        while following < count and items[following] == items[position] and costs[following] >= costs[position]:
            following += 1  # who is left behind takes its equals along
        stack.append((following, chosen, lacking, spent))
        left = [amount - item for amount, item in zip(lacking, items[position], strict=True)]
        stack.append((position + 1, (*chosen, position), left, spent + costs[position]))
    if best is None:
        return None
    return Cover(tuple(int(rows[position]) for position in best), best_cost, is_exact=not stack)


def _order(amounts: IntArray, deficit: IntArray, cost: IntArray) -> tuple[int, IntArray]:
    """The resource of which the most pods are needed, and the pods, the largest in it first."""
    share = amounts / deficit[:, None]
    scarcest = int(np.argmax([_fewest(np.sort(part)[::-1]) for part in share]))
    order = np.lexsort((cost, -np.minimum(share, 1.0).sum(axis=0), -amounts[scarcest]))
    return scarcest, order.astype(np.int64)


def _fewest(shares: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """How many of the largest shares reach the whole."""
    return int(np.searchsorted(np.cumsum(shares), 1.0 - 1e-12)) + 1
