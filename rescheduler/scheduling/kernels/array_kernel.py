"""Totals of one kind of pod on many nodes, with numpy alone."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.kernels.kind import LEAST, RATIO, REFUSED, Kind
from rescheduler.scheduling.kernels.offers import FloatArray, Offers
from rescheduler.scheduling.scoring.normalization import MAX_SCORE

AnyArray = TypeVar("AnyArray", IntArray, FloatArray)


class Use(NamedTuple):
    """What nodes offer and what is in use: int64[R, M], int64[2, M], int64[R, M], float64[R, M]."""

    used: IntArray
    scored_used: IntArray
    allocatable: IntArray
    divisor: FloatArray

    def at(self, nodes: IntArray) -> Use:
        """The same for some of the nodes."""
        return Use(self.used[:, nodes], self.scored_used[:, nodes], self.allocatable[:, nodes], self.divisor[:, nodes])


def use_of(placement: Placement) -> Use:
    """All nodes of a placement, not copied."""
    columns = placement.columns
    return Use(placement.used, placement.scored_used, columns.allocatable, columns.facts(Offers).divisor)


def has_room(kind: Kind, use: Use, static: BoolArray) -> BoolArray:
    """Of ``static``, the nodes with room for what the kind asks, bool[M]; a fresh array."""
    mask = static.copy()
    for row, request in kind.checks.tolist():
        mask &= use.allocatable[row] - use.used[row] >= request
    return mask


def totals(kind: Kind, use: Use, base: IntArray) -> IntArray:
    """Scores that follow from each node alone, weighted, int64[M]; REFUSED where the node is not feasible."""
    points = _paired_points(kind, use) if kind.is_plain else _points(kind, use)
    mask = has_room(kind, use, base != REFUSED)
    return np.where(mask, base + np.asarray(points).astype(np.int64), REFUSED)


def _points(kind: Kind, use: Use) -> FloatArray | float:
    """Weighted points of fit and balance together, whole numbers as float64[M]."""
    _, fit_weight, balance_weight, _ = kind.settings.tolist()
    points: FloatArray | float = fit_weight * _fit(kind, use) if len(kind.fit) else 0.0
    return points + balance_weight * _balance(kind, use) if len(kind.balance) else points


def with_shares(kind: Kind, found: IntArray) -> IntArray:
    """The totals with what follows from the feasible nodes together: shares of the largest raw score."""
    if not kind.shares:
        return found
    mask = found != REFUSED
    total = found.copy()
    for raw, weight, is_reversed in kind.shares:
        largest = int(raw[mask].max(initial=0))
        if largest:
            scaled = MAX_SCORE * raw // largest
            total += weight * (MAX_SCORE - scaled if is_reversed else scaled)
    return np.where(mask, total, REFUSED)


def highest(total: IntArray) -> IntArray:
    """Indices of the feasible nodes with the highest total; empty if none is feasible."""
    top = total.max(initial=REFUSED)
    if top == REFUSED:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(total == top)


def _fit(kind: Kind, use: Use) -> FloatArray:
    """Weighted mean of the resources' scores, whole numbers as float64[M]."""
    strategy, count = int(kind.settings[0]), len(use.used)
    total = np.zeros(use.used.shape[1])
    weights = np.zeros(use.used.shape[1])
    for weight, place, request in kind.fit.tolist():
        row = place % count
        used = use.scored_used[row] if place >= count else use.used[row]
        offered = use.allocatable[row]
        is_least = strategy == LEAST
        part = np.maximum(offered - used - request, 0) if is_least else np.minimum(used + request, offered)
        points = np.floor(100.0 * part / use.divisor[row])
        is_counted = offered > 0
        if strategy == RATIO:
            points = kind.points[points.astype(np.int64)] * is_counted
            is_counted = points > 0
        total += weight * points
        weights += weight * is_counted
    if strategy == RATIO:  # to the nearest whole score
        total, weights = 2 * total + weights, 2 * weights
    return np.floor(total / np.maximum(weights, 1.0))


def _balance(kind: Kind, use: Use) -> FloatArray:
    """Balance, or how much the pod changes it, whole numbers as float64[M]."""
    after = _evenness(kind, use, is_there=True)
    if not kind.settings[3]:
        return after
    return 50.0 + np.floor((50.0 + after - _evenness(kind, use, is_there=False)) / 2)


def _evenness(kind: Kind, use: Use, *, is_there: bool) -> FloatArray:
    """100 less the deviation of the used shares in percent, truncated; resources that a node lacks are left out."""
    rows = kind.balance.tolist()
    shares = [np.minimum((use.used[row] + request * is_there) / use.divisor[row], 1.0) for row, request in rows]
    offered = [use.allocatable[row] > 0 for row, _ in rows]
    if len(rows) == 2:
        deviation = np.abs((shares[0] - shares[1]) / 2) * (offered[0] & offered[1])
    else:
        deviation = _deviation(shares, offered)
    percent: FloatArray = np.floor((1.0 - deviation) * MAX_SCORE)
    return percent


def _deviation(shares: list[FloatArray], offered: list[BoolArray]) -> FloatArray:
    """Population deviation; of two, half their difference. Sums run in the order of the resources."""
    count = np.maximum(sum(offered), 1)
    mean = sum(np.where(mask, share, 0.0) for share, mask in zip(shares, offered, strict=True)) / count
    gaps = [np.where(mask, share - mean, 0.0) for share, mask in zip(shares, offered, strict=True)]
    squares = sum(gap * gap for gap in gaps)
    low = np.minimum.reduce([np.where(mask, share, np.inf) for share, mask in zip(shares, offered, strict=True)])
    high = np.maximum.reduce([np.where(mask, share, 0.0) for share, mask in zip(shares, offered, strict=True)])
    deviation: FloatArray = np.where(count == 2, (high - low) / 2, np.sqrt(squares / count))
    return deviation


def _paired_points(kind: Kind, use: Use) -> FloatArray:
    """``_points`` of a kind that asks for two resources which all nodes offer: both at once, half the work of numpy.

    Every number is the same: the same operations in the same order.
    """
    strategy, fit_weight, balance_weight, changes = kind.settings.tolist()
    rows, requests = kind.balance[:, 0].tolist(), kind.balance[:, 1]
    balance = _pair_balance(_two(use.used, rows), requests, _two(use.divisor, rows), is_change=bool(changes))
    points = _pair_fit(kind, use, is_least=strategy == LEAST)
    points *= fit_weight
    balance *= balance_weight
    points += balance
    return points


def _pair_fit(kind: Kind, use: Use, *, is_least: bool) -> FloatArray:
    """Mean of the two resources' scores by weight, truncated."""
    (weight_a, weight_b), places, requests = kind.fit[:, 0].tolist(), kind.fit[:, 1].tolist(), kind.fit[:, 2]
    used, scored_used, count = use.used, use.scored_used, len(use.used)
    if min(places) >= count:
        before = _two(scored_used, [place - count for place in places])
    else:
        before = np.stack([scored_used[place - count] if place >= count else used[place] for place in places])
    rows = [place % count for place in places]
    offered = _two(use.allocatable, rows)
    with_pod = before + requests[:, None]
    part = np.maximum(offered - with_pod, 0) if is_least else np.minimum(with_pod, offered)
    points = 100.0 * part
    points /= _two(use.divisor, rows)
    np.floor(points, out=points)
    total = weight_a * points[0]
    total += weight_b * points[1]
    total /= weight_a + weight_b
    mean: FloatArray = np.floor(total, out=total)
    return mean


def _pair_balance(used: IntArray, requests: IntArray, divisor: FloatArray, *, is_change: bool) -> FloatArray:
    """Evenness of the two used shares with the pod, or how much the pod changes it."""
    after = _pair_evenness((used + requests[:, None]) / divisor)
    if not is_change:
        return after
    after += 50.0
    after -= _pair_evenness(used / divisor)
    after /= 2
    np.floor(after, out=after)
    after += 50.0
    return after


def _pair_evenness(shares: FloatArray) -> FloatArray:
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
