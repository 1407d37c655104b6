"""Nodes with much and nodes with little on them: relieve the former, or empty the latter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from rescheduler.descheduler.arguments import (
    DeschedulerArguments,
    NamespaceChoice,
    Unsigned,
    refused,
)
from rescheduler.descheduler.cycle import PluginTurn, Reply
from rescheduler.descheduler.fitting import tolerates_all
from rescheduler.descheduler.plugins.usage_sources import (
    KUBERNETES_METRICS,
    METRIC_RESOURCE,
    PROMETHEUS,
    Requested,
    TrackedUse,
    UsageFailureError,
    UsageSource,
    measured_source,
)
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.policy_model import PolicyModel

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
    source: str = ""
    prometheus: PrometheusQuery | None = None

    @model_validator(mode="after")
    def _is_one(self) -> MetricsUtilization:
        if self.source == KUBERNETES_METRICS and self.metrics_server:
            raise refused(f"both source: {KUBERNETES_METRICS} and metricsServer; write source alone")
        if self.source == KUBERNETES_METRICS and self.prometheus is not None:
            raise refused(f"prometheus beside source: {KUBERNETES_METRICS}; leave it out")
        if self.source == PROMETHEUS and not (self.prometheus and self.prometheus.query):
            raise refused("prometheus.query: missing")
        return self

    @property
    def provider(self) -> str:
        """The source that is asked."""
        return KUBERNETES_METRICS if self.metrics_server else self.source


class EvictionLimits(PolicyModel):
    """Of one run of a plugin."""

    node: Unsigned | None = None


class _UtilizationArguments(DeschedulerArguments):
    thresholds: Percentages = Field(default_factory=dict)
    number_of_nodes: Annotated[int, Field(ge=-(2**63), le=2**63 - 1)] = 0
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
        if metrics is not None and metrics.source == PROMETHEUS and set(self.thresholds) != {METRIC_RESOURCE}:
            raise refused(f"metricsUtilization.source: {PROMETHEUS} measures {METRIC_RESOURCE} alone; write only that")
        return self


class HighNodeUtilizationArguments(_UtilizationArguments):
    """Evict everything from nodes at or below ``thresholds``, as long as others have room."""

    eviction_modes: tuple[Literal["OnlyThresholdingResources"], ...] = ()


class Judged(NamedTuple):
    """Which nodes a plugin takes pods from, and which are thought to take them.

    ``bounds``: up to where a target may be filled, in percent. ``message``: why nothing is done; "": it is.
    ``source``: None where it could not be asked.
    """

    source: UsageSource | None
    uses: list[TrackedUse]
    sources: list[TrackedUse]
    targets: list[TrackedUse]
    bounds: Mapping[str, float]
    message: str


def judge_for_relief(step: PluginTurn, arguments: LowNodeUtilizationArguments) -> Judged:
    """LowNodeUtilization: nodes above ``targetThresholds``, and those below ``thresholds``."""
    try:
        source = _source_of(step, arguments)
        uses = [source.of_node(node) for node in step.nodes]
    except UsageFailureError as error:
        return Judged(None, [], [], [], {}, f"{error}: the plugin ends with an error")
    low, high = dict(arguments.thresholds), dict(arguments.target_thresholds)
    if arguments.use_deviation_thresholds:
        means = _means(uses, arguments.thresholds)
        low = {name: _clamped(means.get(name, 0.0) - span) for name, span in low.items()}
        high = {name: _clamped(means.get(name, 0.0) + span) for name, span in high.items()}
    under = [use for use in uses if not use.node.is_unschedulable and not use.is_above(low)]
    names = {use.node.name for use in under}
    over = [use for use in uses if use.node.name not in names and use.is_above(high)]
    message = _why_nothing(under, over, uses, arguments.number_of_nodes, "above targetThresholds")
    return Judged(source, uses, over, under, high, message)


def relieve_high_nodes(step: PluginTurn, arguments: LowNodeUtilizationArguments) -> str:
    """LowNodeUtilization: from nodes above ``targetThresholds``, while those below ``thresholds`` have room."""
    judged = judge_for_relief(step, arguments)
    if judged.source is None or judged.message:
        return judged.message
    limit = None if arguments.eviction_limits is None else arguments.eviction_limits.node
    flow = _Flow(step, judged, judged.source, limit, arguments.evictable_namespaces)
    for use in sorted(judged.sources, key=lambda use: -_weight(flow.tracked, use)):
        caps = _caps(use, judged.bounds, flow.tracked)
        pods = [pod for pod in step.pods_on(use.node) if step.evictor.is_evictable(pod)]
        if not flow.evict_from(use, pods, "is above targetThresholds", caps):
            break
    return ""


def judge_for_vacating(step: PluginTurn, arguments: HighNodeUtilizationArguments) -> Judged:
    """HighNodeUtilization: nodes at or below ``thresholds``, and the others."""
    source = Requested(step, arguments.thresholds)
    uses = [source.of_node(node) for node in step.nodes]
    under = [use for use in uses if not use.is_above(arguments.thresholds)]
    names = {use.node.name for use in under}
    targets = [use for use in uses if use.node.name not in names and not use.node.is_unschedulable]
    message = _why_nothing(under, targets, uses, arguments.number_of_nodes, "to take their pods")
    return Judged(source, uses, under, targets, dict.fromkeys(arguments.thresholds, 100.0), message)


def vacate_low_nodes(step: PluginTurn, arguments: HighNodeUtilizationArguments) -> str:
    """HighNodeUtilization: everything from nodes at or below ``thresholds``, while the others have room."""
    judged = judge_for_vacating(step, arguments)
    if judged.source is None or judged.message:
        return judged.message
    flow = _Flow(step, judged, judged.source, None, arguments.evictable_namespaces)
    for use in sorted(judged.sources, key=lambda use: _weight(flow.tracked, use)):
        pods = [
            pod for pod in step.pods_on(use.node) if step.evictor.is_evictable(pod) and is_of_interest(pod, arguments)
        ]
        if not flow.evict_from(use, pods, "is at or below thresholds"):
            break
    return ""


def is_of_interest(pod: Pod, arguments: HighNodeUtilizationArguments) -> bool:
    """Under OnlyThresholdingResources, whether a pod asks for one of the resources."""
    return not arguments.eviction_modes or any(dict(pod.spec.requests).get(name) for name in arguments.thresholds)


def _source_of(step: PluginTurn, arguments: LowNodeUtilizationArguments) -> UsageSource:
    metrics = arguments.metrics_utilization
    if metrics is None:
        return Requested(step, arguments.thresholds)
    query = "" if metrics.prometheus is None else metrics.prometheus.query
    return measured_source(step, metrics.provider, query, arguments.thresholds)


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
        judged: Judged,
        source: UsageSource,
        limit: int | None,
        namespaces: NamespaceChoice | None,
    ) -> None:
        """``limit``: evictions from one node."""
        self.tracked = source.tracked
        self._source = source
        self._step = step
        self._targets = judged.targets
        self._limit = limit
        self._namespaces = namespaces
        self._room: Counter[str] = Counter()
        for use in judged.targets:
            for name, cap in _caps(use, judged.bounds, self.tracked).items():
                self._room[name] += cap - use.used[name]

    def evict_from(self, use: TrackedUse, pods: Sequence[Pod], why: str, caps: Mapping[str, int] | None = None) -> bool:
        """Until it is at or below its caps (None: to the last pod); False: the limit of the cycle is reached."""
        evicted = 0
        limit = self._limit if self._source.knows_pods or self._limit is not None else 1
        goes_on = self._goes_on(use, caps)
        for pod in self._step.lowest_first(pods):
            if not goes_on or (limit is not None and evicted >= limit):
                break
            amounts = self._source.of_pod(pod)
            if not self._may_go(pod) or (amounts is None and self._source.knows_pods):
                continue
            answer = self._step.evict(pod, f"{use.node.name} {why}")
            if answer is Reply.TOTAL_LIMIT:
                return False
            if answer is Reply.NODE_LIMIT:
                break
            if answer is Reply.EVICTED:
                evicted += 1
                if amounts is not None:
                    use.used.subtract(amounts)
                    self._room.subtract(amounts)
                    goes_on = self._goes_on(use, caps)
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
