"""What the collector knows after a tick, in one frozen record that other threads may read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from rescheduler.model.node import Node
from rescheduler.model.pod import Pod
from rescheduler.model.trust import Assessment
from rescheduler.model.usage import Departure, FloatArray, UsageWindows
from rescheduler.usage.pod_ring import PodUse
from rescheduler.usage.provider_health import ProviderHealth


class Observed(NamedTuple):
    """The cluster as far as the collector needs it.

    ``pods``: all pods, those without a node too; None where they are not known (no node is predicted then, and no use
    of pods can be told from nodes). ``departures``: pods that we evicted lately. ``touched``: by node, when a move
    last left or reached it, seconds since the epoch.
    """

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...] | None = None
    departures: tuple[Departure, ...] = ()
    touched: Mapping[str, float] = MappingProxyType({})


Observe: TypeAlias = Callable[[], Observed]
"""Looks at the cluster. May raise ClusterError: the collector goes on with what it saw before."""


@dataclass(frozen=True, eq=False)
class Collected:
    """After a tick at ``at`` (seconds since the epoch). Arrays of ``windows`` are aligned with ``nodes`` and ``pods``.

    ``pods``: those known when pods were last asked for; ``pod_use``: their use by window, aligned with them.

    ``measured_at``: float64[N], the source's own time of each node's newest sample, NaN where there is none;
    ``good_for``: seconds for which a sample is good. ``source``: the provider whose samples count; before the first
    answer the first provider where a file had samples, else "". ``overrun_ticks``: ticks left out because earlier ones
    took too long. ``dropped_pods``: pods whose sample could not be, so far. ``cluster_error``, ``store_error``: ""
    where all is well; ``lost_ticks``: never stored.
    """

    at: float
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    pod_use: Mapping[float, PodUse] = field(default_factory=dict)
    windows: UsageWindows = field(default_factory=lambda: UsageWindows({}))
    measured_at: FloatArray | None = None
    good_for: float = 0.0
    source: str = ""
    providers: tuple[ProviderHealth, ...] = ()
    ticks: int = 0
    overrun_ticks: int = 0
    dropped_pods: int = 0
    cluster_error: str = ""
    store_error: str = ""
    store_error_since: float | None = None
    lost_ticks: int = 0

    def assessment(self, seconds: float) -> Assessment | None:
        """Trust over one window, None for a window that is not kept or before the first tick."""
        usage = self.windows.over(seconds)
        return None if usage is None else usage.assessment
