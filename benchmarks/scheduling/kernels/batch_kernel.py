"""Many pods placed one after another, as one compiled loop; importing this module needs numba."""

from __future__ import annotations

import numpy as np

from benchmarks.scheduling.kernels.loop_kernel import fill_between
from benchmarks.scheduling.kernels.plain_kernel import fill_plain, fill_without
from rescheduler.model.columns.arrays import IntArray
from rescheduler.scheduling.kernels.compiling import compiled
from rescheduler.scheduling.kernels.kind import REFUSED
from rescheduler.scheduling.kernels.offers import FloatArray


@compiled
def place_all(
    used: IntArray, scored_used: IntArray, allocatable: IntArray, divisor: FloatArray, inverse: FloatArray,
    pods: IntArray, numbers: IntArray, bases: IntArray, checks: IntArray, fits: IntArray, balances: IntArray,
    points: FloatArray, settings: IntArray, raws: IntArray, shares: IntArray, requests: IntArray, pairs: IntArray,
    withouts: FloatArray, slots: IntArray,
) -> IntArray:  # fmt: skip
    """The node of each pod, int64[n], -1 where none is feasible; ``used`` and ``scored_used`` are changed on the way.

    ``pods``: int64[n, 2], kind and present node (-1: none), which the pod leaves first. ``numbers``: int64[K, 8], of a
    kind its base, rows of checks, of fit and of balance, its ``points``, number of shares, pair of resources in
    ``withouts`` (-1: the kind is not plain), and slot. Slot 0 is worked out anew for each pod; another belongs to one
    kind, and only nodes that changed since are worked out again. ``requests``: int64[K, R + 2].
    """
    log, logged = np.empty(2 * len(pods), dtype=np.int64), 0
    seen, found = np.full(len(numbers), -1), np.full(len(pods), -1)
    total = np.empty(used.shape[1], dtype=np.int64)
    _follow(withouts, 0, used.shape[1], used, divisor, pairs)
    for number in range(len(pods)):
        kind, origin = pods[number, 0], pods[number, 1]
        if origin >= 0:
            _shift(used, scored_used, requests[kind], origin, -1, withouts, divisor, pairs)
            log[logged] = origin
            logged += 1
        row = slots[numbers[kind, 7]]
        is_kept = numbers[kind, 7] > 0 and seen[kind] >= 0
        changed = log[seen[kind] : logged] if is_kept else log[:0]
        if not is_kept or len(changed) > 0:
            _fill(
                row, changed, used, scored_used, allocatable, divisor, inverse, withouts, bases, checks[kind],
                fits[kind], balances[kind], points, settings[kind], numbers[kind],
            )  # fmt: skip
        seen[kind] = logged
        node = _first_highest(row, raws, shares[kind, : numbers[kind, 5]], total)
        if node >= 0:
            _shift(used, scored_used, requests[kind], node, 1, withouts, divisor, pairs)
            log[logged] = node
            logged += 1
        found[number] = node
    return found


@compiled
def _fill(
    row: IntArray, changed: IntArray, used: IntArray, scored_used: IntArray, allocatable: IntArray,
    divisor: FloatArray, inverse: FloatArray, withouts: FloatArray, bases: IntArray, checks: IntArray, fit: IntArray,
    balance: IntArray, points: FloatArray, settings: IntArray, numbers: IntArray,
) -> None:  # fmt: skip
    """Totals of the changed nodes, or of all: if none is given, or so many that all are worked out sooner."""
    base, asked = bases[numbers[0]], checks[: numbers[1]]
    width, is_plain = len(row), numbers[6] >= 0
    if len(changed) * (8 if is_plain else 32) > width:
        changed = changed[:0]
    if is_plain:
        fill_plain(
            row, changed, used, scored_used, allocatable, divisor, inverse, withouts[numbers[6]], base, asked,
            fit[: numbers[2]], balance[: numbers[3]], settings,
        )  # fmt: skip
        return
    for place in range(max(len(changed), 1)):
        start, stop = (changed[place], changed[place] + 1) if len(changed) else (0, width)
        fill_between(
            row, start, stop, used, scored_used, allocatable, base, asked, fit[: numbers[2]], balance[: numbers[3]],
            points[numbers[4]], settings,
        )  # fmt: skip


@compiled
def _shift(
    used: IntArray, scored_used: IntArray, requests: IntArray, node: int, sign: int, withouts: FloatArray,
    divisor: FloatArray, pairs: IntArray,
) -> None:  # fmt: skip
    """A pod comes to a node or leaves it; the shares without a pod follow."""
    count = len(used)
    for row in range(count):
        used[row, node] += sign * requests[row]
    for row in range(2):
        scored_used[row, node] += sign * requests[count + row]
    _follow(withouts, node, node + 1, used, divisor, pairs)


@compiled
def _follow(withouts: FloatArray, start: int, stop: int, used: IntArray, divisor: FloatArray, pairs: IntArray) -> None:
    """Bring the shares without a pod up to date on the nodes from ``start`` to before ``stop``."""
    for pair in range(len(pairs)):
        fill_without(withouts[pair], start, stop, used, divisor, pairs[pair, 0], pairs[pair, 1])


@compiled
def _first_highest(row: IntArray, raws: IntArray, shares: IntArray, total: IntArray) -> int:
    """The first node with the highest total; ``shares``: row of ``raws``, weight, whether reversed."""
    if len(shares):
        _add_shares(row, raws, shares, total)
        row = total
    top = np.int64(REFUSED)
    for node in range(len(row)):
        top = max(top, row[node])
    if top > REFUSED:
        for node in range(len(row)):
            if row[node] == top:
                return node
    return -1


@compiled
def _add_shares(row: IntArray, raws: IntArray, shares: IntArray, total: IntArray) -> None:
    """The totals with shares of the largest raw score among feasible nodes."""
    total[:] = row
    for share in range(len(shares)):
        raw, weight, is_reversed = raws[shares[share, 0]], shares[share, 1], shares[share, 2]
        largest = np.int64(0)
        for node in range(len(row)):
            if row[node] > REFUSED:
                largest = max(largest, raw[node])
        if largest > 0:
            for node in range(len(row)):
                if row[node] > REFUSED:
                    points = np.int64((100.0 * raw[node] + 0.5) * (1.0 / largest))
                    total[node] += weight * (100 - points if is_reversed else points)
