"""Statistics of the samples that lie in one window, for all nodes at once."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rescheduler.model.arrays import BoolArray
from rescheduler.model.usage import FloatArray, Statistics

_PERCENTILES: Final = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}


class Scale(NamedTuple):
    """What results are multiplied by, and the decimals that are kept then."""

    factor: float
    decimals: int


def window_statistics(
    values: npt.NDArray[np.floating], measured_at: FloatArray, is_inside: BoolArray, scale: Scale | None = None
) -> Statistics:
    """Statistics of each column of ``values``, [T, N], over its samples that are inside.

    NaN is no sample. The deviation is the population's, as of Prometheus' stddev_over_time. A percentile is the
    nearest rank: the smallest sample that at least so many percent of the samples do not exceed. The latest is the one
    measured last; of two measured at once the later row's.
    """
    is_sample = is_inside & ~np.isnan(values)
    count = is_sample.sum(axis=0)
    is_empty = count == 0
    divisor = np.where(is_empty, 1, count)
    exact = np.where(is_sample, values, 0.0).astype(np.float64, copy=False)
    average = exact.sum(axis=0) / divisor
    spread = np.where(is_sample, exact - average, 0.0)
    deviation = np.sqrt(np.square(spread).sum(axis=0) / divisor)
    ordered = _ordered(values, is_sample)
    ranks = {name: -(-percent * count // 100) - 1 for name, percent in _PERCENTILES.items()}
    at, latest = _latest(exact, measured_at, is_sample)
    found = {"average": average, "deviation": deviation, "latest": latest, "minimum": _at_rank(ordered, 0 * count),
             "maximum": _at_rank(ordered, count - 1),
             **{name: _at_rank(ordered, rank) for name, rank in ranks.items()}}  # fmt: skip
    scaled = {name: np.where(is_empty, np.nan, _scaled(row, scale)) for name, row in found.items()}
    return Statistics(**scaled, count=count.astype(np.float64), measured_at=np.where(is_empty, np.nan, at))


def _ordered(values: npt.NDArray[np.floating], is_sample: BoolArray) -> npt.NDArray[np.floating]:
    """Each column's samples in order, gaps last.

    One sort serves all ranks, though nodes have different numbers of samples; numpy sorts short columns several times
    faster than it partitions them at four ranks.
    """
    filled = np.where(is_sample, values, np.array(np.inf, dtype=values.dtype))
    return np.sort(filled, axis=0)


def _at_rank(ordered: npt.NDArray[np.floating], rank: npt.NDArray[np.int64]) -> FloatArray:
    if not len(ordered):
        return np.zeros(len(rank))
    found: FloatArray = np.take_along_axis(ordered, np.maximum(rank, 0)[None], axis=0)[0].astype(np.float64)
    return found


def _latest(exact: FloatArray, measured_at: FloatArray, is_sample: BoolArray) -> tuple[FloatArray, FloatArray]:
    if not len(exact):
        return np.zeros(exact.shape[1]), np.zeros(exact.shape[1])
    times = np.where(is_sample, measured_at, -np.inf)
    newest = (len(times) - 1 - np.argmax(times[::-1], axis=0))[None]
    return np.take_along_axis(times, newest, axis=0)[0], np.take_along_axis(exact, newest, axis=0)[0]


def _scaled(row: FloatArray, scale: Scale | None) -> FloatArray:
    return row if scale is None else np.round(row * scale.factor, scale.decimals)
