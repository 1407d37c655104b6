"""A whole cluster does not stop working between two samples; a source does."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.samples import NodeSamples
from rescheduler.model.usage.usage import FRESH_SECONDS, FloatArray
from rescheduler.usage.checks.evidence import JUDGED, carried
from rescheduler.usage.checks.verdicts import Freeze


def sudden_drop(
    samples: NodeSamples, offered: FloatArray, largest_drop: float, cadence_seconds: float, after: float = -inf
) -> Iterator[Freeze]:
    """Times later than ``after`` at which nodes used less than before by more than ``largest_drop`` (0 to 1) together.

    ``offered``: float64[2, N], cpu and memory of each node, by which they are weighed.
    Only nodes with samples both times count. Before is one cadence earlier: the scrapes of the nodes are spread over
    it, so that a fall of all of them shows bit by bit. What lies further apart than FRESH_SECONDS is not compared.
    """
    before = _rows_before(samples.times, cadence_seconds)
    for number, metric in enumerate(JUDGED):
        if metric not in samples.values:
            continue
        amounts = carried(samples.values[metric]) * offered[number]
        was, became = _totals(amounts, before)
        for row in np.flatnonzero((samples.times > after) & (became < (1 - largest_drop) * was)).tolist():
            fell = 100 * (1 - became[row] / was[row])
            reason = f"{metric} of the whole cluster fell by {fell:.0f} % between two samples"
            yield Freeze(float(samples.times[row]), f"{reason}, more than {100 * largest_drop:.0f} %")


def _rows_before(times: FloatArray, cadence_seconds: float) -> IntArray:
    """For each row the latest one about a cadence earlier (ticks are not quite regular), -1 where none is near."""
    found = np.searchsorted(times, times - 0.75 * cadence_seconds, side="right") - 1
    is_far = times - times[np.maximum(found, 0)] > FRESH_SECONDS
    return np.where((found >= 0) & ~is_far, found, -1)


def _totals(amounts: FloatArray, before: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sums over nodes known in both rows, float64[T] each; 0 for rows without one before."""
    earlier = amounts[np.maximum(before, 0)]
    both = np.isfinite(earlier) & np.isfinite(amounts) & (before >= 0)[:, None]
    return np.where(both, earlier, 0.0).sum(axis=1), np.where(both, amounts, 0.0).sum(axis=1)
