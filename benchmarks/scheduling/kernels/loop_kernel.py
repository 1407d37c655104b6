"""The same totals as in ``array_kernel``, as loops that numba compiles; importing this module needs numba."""

from __future__ import annotations

import numpy as np

from benchmarks.scheduling.kernels.feasibility_kernel import refuse
from benchmarks.scheduling.kernels.plain_kernel import fill_plain, fill_without
from rescheduler.model.columns.arrays import IntArray
from rescheduler.scheduling.kernels.compiling import compiled
from rescheduler.scheduling.kernels.kind import LEAST, RATIO, REFUSED
from rescheduler.scheduling.kernels.offers import FloatArray

_EVERY = np.empty(0, dtype=np.int64)


@compiled
def highest(total: IntArray) -> IntArray:
    """Indices of the feasible nodes with the highest total; empty if none is feasible."""
    top = np.int64(REFUSED)
    for node in range(len(total)):
        top = max(top, total[node])
    count = 0
    if top > REFUSED:
        for node in range(len(total)):
            count += total[node] == top
    found = np.empty(count, dtype=np.int64)
    place = 0
    if count:
        for node in range(len(total)):
            if total[node] == top:
                found[place] = node
                place += 1
    return found


@compiled
def _add_fit(
    mean: FloatArray, start: int, stop: int, used: IntArray, scored_used: IntArray, allocatable: IntArray,
    fit: IntArray, points: FloatArray, strategy: int,
) -> None:  # fmt: skip
    """Weighted mean of the resources' scores, whole numbers, into ``mean``, float64[M]."""
    count = len(used)
    weights = np.zeros(len(mean))
    for number in range(len(fit)):
        weight, place, request = fit[number, 0], fit[number, 1], fit[number, 2]
        row = place % count
        before = scored_used[row][start:stop] if place >= count else used[row][start:stop]
        offered = allocatable[row][start:stop]
        for node in range(len(mean)):
            if offered[node] > 0:
                left = max(offered[node] - before[node] - request, 0)
                part = left if strategy == LEAST else min(before[node] + request, offered[node])
                score = points[np.int64(100.0 * part / offered[node])]
                mean[node] += weight * score
                weights[node] += weight if strategy != RATIO or score > 0 else 0
    for node in range(len(mean)):
        if strategy == RATIO:  # to the nearest whole score
            mean[node] = np.floor((2 * mean[node] + weights[node]) / max(2 * weights[node], 1.0))
        else:
            mean[node] = np.floor(mean[node] / max(weights[node], 1.0))


@compiled
def _evenness(
    start: int, stop: int, used: IntArray, allocatable: IntArray, balance: IntArray, is_there: int
) -> FloatArray:
    """100 less the deviation of the used shares in percent, truncated; resources that a node lacks are left out."""
    width = stop - start
    count, total, squares = np.zeros(width), np.zeros(width), np.zeros(width)
    low, high = np.ones(width), np.zeros(width)
    for is_second in range(2):
        for number in range(len(balance)):
            before, offered = used[balance[number, 0]][start:stop], allocatable[balance[number, 0]][start:stop]
            request = balance[number, 1] * is_there
            for node in range(width):
                if offered[node] > 0:
                    share = min((before[node] + request) / offered[node], 1.0)
                    if is_second:
                        gap = share - total[node] / count[node]
                        squares[node] += gap * gap
                    else:
                        count[node] += 1.0
                        total[node] += share
                        low[node], high[node] = min(low[node], share), max(high[node], share)
    for node in range(width):
        deviation = np.sqrt(squares[node] / max(count[node], 1.0))
        if count[node] == 2.0:  # two shares have a formula of their own, which rounds differently
            deviation = (high[node] - low[node]) / 2
        total[node] = np.floor((1.0 - deviation) * 100.0)
    return total


@compiled
def fill_between(
    total: IntArray, start: int, stop: int, used: IntArray, scored_used: IntArray, allocatable: IntArray,
    base: IntArray, checks: IntArray, fit: IntArray, balance: IntArray, points: FloatArray, settings: IntArray,
) -> None:  # fmt: skip
    """Totals of the nodes from ``start`` to before ``stop``; REFUSED where a node is not feasible."""
    width = stop - start
    mean = np.zeros(width)
    if len(fit):
        _add_fit(mean, start, stop, used, scored_used, allocatable, fit, points, settings[0])
    for node in range(width):
        total[start + node] = base[start + node] + settings[1] * np.int64(mean[node])
    if len(balance):
        even = _evenness(start, stop, used, allocatable, balance, 1)
        if settings[3]:
            without = _evenness(start, stop, used, allocatable, balance, 0)
            for node in range(width):
                even[node] = 50.0 + np.floor((50.0 + even[node] - without[node]) / 2)
        for node in range(width):
            total[start + node] += settings[2] * np.int64(even[node])
    refuse(total[start:stop], start, stop, used, allocatable, base[start:stop], checks)


@compiled
def fill(
    total: IntArray, without: FloatArray, used: IntArray, scored_used: IntArray, allocatable: IntArray,
    divisor: FloatArray, inverse: FloatArray, base: IntArray, checks: IntArray, fit: IntArray, balance: IntArray,
    points: FloatArray, settings: IntArray, is_plain: bool,
) -> None:  # fmt: skip
    """Totals of all nodes, into ``total``; ``without`` is room to work in, float64[N]."""
    width = len(total)
    if is_plain:
        if settings[3]:
            fill_without(without, 0, width, used, divisor, balance[0, 0], balance[1, 0])
        fill_plain(
            total, _EVERY, used, scored_used, allocatable, divisor, inverse, without, base, checks, fit, balance,
            settings,
        )  # fmt: skip
    else:
        fill_between(
            total, 0, width, used, scored_used, allocatable, base, checks, fit, balance, points, settings
        )  # fmt: skip


@compiled
def best_nodes(
    total: IntArray, without: FloatArray, used: IntArray, scored_used: IntArray, allocatable: IntArray,
    divisor: FloatArray, inverse: FloatArray, base: IntArray, checks: IntArray, fit: IntArray, balance: IntArray,
    points: FloatArray, settings: IntArray, is_plain: bool,
) -> IntArray:  # fmt: skip
    """As ``fill``, and then the nodes with the highest total."""
    fill(
        total, without, used, scored_used, allocatable, divisor, inverse, base, checks, fit, balance, points, settings,
        is_plain,
    )  # fmt: skip
    return highest(total)
