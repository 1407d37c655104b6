"""What a node carries, as LowNodeUtilization and HighNodeUtilization judge it: requests, or measured use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Final, NamedTuple, Protocol

from rescheduler.descheduler.cycle import PluginTurn
from rescheduler.descheduler.fitting import used_by
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY, PODS
from rescheduler.model.printable import printable

METRIC_RESOURCE: Final = "MetricResource"
"""The one pseudo resource that usage from Prometheus is measured in."""
KUBERNETES_METRICS: Final = "KubernetesMetrics"
PROMETHEUS: Final = "Prometheus"
_WHOLE: Final = 100  # of the pseudo resource that a node has
_MEASURED: Final = (CPU, MEMORY, PODS)


class UsageFailureError(ReschedulerError):
    """Why a plugin ends with an error instead of judging nodes."""


class TrackedUse(NamedTuple):
    """A node with its size and what is used of it, in millicores or units; ``shares`` in percent of its size."""

    node: Node
    size: Mapping[str, int]
    used: Counter[str]
    shares: Mapping[str, float]

    def is_above(self, bounds: Mapping[str, float]) -> bool:
        """Whether any share is above its bound; a resource that the node lacks counts as 0."""
        return any(self.shares.get(name, 0.0) > bound for name, bound in bounds.items())


class UsageSource(Protocol):
    """``tracked``: resources that are looked at. ``knows_pods``: False where a pod's part is never known."""

    tracked: tuple[str, ...]
    knows_pods: bool

    def of_node(self, node: Node) -> TrackedUse:
        """What a node of the cycle carries. Raises UsageFailureError."""

    def of_pod(self, pod: Pod) -> Mapping[str, int] | None:
        """What goes with a pod; None: nobody knows."""


class Requested(UsageSource):
    """Requests of unfinished pods."""

    knows_pods = True

    def __init__(self, step: PluginTurn, keys: Iterable[str]) -> None:
        self.tracked = tuple(sorted({*keys, *_MEASURED}))
        self._step = step

    def of_node(self, node: Node) -> TrackedUse:
        """See UsageSource."""
        return _tracked(node, dict(node.allocatable or node.capacity), used_by(self._step.pods_on(node)))

    def of_pod(self, pod: Pod) -> Mapping[str, int] | None:
        """See UsageSource."""
        return used_by([pod])


class FromKubernetesMetrics(UsageSource):
    """NodeMetrics and PodMetrics as they are; pods are counted."""

    knows_pods = True

    def __init__(self, step: PluginTurn, keys: Iterable[str]) -> None:
        """Raises UsageFailureError for a resource that is not measured."""
        self._step, self._measured = step, step.cycle.cluster.measured
        others = sorted(set(keys).difference(_MEASURED))
        if others:
            raise UsageFailureError(f"{KUBERNETES_METRICS} does not measure {others[0]}")
        self.tracked = tuple(sorted(_MEASURED))

    def of_node(self, node: Node) -> TrackedUse:
        """See UsageSource."""
        found = self._measured.nodes.get(node.name)
        if found is None:
            raise UsageFailureError(self._measured.problem or f"there are no NodeMetrics of {node.name}")
        size = dict(node.allocatable or node.capacity)
        used = Counter({**found, PODS: len(self._step.pods_on(node))})
        return _tracked(node, {name: amount for name, amount in size.items() if name in _MEASURED}, used)

    def of_pod(self, pod: Pod) -> Mapping[str, int] | None:
        """See UsageSource."""
        found = self._measured.pods.get(pod.key)
        return None if found is None else {**found, PODS: 1}


class FromPrometheus(UsageSource):
    """One number a node, from 0 to 1; what a pod has of it is not known."""

    knows_pods = False
    tracked = (METRIC_RESOURCE,)

    def __init__(self, step: PluginTurn, query: str) -> None:
        """Raises UsageFailureError for an answer that upstream does not take."""
        answer = step.cycle.cluster.measured.answers.get(query)
        if answer is None:
            raise UsageFailureError(f"no answer of {PROMETHEUS} to the query is at hand")
        if answer.problem:
            raise UsageFailureError(answer.problem)
        wrong = sorted(name for name, value in answer.values.items() if not (isfinite(value) and 0 <= value <= 1))
        if wrong:
            raise UsageFailureError(f"the sample of {wrong[0]} is {answer.values[wrong[0]]:g}; wanted one from 0 to 1")
        self._values = answer.values

    def of_node(self, node: Node) -> TrackedUse:
        """See UsageSource."""
        if node.name not in self._values:
            raise UsageFailureError(f"the answer holds no sample of {node.name}")
        used = Counter({METRIC_RESOURCE: int(_WHOLE * self._values[node.name])})
        return _tracked(node, {METRIC_RESOURCE: _WHOLE}, used)

    def of_pod(self, pod: Pod) -> Mapping[str, int] | None:  # noqa: ARG002
        """See UsageSource."""
        return None


def _tracked(node: Node, size: Mapping[str, int], used: Counter[str]) -> TrackedUse:
    shares = {name: 100.0 * used[name] / amount for name, amount in size.items() if amount}
    return TrackedUse(node, size, used, shares)


def measured_source(step: PluginTurn, provider: str, query: str, keys: Iterable[str]) -> UsageSource:
    """The source that ``metricsUtilization`` names. Raises UsageFailureError."""
    if not provider:
        raise UsageFailureError("metricsUtilization names no source")
    if provider not in (KUBERNETES_METRICS, PROMETHEUS):
        raise UsageFailureError(f"there is no source {printable(provider, 60)!r}")
    if provider not in step.cycle.providers:
        raise UsageFailureError(f"no metrics provider gives {provider}")
    return FromPrometheus(step, query) if provider == PROMETHEUS else FromKubernetesMetrics(step, keys)
