"""Totals of pods that ask for two resources which all nodes offer: loops without branches, which vectorise."""

from __future__ import annotations

import numpy as np

from benchmarks.scheduling.kernels.feasibility_kernel import refuse, refuse_some
from rescheduler.model.columns.arrays import IntArray
from rescheduler.scheduling.kernels.compiling import compiled, inlined
from rescheduler.scheduling.kernels.kind import LEAST
from rescheduler.scheduling.kernels.offers import FloatArray


@inlined
def _percent(before: int, request: int, offered: int, inverse: float, is_least: bool) -> float:
    """Free or used percentage with the pod, truncated; the multiplication does for a division (see ``offers``)."""
    left = max(offered - before - request, 0)
    part = left if is_least else min(before + request, offered)
    percent: float = np.floor((100.0 * part + 0.5) * inverse)
    return percent


@inlined
def _even(used_c: int, divisor_c: float, used_d: int, divisor_d: float) -> float:
    """100 less the deviation of two used shares in percent; shares are divided, to round as the scheduler's do."""
    share_c, share_d = min(used_c / divisor_c, 1.0), min(used_d / divisor_d, 1.0)
    percent: float = np.floor((1.0 - abs((share_c - share_d) / 2)) * 100.0)
    return percent


@compiled
def _score_columns(
    place: int, count: int, used: IntArray, scored_used: IntArray, allocatable: IntArray, inverse: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    row = place % count
    return (scored_used[row] if place >= count else used[row]), allocatable[row], inverse[row]


@compiled
def fill_without(
    without: FloatArray, start: int, stop: int, used: IntArray, divisor: FloatArray, row_c: int, row_d: int
) -> None:
    """Evenness without the pod of the nodes from ``start`` to before ``stop``, into float64[N]."""
    used_c, divisor_c, used_d, divisor_d = used[row_c], divisor[row_c], used[row_d], divisor[row_d]
    for node in range(start, stop):
        without[node] = _even(used_c[node], divisor_c[node], used_d[node], divisor_d[node])


@compiled
def fill_plain(
    total: IntArray, changed: IntArray, used: IntArray, scored_used: IntArray, allocatable: IntArray,
    divisor: FloatArray, inverse: FloatArray, without: FloatArray, base: IntArray, checks: IntArray, fit: IntArray,
    balance: IntArray, settings: IntArray,
) -> None:  # fmt: skip
    """As ``fill_between`` for two resources that all nodes offer, without branches, which vectorises.

    ``changed``: the nodes to work out, all if it is empty. ``without``: evenness without the pod (``fill_without``).
    """
    count = len(used)
    before_a, offered_a, inverse_a = _score_columns(fit[0, 1], count, used, scored_used, allocatable, inverse)
    before_b, offered_b, inverse_b = _score_columns(fit[1, 1], count, used, scored_used, allocatable, inverse)
    weight_a, weight_b, request_a, request_b = fit[0, 0], fit[1, 0], fit[0, 2], fit[1, 2]
    used_c, used_d, request_c, request_d = used[balance[0, 0]], used[balance[1, 0]], balance[0, 1], balance[1, 1]
    divisor_c, divisor_d = divisor[balance[0, 0]], divisor[balance[1, 0]]
    is_least, fit_weight, balance_weight, changes = settings[0] == LEAST, settings[1], settings[2], settings[3]
    inverse_weights = 1.0 / (weight_a + weight_b)
    for place in range(len(changed)):
        node = changed[place]
        points_a = _percent(before_a[node], request_a, offered_a[node], inverse_a[node], is_least)
        points_b = _percent(before_b[node], request_b, offered_b[node], inverse_b[node], is_least)
        mean = np.floor((weight_a * points_a + weight_b * points_b + 0.5) * inverse_weights)
        even = _even(used_c[node] + request_c, divisor_c[node], used_d[node] + request_d, divisor_d[node])
        even = 50.0 + np.floor((50.0 + even - without[node]) * 0.5) if changes else even
        total[node] = base[node] + fit_weight * np.int64(mean) + balance_weight * np.int64(even)
    if len(changed):
        refuse_some(total, changed, used, allocatable, base, checks)
        return
    for node in range(len(total)):
        points_a = _percent(before_a[node], request_a, offered_a[node], inverse_a[node], is_least)
        points_b = _percent(before_b[node], request_b, offered_b[node], inverse_b[node], is_least)
        mean = np.floor((weight_a * points_a + weight_b * points_b + 0.5) * inverse_weights)
        even = _even(used_c[node] + request_c, divisor_c[node], used_d[node] + request_d, divisor_d[node])
        even = 50.0 + np.floor((50.0 + even - without[node]) * 0.5) if changes else even
        total[node] = base[node] + fit_weight * np.int64(mean) + balance_weight * np.int64(even)
    refuse(total, 0, len(total), used, allocatable, base, checks)
