"""Measured load for predictions: from a recording, aligned with the nodes and pods of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import ceil, nan
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.printable import first_few, printable
from rescheduler.model.usage.load_report import LoadReport, unusable_values
from rescheduler.model.usage.usage import FRESH_SECONDS, FloatArray, Usage, UsageWindows, possible_percent
from rescheduler.model.usage.usage_readings import Reading, statistics_of, usage_of
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.values import format_duration
from rescheduler.scheduling.schedulers import MeasuredLoad

_MOST_NAMED: Final = 5


class OneWindow(UsageWindows):
    """One window that stands in for those of every length."""

    def over(self, seconds: float) -> Usage | None:  # noqa: ARG002 - any length
        """The one window."""
        return next(iter(self.by_seconds.values()))


def usage_windows(cluster: Cluster, policy: Policy, recorded: LoadReport | None) -> UsageWindows | None:  # noqa: ARG001
    """Measured load of a snapshot's nodes and pods; None where nothing is measured.

    A recording stands in for every provider and, having one window only, for windows of every length.
    """
    if recorded is None:
        return None
    names = [node.name for node in cluster.nodes]
    usage = usage_of(names, recorded.nodes, recorded.window_end, recorded.window_seconds)
    return OneWindow({recorded.window_seconds: replace(usage, pod_use=_pod_use(cluster, recorded.pods))})


@dataclass(frozen=True)
class PolicyLoad(MeasuredLoad):
    """Load as the policy and a recording (``--usage``) give it; ``source``: the recording's name in messages."""

    policy: Policy
    recorded: LoadReport | None = None
    source: str = ""
    _known: WeakKeyDictionary[Cluster, UsageWindows | None] = field(default_factory=WeakKeyDictionary, repr=False)

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """See ``usage_windows``; once for each snapshot."""
        if cluster not in self._known:
            self._known[cluster] = usage_windows(cluster, self.policy, self.recorded)
        return self._known[cluster]

    def warnings(self, cluster: Cluster) -> Sequence[str]:
        """Nodes that are not known, nodes without metrics, a window that has long ended."""
        if self.recorded is None:
            return ()
        return [f"{self.source}: {text}" for text in _warnings(cluster, self.recorded)]


@dataclass(frozen=True)
class LoadAtRest(MeasuredLoad):
    """Load that stays as it was at one time, however late a snapshot is: an embedded cluster measures nothing new."""

    load: MeasuredLoad
    since: float
    caution: str = "the measured load is that of the first cycle: it does not follow the pods that moved since"

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """The load, its windows moved on by the time that has passed."""
        found = self.load.windows(cluster)
        passed = cluster.taken_at - self.since
        if found is None or not passed:
            return found
        moved = {seconds: replace(usage, window_end=usage.window_end + passed)
                 for seconds, usage in found.by_seconds.items()}  # fmt: skip
        return replace(found, by_seconds=moved)

    def warnings(self, cluster: Cluster) -> Sequence[str]:
        """As they were, and that the load does not follow the pods."""
        told = self.load.warnings(replace(cluster, taken_at=self.since))
        if cluster.taken_at == self.since or self.windows(cluster) is None:
            return told
        return (*told, self.caution)


def _pod_use(cluster: Cluster, readings: Mapping[str, Sequence[Reading]]) -> dict[str, FloatArray]:
    """Use of each pod in millicores and bytes, from percent of its node's capacity; NaN where unknown."""
    if not readings:
        return {}
    found = [(pod.node_name, readings.get(pod.key, ())) for pod in cluster.pods]
    return {
        resource: np.array([_amount(cluster, node, of_pod, resource) for node, of_pod in found])
        for resource in (CPU, MEMORY)
    }


def _amount(cluster: Cluster, node_name: str | None, readings: Sequence[Reading], resource: str) -> float:
    node = cluster.node_by_name.get(node_name or "")
    if node is None or not readings:
        return nan
    found = statistics_of(readings, resource)
    percent = float(possible_percent(np.array(found.get("average", found.get("latest", nan)))))
    return percent / 100 * dict(node.capacity or node.allocatable).get(resource, nan)


def _warnings(cluster: Cluster, recorded: LoadReport) -> Iterator[str]:
    unknown = [name for name in recorded.nodes if name not in cluster.node_by_name]
    if unknown:
        yield f"the cluster has no node {_named(unknown)}; their load is left out"
    lost = [pod for pod in recorded.pods if pod not in cluster.pod_by_key]
    if lost:
        yield f"the cluster has no pod {_named(lost)}; their load is left out"
    usable = (node.name for node in cluster.nodes if node.problem is None and not node.is_virtual)
    bare = [name for name in usable if not _tells(recorded.nodes.get(name, ()))]
    if bare:
        yield f"no usable cpu or memory load for node {_named(bare)}; it counts as unknown"
    age = cluster.taken_at - recorded.window_end
    told, limit = _told(abs(age)), format_duration(FRESH_SECONDS)
    if age > FRESH_SECONDS:
        yield f"its window ended {told} before the snapshot was taken, over {limit} ago: the load counts as unknown"
    elif age < -FRESH_SECONDS and cluster.taken_at > 0:
        yield f"its window ended {told} after the snapshot was taken; it is believed all the same"


def _told(seconds: float) -> str:
    """An age in minutes, from two days on in days."""
    days = seconds / 86400
    return f"{days:,.0f} days" if days >= 2 else format_duration(60.0 * ceil(seconds / 60))


def _tells(readings: Sequence[Reading]) -> bool:
    return any(statistics_of(readings, resource) for resource in (CPU, MEMORY))


def _named(names: Iterable[str]) -> str:
    return first_few([printable(name, 80) for name in sorted(names)], _MOST_NAMED)


# Load from a recording that tells of the values in it that cannot be used.

_MOST_VALUES_NAMED = 5


@dataclass(frozen=True)
class RecordedLoad(PolicyLoad):
    """``PolicyLoad`` of a recording, with one line more where values are undefined, infinite or negative."""

    def warnings(self, cluster: Cluster) -> Sequence[str]:
        """What of the recording cannot be used for this snapshot."""
        return [*_about_values(self.recorded, self.source), *super().warnings(cluster)]


def _about_values(recorded: LoadReport | None, source: str) -> Iterator[str]:
    values = unusable_values(recorded) if recorded is not None else iter(())
    named = list(islice(values, _MOST_VALUES_NAMED))
    if named:
        more = sum(1 for _ in values)
        told = ", ".join(named) + (f" and {more} more" if more else "")
        yield f"{source}: {told}: wanted percentages of 0 or more; such values count as unknown"
