"""Nodes with much and nodes with little on them: relieve the former, or empty the latter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from rescheduler.descheduler.arguments import (
    DeschedulerArguments,
    NamespaceChoice,
    Unsigned,
    refused,
)
from rescheduler.descheduler.cycle import PluginTurn, Reply
from rescheduler.descheduler.fitting import tolerates_all, used_by
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY, PODS
from rescheduler.policy.fields.policy_model import PolicyModel

METRIC_RESOURCE = "MetricResource"
"""The one pseudo resource that usage from Prometheus is measured in."""


# Nodes that carry little or much.


def _percentages(value: object) -> object:
    if isinstance(value, dict):
        for name, share in value.items():
            if isinstance(share, bool) or not isinstance(share, int | float):
                raise refused(f"{name}: not a number; write a percentage such as 20")
            if not 0 <= share <= 100:
                raise refused(f"{name}: {share:g} is no percentage; write one from 0 to 100")
    return value


Percentages = Annotated[dict[str, float], BeforeValidator(_percentages)]


class PrometheusQuery(PolicyModel):
    """Which query gives a node's usage."""

    query: str = ""


class MetricsUtilization(PolicyModel):
    """Where usage is measured, in place of requests."""

    metrics_server: bool = False
    source: Literal["", "KubernetesMetrics", "Prometheus"] = ""
    prometheus: PrometheusQuery | None = None

    @property
    def provider(self) -> str:
        """The source that is meant."""
        return self.source or ("KubernetesMetrics" if self.metrics_server else "")


class EvictionLimits(PolicyModel):
    """Of one run of a plugin."""

    node: Unsigned | None = None


class _UtilizationArguments(DeschedulerArguments):
    thresholds: Percentages = Field(default_factory=dict)
    number_of_nodes: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] = 0
    evictable_namespaces: NamespaceChoice | None = None

    @model_validator(mode="after")
    def _are_complete(self) -> Any:
        if not self.thresholds:
            raise refused("thresholds: missing; write at least one resource with a percentage")
        if self.evictable_namespaces is not None and self.evictable_namespaces.include:
            raise refused("evictableNamespaces.include: only exclude is supported here")
        return self


class LowNodeUtilizationArguments(_UtilizationArguments):
    """Evict from nodes above ``targetThresholds`` as long as there are nodes below ``thresholds``."""

    use_deviation_thresholds: bool = False
    target_thresholds: Percentages = Field(default_factory=dict)
    metrics_utilization: MetricsUtilization | None = None
    eviction_limits: EvictionLimits | None = None

    @model_validator(mode="after")
    def _do_not_cross(self) -> Any:
        if set(self.thresholds) != set(self.target_thresholds):
            raise refused("targetThresholds: other resources than in thresholds; write the same ones")
        for name, low in self.thresholds.items():
            if not self.use_deviation_thresholds and low > self.target_thresholds[name]:
                raise refused(f"thresholds.{name}: {low:g} is above targetThresholds.{name}")
        metrics = self.metrics_utilization
        if metrics is not None and metrics.provider == "Prometheus" and set(self.thresholds) != {METRIC_RESOURCE}:
            raise refused(f"metricsUtilization.source: Prometheus measures {METRIC_RESOURCE} alone; write only that")
        if (
            metrics is not None
            and metrics.provider == "Prometheus"
            and not (metrics.prometheus and metrics.prometheus.query)
        ):
            raise refused("metricsUtilization.prometheus.query: missing")
        return self


class HighNodeUtilizationArguments(_UtilizationArguments):
    """Evict everything from nodes at or below ``thresholds``, as long as others have room."""

    eviction_modes: tuple[Literal["OnlyThresholdingResources"], ...] = ()


class TrackedUse(NamedTuple):
    """A node with its size and what is used of it, in millicores or units; ``shares`` in percent of its size."""

    node: Node
    size: Mapping[str, int]
    used: Counter[str]
    shares: Mapping[str, float]

    def is_above(self, bounds: Mapping[str, float]) -> bool:
        """Whether any share is above its bound; a resource that the node lacks counts as 0."""
        return any(self.shares.get(name, 0.0) > bound for name, bound in bounds.items())


def relieve_high_nodes(step: PluginTurn, arguments: LowNodeUtilizationArguments) -> str:
    """LowNodeUtilization: from nodes above ``targetThresholds``, while those below ``thresholds`` have room."""
    if arguments.metrics_utilization is not None:
        return _without_samples(arguments)
    uses = [_use_of(step, node) for node in step.nodes]
    bounds = {use.node.name: (arguments.thresholds, arguments.target_thresholds) for use in uses}
    if arguments.use_deviation_thresholds:
        means = _means(uses, arguments.thresholds)
        low = {name: _clamped(means.get(name, 0.0) - span) for name, span in arguments.thresholds.items()}
        high = {name: _clamped(means.get(name, 0.0) + span) for name, span in arguments.target_thresholds.items()}
        bounds = {use.node.name: (low, high) for use in uses}
    under = [use for use in uses if not use.node.is_unschedulable and not use.is_above(bounds[use.node.name][0])]
    names = {use.node.name for use in under}
    over = [use for use in uses if use.node.name not in names and use.is_above(bounds[use.node.name][1])]
    message = _why_nothing(under, over, uses, arguments.number_of_nodes, "above targetThresholds")
    if message:
        return message
    limit = None if arguments.eviction_limits is None else arguments.eviction_limits.node
    kept_out = arguments.evictable_namespaces
    flow = _Flow(step, under, lambda use: bounds[use.node.name][1], arguments.thresholds, limit, kept_out)
    for use in sorted(over, key=lambda use: -_weight(flow.tracked, use)):
        caps = _caps(use, bounds[use.node.name][1], flow.tracked)
        pods = [pod for pod in step.pods_on(use.node) if step.evictor.is_evictable(pod)]
        if not flow.evict_from(use, pods, "is above targetThresholds", caps):
            break
    return ""


def vacate_low_nodes(step: PluginTurn, arguments: HighNodeUtilizationArguments) -> str:
    """HighNodeUtilization: everything from nodes at or below ``thresholds``, while the others have room."""
    uses = [_use_of(step, node) for node in step.nodes]
    under = [use for use in uses if not use.is_above(arguments.thresholds)]
    names = {use.node.name for use in under}
    targets = [use for use in uses if use.node.name not in names and not use.node.is_unschedulable]
    message = _why_nothing(under, targets, uses, arguments.number_of_nodes, "to take their pods")
    if message:
        return message
    whole = dict.fromkeys(arguments.thresholds, 100.0)
    flow = _Flow(step, targets, lambda _: whole, arguments.thresholds, None, arguments.evictable_namespaces)
    for use in sorted(under, key=lambda use: _weight(flow.tracked, use)):
        pods = [pod for pod in step.pods_on(use.node) if step.evictor.is_evictable(pod)]
        if arguments.eviction_modes:
            pods = [pod for pod in pods if any(dict(pod.spec.requests).get(name) for name in arguments.thresholds)]
        if not flow.evict_from(use, pods, "is at or below thresholds"):
            break
    return ""


def _without_samples(arguments: LowNodeUtilizationArguments) -> str:
    source = "" if arguments.metrics_utilization is None else arguments.metrics_utilization.provider
    if not source:
        return "metricsUtilization names no source: the plugin ends with an error in every cycle"
    return f"no samples of {source} are at hand: the plugin ends with an error"


def _why_nothing(
    under: Sequence[TrackedUse], others: Sequence[TrackedUse], every: Sequence[TrackedUse], least: int, what: str
) -> str:
    if not under:
        return "no node is below thresholds"
    if len(under) <= least:
        return f"{len(under)} nodes are below thresholds, no more than numberOfNodes ({least})"
    if len(under) == len(every):
        return "all nodes are below thresholds"
    return "" if others else f"no node is there {what}"


def _use_of(step: PluginTurn, node: Node) -> TrackedUse:
    size = dict(node.allocatable or node.capacity)
    used = used_by(step.pods_on(node))
    shares = {name: 100.0 * used[name] / amount for name, amount in size.items() if amount}
    return TrackedUse(node, size, used, shares)


def _means(uses: Sequence[TrackedUse], names: Iterable[str]) -> dict[str, float]:
    """Mean share over the nodes that have a resource."""
    found = {}
    for name in names:
        shares = [use.shares[name] for use in uses if name in use.shares]
        if shares:
            found[name] = sum(shares) / len(shares)
    return found


def _clamped(share: float) -> float:
    return min(100.0, max(0.0, share))


def _caps(use: TrackedUse, bounds: Mapping[str, float], tracked: Iterable[str]) -> dict[str, int]:
    """Up to where a node may be filled, by resource."""
    found = {}
    for name in tracked:
        size = use.size.get(name, 0)
        found[name] = int(bounds[name] * 0.01 * size) if name in bounds else size
    return found


def _weight(tracked: Iterable[str], use: TrackedUse) -> int:
    """Sum of millicores, bytes, pods and the rest: memory decides."""
    return sum(use.used[name] for name in tracked)


class _Flow:
    """Evicts from one node after the other until what the targets can take together is used up."""

    def __init__(
        self,
        step: PluginTurn,
        targets: Sequence[TrackedUse],
        bounds: Callable[[TrackedUse], Mapping[str, float]],
        keys: Iterable[str],
        limit: int | None,
        namespaces: NamespaceChoice | None,
    ) -> None:
        """``bounds``: how far each target may be filled, in percent; ``limit``: evictions from one node."""
        self.tracked = tuple(sorted({*keys, CPU, MEMORY, PODS}))
        self._step = step
        self._targets = targets
        self._limit = limit
        self._namespaces = namespaces
        self._room: Counter[str] = Counter()
        for use in targets:
            for name, cap in _caps(use, bounds(use), self.tracked).items():
                self._room[name] += cap - use.used[name]

    def evict_from(self, use: TrackedUse, pods: Sequence[Pod], why: str, caps: Mapping[str, int] | None = None) -> bool:
        """Until it is at or below its caps (None: to the last pod); False: the limit of the cycle is reached."""
        evicted = 0
        for pod in self._step.lowest_first(pods):
            if not self._goes_on(use, caps) or (self._limit is not None and evicted >= self._limit):
                break
            if not self._may_go(pod):
                continue
            answer = self._step.evict(pod, f"{use.node.name} {why}")
            if answer is Reply.TOTAL_LIMIT:
                return False
            if answer is Reply.NODE_LIMIT:
                break
            if answer is Reply.EVICTED:
                evicted += 1
                amounts = used_by([pod])
                use.used.subtract(amounts)
                self._room.subtract(amounts)
        return True

    def _goes_on(self, use: TrackedUse, caps: Mapping[str, int] | None) -> bool:
        is_needed = caps is None or any(use.used[name] > cap for name, cap in caps.items())
        return is_needed and all(self._room[name] > 0 for name in self.tracked)

    def _may_go(self, pod: Pod) -> bool:
        """Some target's taints are all tolerated; its namespace is not kept out; and the evictor's last question."""
        tolerations = pod.spec.tolerations
        is_welcome = any(
            len(use.node.taints) <= len(tolerations) and tolerates_all(tolerations, use.node.taints)
            for use in self._targets
        )
        is_let_in = self._namespaces is None or self._namespaces.let_in(pod.namespace)
        return is_welcome and is_let_in and self._step.evictor.may_go_now(pod)
