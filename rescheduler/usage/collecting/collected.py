"""What the collector knows after a tick, in one frozen record that other threads may read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.usage.trust import Assessment
from rescheduler.model.usage.usage import Departure, FloatArray, UsageWindows
from rescheduler.usage.collecting.provider_health import ProviderHealth
from rescheduler.usage.rings import PodUse


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


# What has changed from one tick to the next that people should know of, in sentences.


def news(before: Collected, after: Collected) -> Iterator[str]:
    """One sentence for each thing that went wrong, or is well again, since the tick before."""
    earlier = before.providers if before.ticks else tuple(ProviderHealth(one.name) for one in after.providers)
    for old, new in zip(earlier, after.providers, strict=True):
        yield from _changed("", old.error, new.error, f"{new.name}: answers again")
        yield from _changed("", old.distrust, new.distrust, f"{new.name}: its answers are believed again")
        yield from _changed("", old.history_error, new.history_error, "")
        for text in new.warnings:
            if text not in old.warnings:
                yield f"{new.name}: {text}"
    yield from _changed("", before.cluster_error, after.cluster_error, "nodes and pods can be read again")
    yield from _changed("", before.store_error, after.store_error, "samples are kept in the file again")
    yield from _changed("frozen: ", _freeze(before), _freeze(after), "measured load may steer moves again")


def _changed(prefix: str, old: str, new: str, is_well: str) -> Iterator[str]:
    """Only the coming and going is news: the text itself may count seconds."""
    if new and not old:
        yield prefix + new
    elif old and not new and is_well:
        yield is_well


def _freeze(collected: Collected) -> str:
    """Why load over the longest window may steer nothing."""
    windows = collected.windows.by_seconds
    assessment = windows[max(windows)].assessment if windows else None
    return "" if assessment is None else assessment.freeze
