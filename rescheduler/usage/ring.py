"""The newest samples of all nodes, kept for as long as the longest window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.model.samples import NODE_METRICS, NodeSamples
from rescheduler.usage.sample_ring import Cells, SampleRing, row_count


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
