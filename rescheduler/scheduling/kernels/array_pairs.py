"""Points of a kind that asks for two resources which all nodes offer: both at once, which halves the work of numpy.

Every number is the same as in ``array_kernel``: the same operations in the same order.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.scheduling.kernels.kind import LEAST, Kind
from rescheduler.scheduling.kernels.offers import FloatArray
from rescheduler.scheduling.scoring.normalization import MAX_SCORE

AnyArray = TypeVar("AnyArray", IntArray, FloatArray)


def paired_points(
    kind: Kind, used: IntArray, scored_used: IntArray, allocatable: IntArray, divisor: FloatArray
) -> FloatArray:
    """Weighted points of fit and balance together, whole numbers as float64[M]."""
    strategy, fit_weight, balance_weight, changes = kind.settings.tolist()
    rows, requests = kind.balance[:, 0].tolist(), kind.balance[:, 1]
    balance = _even(_two(used, rows), requests, _two(divisor, rows), is_change=bool(changes))
    points = _fit(kind, used, scored_used, allocatable, divisor, is_least=strategy == LEAST)
    points *= fit_weight
    balance *= balance_weight
    points += balance
    return points


def _fit(
    kind: Kind, used: IntArray, scored_used: IntArray, allocatable: IntArray, divisor: FloatArray, *, is_least: bool
) -> FloatArray:
    """Mean of the two resources' scores by weight, truncated."""
    (weight_a, weight_b), places, requests = kind.fit[:, 0].tolist(), kind.fit[:, 1].tolist(), kind.fit[:, 2]
    count = len(used)
    if min(places) >= count:
        before = _two(scored_used, [place - count for place in places])
    else:
        before = np.stack([scored_used[place - count] if place >= count else used[place] for place in places])
    rows = [place % count for place in places]
    offered = _two(allocatable, rows)
    with_pod = before + requests[:, None]
    part = np.maximum(offered - with_pod, 0) if is_least else np.minimum(with_pod, offered)
    points = 100.0 * part
    points /= _two(divisor, rows)
    np.floor(points, out=points)
    total = weight_a * points[0]
    total += weight_b * points[1]
    total /= weight_a + weight_b
    mean: FloatArray = np.floor(total, out=total)
    return mean


def _even(used: IntArray, requests: IntArray, divisor: FloatArray, *, is_change: bool) -> FloatArray:
    """Evenness of the two used shares with the pod, or how much the pod changes it."""
    after = _percent((used + requests[:, None]) / divisor)
    if not is_change:
        return after
    after += 50.0
    after -= _percent(used / divisor)
    after /= 2
    np.floor(after, out=after)
    after += 50.0
    return after


def _percent(shares: FloatArray) -> FloatArray:
    """100 less the deviation of two shares in percent, truncated."""
    np.minimum(shares, 1.0, out=shares)
    gap = shares[0] - shares[1]
    gap /= 2
    np.abs(gap, out=gap)
    np.subtract(1.0, gap, out=gap)
    gap *= MAX_SCORE
    percent: FloatArray = np.floor(gap, out=gap)
    return percent


def _two(array: AnyArray, rows: list[int]) -> AnyArray:
    """Two rows; a view where they are neighbours."""
    first, second = rows
    return array[first : first + 2] if second == first + 1 else array[rows]
