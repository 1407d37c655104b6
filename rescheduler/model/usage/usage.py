"""Observed load of nodes and pods over one window, as arrays, with what may be trusted of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.pod import PodSpec
from rescheduler.model.usage.trust import Assessment

FloatArray: TypeAlias = npt.NDArray[np.float64]

FRESH_SECONDS: Final = 300.0
"""A window that ended longer ago than this says nothing about now."""
_LEFT_OUT: Final[FloatArray] = np.empty(0)


def _left_out() -> FloatArray:
    return _LEFT_OUT


@dataclass(frozen=True, eq=False)
class Statistics:
    """One resource over the window, float64[N] each, in percent of the node's capacity; NaN where unknown.

    Network is in bytes per second, having no capacity. ``p50`` to ``p99``: nearest-rank percentiles; ``count``: samples
    in the window; ``measured_at``: the source's own time of the latest. Those left out are unknown.
    """

    average: FloatArray
    deviation: FloatArray
    latest: FloatArray
    maximum: FloatArray
    minimum: FloatArray
    p50: FloatArray = field(default_factory=_left_out)
    p90: FloatArray = field(default_factory=_left_out)
    p95: FloatArray = field(default_factory=_left_out)
    p99: FloatArray = field(default_factory=_left_out)
    count: FloatArray = field(default_factory=_left_out)
    measured_at: FloatArray = field(default_factory=_left_out)

    def __post_init__(self) -> None:
        """Make every array that was left out as long as the others."""
        for item in fields(self):
            if getattr(self, item.name) is _LEFT_OUT:
                object.__setattr__(self, item.name, np.full(len(self.average), np.nan))


class Departure(NamedTuple):
    """A pod that has left a node (we evicted it, say) and is in the snapshot no more, though its load may be."""

    node: str
    left_at: float
    spec: PodSpec


@dataclass(frozen=True, eq=False)
class Usage:
    """Load of each node, aligned with ``Cluster.nodes``; windows may differ from node to node.

    ``window_end``: float64[N], seconds since the epoch, NaN where nothing was measured; ``window_seconds``: float64[N];
    ``is_valid``: bool[N], False where the load is not known to be true; whether it may steer a move of ours is for
    ``assessment`` to say (a settling node is measured well, and must not). ``pod_use``: float64[P] by resource, aligned
    with ``Cluster.pods``, in millicores or bytes, NaN where unknown. Compared by identity.
    """

    statistics: Mapping[str, Statistics]
    window_end: FloatArray
    window_seconds: FloatArray
    is_valid: BoolArray
    pod_use: Mapping[str, FloatArray] = field(default_factory=dict)
    departures: tuple[Departure, ...] = ()
    assessment: Assessment | None = None
    """Why each node is valid or not; None for load that nobody assessed (a report of somebody else's)."""

    def __post_init__(self) -> None:
        """Raise ValueError for arrays that do not cover the same nodes."""
        width = self.node_count
        arrays = {"window_seconds": self.window_seconds, "is_valid": self.is_valid}
        for resource, found in self.statistics.items():
            arrays.update({f"{resource} {name}": values for name, values in vars(found).items()})
        for name, values in arrays.items():
            if len(values) != width:
                raise ValueError(f"usage: {name} covers {len(values)} nodes, but window_end covers {width}")

    @property
    def node_count(self) -> int:
        """N."""
        return len(self.window_end)

    def is_fresh(self, now: float) -> BoolArray:
        """Nodes whose window is valid and ended at most FRESH_SECONDS ago, bool[N]."""
        return self.is_valid & (now - self.window_end <= FRESH_SECONDS)

    def percent(self, resource: str) -> FloatArray:
        """Average load, else the latest, 0 to 100, float64[N]; NaN where unknown or no possible value."""
        found = self.statistics.get(resource)
        if found is None:
            return np.full(self.node_count, np.nan)
        average = possible_percent(found.average)
        return np.where(np.isnan(average), possible_percent(found.latest), average)

    def deviation(self, resource: str) -> FloatArray:
        """Standard deviation in percent of capacity, float64[N]; 0 where none is known."""
        found = self.statistics.get(resource)
        return np.zeros(self.node_count) if found is None else np.nan_to_num(possible_percent(found.deviation))

    def fluctuation(self, resource: str) -> FloatArray:
        """Largest less least load of the window in percentage points, float64[N]; NaN where unknown."""
        found = self.statistics.get(resource)
        if found is None:
            return np.full(self.node_count, np.nan)
        return np.maximum(possible_percent(found.maximum) - possible_percent(found.minimum), 0.0)


@dataclass(frozen=True, eq=False)
class UsageWindows:
    """Usage of the same nodes over windows of several lengths."""

    by_seconds: Mapping[float, Usage]

    def over(self, seconds: float) -> Usage | None:
        """The window of exactly this length, None where there is none."""
        return self.by_seconds.get(seconds)


def possible_percent(values: FloatArray) -> FloatArray:
    """Values above 100 become 100; negative, infinite and undefined ones become NaN."""
    is_possible = np.isfinite(values) & (values >= 0)
    return np.minimum(np.where(is_possible, values, np.nan), 100.0)


def no_usage(node_count: int) -> Usage:
    """What is known where no provider answers: nothing."""
    unknown = np.full(node_count, np.nan)
    return Usage({}, unknown, np.zeros(node_count), np.zeros(node_count, dtype=np.bool_))
