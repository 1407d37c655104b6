"""The newest samples of all nodes, kept for as long as the longest window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.objects.pod import Pod
from rescheduler.model.usage.samples import NODE_METRICS, POD_METRICS, NodeSamples, PodSamples
from rescheduler.model.usage.usage import FloatArray
from rescheduler.usage.sample_ring import CLOCK_SKEW_SECONDS, Cells, SampleRing, row_count

# The newest samples of all pods, and what each pod used over a window.

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


class NodeRing:
    """Ticks of the nodes' samples, by node name; a node of another uid than before starts with no history.

    ``windows``: lengths in seconds; ``interval``: seconds between ticks. Nodes may come and go from tick to tick; one
    that comes back within the longest window still has its history. Not safe to use from two threads at once.
    """

    def __init__(self, windows: Sequence[float], interval: float) -> None:
        """Raises ValueError for windows that need more rows than can be kept."""
        self._ring: SampleRing[str] = SampleRing(NODE_METRICS, row_count(max(windows), interval))

    @property
    def newest_time(self) -> float | None:
        """When the newest tick was taken (to back-fill only what is missing since), None if there is none."""
        return self._ring.newest_time

    def append(self, samples: NodeSamples, now: float) -> None:
        """Take in ticks, live, restored or from a provider's history; NaN, in values or times, is no sample.

        What a check distrusts must be NaN already. Later ticks than ``now`` were written before a clock was set back:
        they, and those that the ring holds, are dropped. Metrics besides NODE_METRICS are passed over.
        """
        nothing = np.full(samples.measured_at.shape, np.nan)
        values = np.stack([samples.values.get(metric, nothing) for metric in NODE_METRICS])
        for row, time in enumerate(samples.times.tolist()):
            measured_at = samples.measured_at[row]
            self._ring.add(time, samples.nodes, values[:, row], measured_at, now=now, uids=samples.uids)

    def samples(self, nodes: Sequence[str], since: float = -np.inf) -> NodeSamples:
        """What is kept of these nodes and was measured after ``since``, oldest tick first (values as float32 holds)."""
        found = self.cells(self.find(nodes), since)
        is_late = ~(found.measured_at > since)
        values = np.where(is_late, np.nan, found.values.astype(np.float64))
        by_metric = dict(zip(NODE_METRICS, values, strict=True))
        return NodeSamples(tuple(nodes), found.times, by_metric, np.where(is_late, np.nan, found.measured_at))

    def find(self, nodes: Sequence[str]) -> IntArray:
        """Columns of these nodes, for ``cells``; good until the next ``append``."""
        return self._ring.find(nodes)

    def cells(self, columns: IntArray, since: float) -> Cells:
        """Ticks with any sample measured after ``since``; metrics in the order of NODE_METRICS."""
        return self._ring.cells(columns, since)
