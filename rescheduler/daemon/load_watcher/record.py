"""One tick of the load watcher as the server looks at it: which windows are filled, and which nodes may be told of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.resources import CPU
from rescheduler.model.usage.predicted_use import REPORTING_SECONDS
from rescheduler.model.usage.trust import Assessment, TrustState
from rescheduler.model.usage.usage import FRESH_SECONDS, Usage
from rescheduler.usage.collecting.collected import Collected

ENOUGH: Final = 0.9
"""A window that is believed of fewer nodes than this share of what another window is believed of is not served."""


class Record:
    """A view of what was collected, with what is worked out once; compared by identity."""

    def __init__(self, collected: Collected) -> None:
        self.collected = collected
        self.nodes = tuple(node.name for node in collected.nodes)
        self._known: dict[int, tuple[BoolArray, BoolArray]] = {}

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Place of each node."""
        return {name: place for place, name in enumerate(self.nodes)}

    @cached_property
    def windows(self) -> Mapping[float, Usage]:
        """Windows that are filled, by length in seconds, the shortest first.

        A window that holds no more samples than the next shorter one adds nothing to it, and is not filled yet.
        """
        known = dict(sorted(self.collected.windows.by_seconds.items()))
        believed = {seconds: int(self.believed(usage).sum()) for seconds, usage in known.items()}
        most = max(believed.values(), default=0)
        found: dict[float, Usage] = {}
        samples = 0.0
        for seconds, usage in known.items():
            more = _sample_count(usage)
            if believed[seconds] and believed[seconds] >= ENOUGH * most and not more <= samples:
                found[seconds] = usage
            samples = max(samples, more) if more == more else samples
        return found

    @cached_property
    def assessment(self) -> Assessment:
        """Trust over the longest window: what no window objects to, this one does not either."""
        usage = max(self.collected.windows.by_seconds.items(), default=(0.0, None))[1]
        return Assessment(()) if usage is None or usage.assessment is None else usage.assessment

    def believed(self, usage: Usage) -> BoolArray:
        """Nodes whose load over a window is trusted, measured, and lately so, bool[N]."""
        found: BoolArray = usage.is_valid & (self.collected.at - usage.window_end <= FRESH_SECONDS)  # NaN: False
        return found

    def told(self, usage: Usage, node: str | None = None) -> tuple[BoolArray, float]:
        """Nodes to tell others of (or one), bool[N], and the one end of the window that stands for all of them.

        The end is the earliest, but at most a reporting interval before the latest. Clients take pods that were bound
        later than this for missing in the load: too early an end counts such pods twice for a while, too late an end
        not at all. A node that is only predicted has a load of 0 and its pods still to be added, so it is told of only
        where the end is early enough for all of them.
        """
        believed, measured = self._parts(usage)
        if node is not None:
            is_asked = np.arange(len(believed)) == self.index.get(node, -1)
            believed, measured = believed & is_asked, measured & is_asked
        ends = usage.window_end[measured if measured.any() else believed]
        if not ends.size:
            return believed, np.nan
        end = float(max(ends.min(), ends.max() - REPORTING_SECONDS))
        return believed & (measured | (usage.window_end >= end)), end

    def _parts(self, usage: Usage) -> tuple[BoolArray, BoolArray]:
        """Nodes that are believed, and those of them that are measured rather than predicted; once for each window."""
        found = self._known.get(id(usage))
        if found is None:
            believed = self.believed(usage)
            found = self._known[id(usage)] = (believed, believed & ~_predicted(usage))
        return found


def _sample_count(usage: Usage) -> float:
    """Samples in a window, of all nodes together; NaN where they were not counted."""
    found = usage.statistics.get(CPU)
    if found is None or not np.isfinite(found.count).any():
        return np.nan
    return float(np.nansum(found.count))


def _predicted(usage: Usage) -> BoolArray:
    trusts = usage.assessment.nodes if usage.assessment is not None else ()
    found = np.zeros(usage.node_count, dtype=np.bool_)
    found[[place for place, trust in enumerate(trusts) if trust.state is TrustState.PREDICTED]] = True
    return found
