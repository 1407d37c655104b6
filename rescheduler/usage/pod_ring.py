"""The newest samples of all pods, and what each pod used over a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.model.pod import Pod
from rescheduler.model.samples import POD_METRICS, PodSamples
from rescheduler.model.usage import FloatArray
from rescheduler.usage.sample_ring import CLOCK_SKEW_SECONDS, Cells, SampleRing, row_count

MOST_PODS: Final = 500_000
"""Pods kept at once, those gone within the longest window included; further ones are unknown."""

_AT_ONCE: Final = 10_000
"""Pods whose windows are worked out at once: all samples of all pods beside the ring would take tens of megabytes."""


@dataclass(frozen=True, eq=False)
class PodUse:
    """What each of P pods used over one window: by metric float64[P] in its unit (POD_METRICS), NaN where unknown.

    ``measured_at``: float64[P], the source's own time of the newest sample; ``count``: samples in the window, int64[P].
    """

    average: Mapping[str, FloatArray]
    measured_at: FloatArray
    count: IntArray


class PodRing:
    """Ticks of the pods' samples, by namespace and name; not safe to use from two threads at once.

    ``windows``: lengths in seconds; ``interval``: seconds between ticks. A pod that is gone for longer than the longest
    window is forgotten.
    """

    def __init__(self, windows: Sequence[float], interval: float, limit: int = MOST_PODS) -> None:
        """``limit``: most pods kept at once. Raises ValueError for windows that need more rows than can be kept."""
        rows = row_count(max(windows), interval)
        self._ring: SampleRing[tuple[str, str]] = SampleRing(POD_METRICS, rows, limit)

    def append(self, samples: PodSamples, now: float) -> None:
        """Take in one tick; NaN, in values or times, is no sample. What a check distrusts must be NaN already."""
        nothing = np.full(len(samples.pods), np.nan)
        values = np.stack([samples.values.get(metric, nothing) for metric in POD_METRICS])
        self._ring.add(now, samples.pods, values, samples.measured_at, now=now)

    def use(self, pods: Sequence[Pod], windows: Sequence[float], now: float) -> dict[float, PodUse]:
        """Use of these pods over windows that end now, by length, as ``usage_windows`` takes it.

        A sample belongs to a window by the source's own time. What was measured before a pod was created is that of
        an earlier pod of its name and does not count.
        """
        created = np.array([-np.inf if pod.created_at is None else pod.created_at for pod in pods], dtype=np.float64)
        columns = self._ring.find([(pod.namespace, pod.name) for pod in pods])
        since, until = now - max(windows, default=0.0), now + CLOCK_SKEW_SECONDS
        found: dict[float, list[PodUse]] = {seconds: [] for seconds in windows}
        for start in range(0, max(len(pods), 1), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            cells = self._ring.cells(columns[part], since)
            for seconds in windows:
                found[seconds].append(_use(cells, np.maximum(now - seconds, created[part]), until))
        return {seconds: _joined(parts) for seconds, parts in found.items()}


def _joined(parts: Sequence[PodUse]) -> PodUse:
    return PodUse(
        average={metric: np.concatenate([part.average[metric] for part in parts]) for metric in POD_METRICS},
        measured_at=np.concatenate([part.measured_at for part in parts]),
        count=np.concatenate([part.count for part in parts]),
    )


def _use(cells: Cells, since: FloatArray, until: float) -> PodUse:
    """Row by row, since whole arrays of all rows in float64 would take hundreds of megabytes."""
    shape = (len(POD_METRICS), len(since))
    total, counts = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    newest = np.full(len(since), -np.inf)
    for measured_at, values in zip(cells.measured_at, cells.values.swapaxes(0, 1), strict=True):
        is_inside = (measured_at > since) & (measured_at <= until)
        is_sample = is_inside & ~np.isnan(values)
        np.add(total, values, out=total, where=is_sample)
        counts += is_sample
        np.maximum(newest, measured_at, out=newest, where=is_sample.any(axis=0))
    average = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
    return PodUse(
        average=dict(zip(POD_METRICS, average, strict=True)),
        measured_at=np.where(np.isfinite(newest), newest, np.nan),
        count=counts.max(axis=0),
    )
