"""Two moves at once where one alone does not help: a pod makes way for another, into whose place or elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.search.search_state import SAME, SearchState

MOST_ROWS = 60
MOST_PARTNERS = 24
MOST_PLACES = 3
Pair = tuple[tuple[int, int], tuple[int, int]]


@runtime_checkable
class ExchangeState(Protocol):
    """An objective that can tell for all pods at once what it would mean to take their places."""

    def instead(self, row: int) -> FloatArray:
        """Change of the cost if a pod came to the node of each other pod, which has left it, float64[M]."""


def move_in_pairs(current: SearchState, deadline: Deadline, *, most_rows: int = MOST_ROWS) -> int:
    """Make pairs of moves that lower the cost by more than both cost, best pods first; returns how many."""
    made = 0
    for row in current.state.promising()[:most_rows].tolist():
        if deadline.is_over() or current.evictions_left < 2:
            break
        if current.may_leave(row):
            pair = best_pair(current, row, deadline)
            for mover, node in pair or ():
                current.move(mover, node)
            made += pair is not None
    return made


def best_pair(current: SearchState, row: int, deadline: Deadline) -> Pair | None:
    """The pair of moves, in their order, with which a pod's going lowers the cost most; None where none does."""
    best: Pair | None = None
    least = -SAME
    for other, hope in partners(current, row):
        if deadline.is_over():
            break
        for pair, change in _ways(current, row, other):
            if change + hope >= least - SAME:
                continue
            found = _change(current, pair, row)
            if found is not None and found < least - SAME:
                best, least = pair, found
    return best


def partners(current: SearchState, row: int) -> list[tuple[int, float]]:
    """Pods whose leaving would let another come to their node, the most promising first.

    With each, the least that the other's coming can change the cost by then.
    """
    problem = current.problem
    at = current.node_of
    room = current.free[:, at] + problem.held
    request = problem.requests[:, row]
    asked = np.flatnonzero(request)
    fits: BoolArray = np.asarray((room[asked] >= request[asked, None]).all(axis=0))
    fits &= problem.static_mask(current.pod(row))[1][at] & (at != at[row])
    fits[list(current.moved)] = False
    rows = np.flatnonzero(fits)
    if not len(rows):
        return []
    state = current.state
    is_exact = isinstance(state, ExchangeState)
    change = (
        state.instead(row)[rows] if isinstance(state, ExchangeState) else state.change(row)[at[rows]]
    ) + current.fee(row)
    helps = change < -SAME
    rows, change = rows[helps], change[helps]
    order = np.lexsort((rows, _size(current, rows), np.round(change, 9)))[:MOST_PARTNERS]
    found = zip(rows[order].tolist(), change[order].tolist(), strict=True)
    return [(other, hope if is_exact else -np.inf) for other, hope in found if current.may_leave(other)]


def _size(current: SearchState, rows: IntArray) -> FloatArray:
    capacity = np.maximum(1, current.problem.columns.allocatable.mean(axis=1))[:, None]
    size: FloatArray = (current.problem.held[:, rows] / capacity).max(axis=0)
    return size


def _ways(current: SearchState, row: int, other: int) -> Iterator[tuple[Pair, float]]:
    """The other pod makes way first, to one of the best places; or they change nodes, whoever has room to begin.

    Where nobody has, they change nodes only if pods may leave before they arrive.

    With each way, the least that the other pod's going can change the cost by.
    """
    node, home = int(current.node_of[other]), int(current.node_of[row])
    places = current.open_to(other)
    change = np.where(places, current.change(other), np.inf)
    change[home] = np.inf
    for place in np.argsort(change, kind="stable")[:MOST_PLACES].tolist():
        if np.isfinite(change[place]):
            yield ((other, place), (row, node)), float(change[place])
    if places[home]:
        yield ((other, home), (row, node)), -np.inf
    elif current.open_to(row)[node] or current.problem.may_evict_first:
        yield ((row, node), (other, home)), -np.inf


def _change(current: SearchState, pair: Pair, row: int) -> float | None:
    """By how much both moves change the cost, or None where they may not be made; the state is left as it was."""
    (first, place), (second, node) = pair
    if place != current.node_of[row] and first != row:
        change = float(current.change(first)[place])
        current.move(first, place)
        is_possible = current.may_leave(second) and bool(current.open_to(second)[node])
        change += float(current.change(second)[node]) if is_possible else np.inf
        current.undo(first)
        return change if np.isfinite(change) else None
    return _change_by_swapping(current, pair)


def _change_by_swapping(current: SearchState, pair: Pair) -> float | None:
    """The same for pods that change nodes: only in the end are both where the objective may look at them."""
    before, made = current.cost, []
    is_exchange = False
    for row, node in pair:
        is_open = current.may_leave(row) and bool(current.open_to(row)[node])
        if not is_open and not (current.may_leave(row) and current.problem.may_evict_first):
            break
        is_exchange |= not is_open
        current.move(row, node)
        made.append(row)
    is_allowed = len(made) == len(pair) and all(
        _is_allowed(current, row, node, must_be_open=is_exchange) for row, node in pair
    )
    change = current.cost - before if is_allowed else None
    for row in reversed(made):
        current.undo(row)
    return change


def _is_allowed(current: SearchState, row: int, node: int, *, must_be_open: bool) -> bool:
    """Whether the objective, and if need be every filter, allows a pod where it is now, with all others there."""
    current.undo(row)
    is_allowed = bool(np.isfinite(current.state.change(row)[node])) and (
        not must_be_open or bool(current.open_to(row)[node])
    )
    current.move(row, node)
    return is_allowed
