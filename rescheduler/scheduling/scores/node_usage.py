"""Nodes with low and steady measured load, and room in what the pod needs, score higher (Volcano's usage plugin)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement, changes
from rescheduler.model.objects.resources import CPU, MEMORY, QuantityError, requested_amount
from rescheduler.model.printable import shown
from rescheduler.model.usage.demand import MEASURED
from rescheduler.model.usage.predicted_use import bound_at
from rescheduler.model.usage.usage import FloatArray, Usage, UsageWindows, no_usage
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import DurationSeconds, PositiveDurationSeconds
from rescheduler.scheduling.filters.node_usage import UsageThresholds
from rescheduler.scheduling.plugin import PluginSettings, SchedulerScore, Surroundings
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.scoring.node_load import capacities, fraction, nearest
from rescheduler.scheduling.scoring.shadow_load import Estimator, ShadowLoad, is_shadowed, task_status, weighted_load
from rescheduler.scheduling.scoring.usage_arguments import Weight

# Arguments of the usage plugin: its thresholds, its weights, and how it estimates pods.

# Volcano's code reads the average over ten minutes, whatever the design says of five.
_UPSTREAM_PERIOD = 600.0
_UPSTREAM_THRESHOLD = 80
_LARGEST_WEIGHT = 1_000_000
_LARGEST_FACTOR = 100.0
_MEBIBYTE = 1024 * 1024
_NO_WINDOWS: Final = UsageWindows({})


class NodeUsageArguments(PolicyModel):
    """Arguments of the usage plugin: its filter and its score."""

    usage_weight: Weight = 5.0
    """Weight of the score among the scheduler's plugins."""
    cpu_weight: Weight = 1.0
    """Weight of cpu in a node's load."""
    memory_weight: Weight = 1.0
    """Weight of memory in a node's load."""
    enable_predicate: bool = True
    """False: thresholds filter nothing."""
    thresholds: Annotated[tuple[UsageThresholds, ...], Field(strict=False)] = ()
    """Loads above which a node takes no further pods; none: any load will do."""
    period: PositiveDurationSeconds = 300.0
    """Window of the load that is scored."""
    interval: DurationSeconds = 30.0
    """How late metrics are: pods that run for less are estimated."""
    load_weight: Weight = 1.0
    """Weight of low load in the score."""
    fluctuation_weight: Weight = 0.0
    """Weight of steady load in the score."""
    dimension_weight: Weight = 0.0
    """Weight in the score of room in the resources that the pod mostly asks for."""
    estimator: Estimator = Estimator()
    """How pods are estimated that metrics do not show yet."""
    upstream_compatible: bool = False
    """As Volcano itself: a window of 10m, thresholds of 80 % unless given, and no pod is taken off that leaves."""

    @model_validator(mode="after")
    def _some_weight(self) -> NodeUsageArguments:
        if not any(self.factor_weights):
            raise PydanticCustomError(
                "no_weight", "loadWeight, fluctuationWeight and dimensionWeight are all 0; give one of them a weight"
            )
        return self

    @property
    def factor_weights(self) -> tuple[float, float, float]:
        """Weights of load, fluctuation and dimension."""
        return self.load_weight, self.fluctuation_weight, self.dimension_weight

    @property
    def active_thresholds(self) -> tuple[UsageThresholds, ...]:
        """What the filter goes by."""
        if not self.enable_predicate:
            return ()
        if not self.upstream_compatible:
            return self.thresholds
        given = self.thresholds or (UsageThresholds(cpu=_UPSTREAM_THRESHOLD, memory=_UPSTREAM_THRESHOLD),)
        return tuple(item.model_copy(update={"period": _UPSTREAM_PERIOD}) for item in given)

    @property
    def scored_period(self) -> float:
        """Length in seconds of the window that is scored."""
        return _UPSTREAM_PERIOD if self.upstream_compatible else self.period


@dataclass(frozen=True)
class NodeUsage(SchedulerScore):
    """Weighted mean of free load, steadiness, and room in the pod's own dimension; 0 where metrics are stale."""

    windows: UsageWindows = _NO_WINDOWS
    arguments: NodeUsageArguments = field(default_factory=NodeUsageArguments)
    name = "NodeUsage"
    stands_at = ()
    goes_by_load = True

    @classmethod
    def read_volcano(cls, fields: Fields, interval_seconds: float) -> PluginSettings:
        """What Volcano goes by, value by value; what it corrects is told in warnings."""
        weight = _weight(fields, "usage.weight", 5)
        arguments = NodeUsageArguments(
            usage_weight=float(weight),
            cpu_weight=float(_weight(fields, "cpu.weight", 1)),
            memory_weight=float(_weight(fields, "memory.weight", 1)),
            interval=interval_seconds,
            estimator=_estimator(fields.child("estimator")),
            upstream_compatible=True,
        )
        threshold = _threshold(fields)
        fields.warn_unread("Volcano")
        return PluginSettings(cls(arguments=arguments), weight=weight, profile={"usage_threshold": threshold})

    def fitted(self, surroundings: Surroundings) -> NodeUsage:
        """By measured load, or by requests where no provider is set."""
        if surroundings.windows is not None:
            return replace(self, windows=surroundings.windows)
        return replace(self, arguments=self.arguments.model_copy(update={"upstream_compatible": False}))

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node, 0 to 100; no normalisation."""
        mixed = factor_score(*self._factors(pod, placement), self.arguments.factor_weights)
        # Percentages such as 57.5 have no exact binary form: the last digits must not decide.
        return np.where(self._is_fresh(placement.columns), nearest(mixed.round(9)), 0)

    def order(self, pod: int, placement: Placement) -> FloatArray:
        """Volcano's own number for each node: load alone, 0 to 100 times the plugin's weight, float64[N]."""
        points = node_order(self.composites(placement, without=pod), self._weights, self.arguments.usage_weight)
        return np.where(self._is_fresh(placement.columns), points, 0.0)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Free load, steadiness and room in the pod's dimension with their weights, and the mean of the three."""
        scores, is_fresh = self.score(pod, placement, feasible), self._is_fresh(placement.columns)
        free, steadiness, room = self._factors(pod, placement)
        cpu, memory = self.composites(placement, without=pod)
        weights = " : ".join(f"{weight:g}" for weight in self.arguments.factor_weights)
        return [
            f"{free[node]:.1%} of load free (cpu {cpu[node]:.1%} and memory {memory[node]:.1%} in use), steadiness "
            f"{steadiness[node]:.1%}, room for this pod {room[node]:.1%}; mean weighed {weights} = {scores[node]}"
            if is_fresh[node]
            else f"the node has no fresh metrics: {scores[node]}"
            for node in nodes
        ]

    def composites(self, placement: Placement, without: int = NOWHERE) -> FloatArray:
        """Shares of cpu and memory in use, estimates of unseen pods included, 0 to 1, float64[2, N]."""
        columns = placement.columns
        shadow = columns.facts(InitialShadow(self.arguments, self._usage(columns.node_count))).copy()
        changed = changes(placement, without)
        for pod, node in zip(changed.left.tolist(), changed.left_nodes.tolist(), strict=True):
            if shadow.counts(pod, node):
                shadow.remove(pod, node)
            elif not self.arguments.upstream_compatible:
                shadow.take_off(node, self.use_of(pod, columns))
        for pod, node in zip(changed.arrived.tolist(), changed.arrived_nodes.tolist(), strict=True):
            shadow.add(pod, node, columns.cluster.pods[pod].spec)
        return shadow.composites()

    def use_of(self, pod: int, columns: Columns) -> tuple[float, float]:
        """Measured cpu (millicores) and memory (bytes) of a pod, estimated where unknown."""
        found = list(self.arguments.estimator.of(columns.cluster.pods[pod].spec, 1.0))
        for row, resource in enumerate(MEASURED):
            own = self._usage(columns.node_count).pod_use.get(resource)
            if own is not None and np.isfinite(own[pod]) and own[pod] >= 0:
                found[row] = float(own[pod])
        return found[0], found[1]

    @property
    def _weights(self) -> tuple[float, float]:
        return self.arguments.cpu_weight, self.arguments.memory_weight

    def _usage(self, node_count: int) -> Usage:
        return self.windows.over(self.arguments.scored_period) or no_usage(node_count)

    def _is_fresh(self, columns: Columns) -> BoolArray:
        """Nodes with metrics to go by. To Volcano a missing value is a load of 0; here it is no value."""
        usage = self._usage(columns.node_count)
        fresh = usage.is_fresh(columns.cluster.taken_at)
        if not self.arguments.upstream_compatible:
            for resource, weight in zip(MEASURED, self._weights, strict=True):
                if weight:
                    fresh &= ~np.isnan(usage.percent(resource))
        return fresh

    def _factors(self, pod: int, placement: Placement) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Free load, steadiness and room in the pod's dimension, 0 to 1, float64[N] each."""
        columns = placement.columns
        shares = self.composites(placement, without=pod)
        free = 1 - weighted_load(shares[0], shares[1], self._weights) if any(self._weights) else 0 * shares[0]
        usage = self._usage(columns.node_count)
        ranges = np.stack([usage.fluctuation(resource) for resource in MEASURED])
        dominant = np.where(shares[0] >= shares[1], ranges[0], ranges[1])
        steadiness = np.where(np.isnan(dominant), 0.0, 1 - np.minimum(np.nan_to_num(dominant) / 100, 1.0))
        return free, steadiness, dimension_room(pod_shares(pod, columns), shares)


@dataclass(frozen=True)
class InitialShadow:
    """Estimates for the pods of the snapshot, a fact of columns."""

    arguments: NodeUsageArguments
    usage: Usage

    def __call__(self, columns: Columns) -> ShadowLoad:
        """Add the pods that metrics cannot show, in the order in which they were bound."""
        real = np.stack([np.nan_to_num(self.usage.percent(resource)) / 100 for resource in MEASURED])
        known = columns.facts(capacities)
        capacity = np.stack([known[resource] for resource in MEASURED])
        weights = (self.arguments.cpu_weight, self.arguments.memory_weight)
        shadow = ShadowLoad(self.arguments.estimator, real, capacity, weights)
        pods = columns.cluster.pods
        for number in sorted(range(len(pods)), key=lambda number: (bound_at(pods[number]), number)):
            node, pod = int(columns.initial_node_of[number]), pods[number]
            age = None if pod.started_at is None else columns.cluster.taken_at - pod.started_at
            if node != NOWHERE and is_shadowed(
                task_status(pod), has_node=True, running_seconds=age, delay_seconds=self.arguments.interval
            ):
                shadow.add(number, node, pod.spec)
        return shadow


def node_order(shares: FloatArray, weights: tuple[float, float], usage_weight: float) -> FloatArray:
    """``100 * usage_weight`` times the weighted free share, float64[N]; 0 where both weights are 0."""
    if not any(weights):
        return np.zeros(shares.shape[1])
    return 100 * usage_weight * (1 - weighted_load(shares[0], shares[1], weights))


def pod_shares(pod: int, columns: Columns) -> FloatArray:
    """What part of the pod's demand is cpu and what memory, on each node, float64[2, N]; halves without requests."""
    known = columns.facts(capacities)
    rows = [columns.resource_index[resource] for resource in MEASURED]
    asked = columns.requests[rows, columns.shape_of[pod]]
    width = columns.node_count
    parts = np.stack(
        [fraction(np.full(width, float(asked[row])), known[resource]) for row, resource in enumerate(MEASURED)]
    )
    total = parts.sum(axis=0)
    shares: FloatArray = np.divide(parts, total, out=np.full((2, width), 0.5), where=total > 0)
    return shares


def dimension_room(pod: FloatArray, shares: FloatArray) -> FloatArray:
    """Free share of each node, weighed by what the pod asks for, 0 to 1, float64[N]."""
    room: FloatArray = 1 - (pod * shares).sum(axis=0)
    return room


def factor_score(
    free: FloatArray, steadiness: FloatArray, room: FloatArray, weights: tuple[float, float, float]
) -> FloatArray:
    """Weighted mean of the three factors times 100, float64[N]."""
    return 100 * (weights[0] * free + weights[1] * steadiness + weights[2] * room) / sum(weights)


def _weight(fields: Fields, name: str, default: int) -> int:
    value = fields.integer(name, default)
    if value < 0:
        fields.findings.warn(fields.at(name), f"found {value}; Volcano goes by its default, {default}")
        return default
    return min(value, _LARGEST_WEIGHT)


def _threshold(fields: Fields) -> UsageThresholds:
    thresholds = fields.child("thresholds")
    if not fields.has("thresholds"):
        text = f"no thresholds; Volcano filters at cpu {_UPSTREAM_THRESHOLD} and mem {_UPSTREAM_THRESHOLD} all the same"
        fields.findings.warn(fields.path, text)
    found = [_percent(thresholds, name) for name in ("cpu", "mem")]
    thresholds.warn_unread("Volcano")
    return UsageThresholds(cpu=float(found[0]), memory=float(found[1]), period=_UPSTREAM_PERIOD)


def _percent(fields: Fields, name: str) -> int:
    value = fields.integer(name, _UPSTREAM_THRESHOLD)
    if 0 <= value <= 100:
        return value
    fields.findings.warn(
        fields.at(name), f"found {value}, not within 0 to 100; Volcano goes by its default, {_UPSTREAM_THRESHOLD}"
    )
    return _UPSTREAM_THRESHOLD


def _estimator(fields: Fields) -> Estimator:
    default = Estimator()
    found = Estimator(
        request_ratio=_bounded(fields, "request_ratio", default.request_ratio, 0.0, 1.0),
        burst_ratio=_bounded(fields, "burst_ratio", default.burst_ratio, 0.0, 1.0),
        risk_threshold=_bounded(fields, "risk_threshold", default.risk_threshold, 0.0, 1.0),
        risk_factor=min(_bounded(fields, "risk_factor", default.risk_factor, 1.0, math.inf), _LARGEST_FACTOR),
        best_effort_cpu=_amount(fields, "be_cpu", CPU, default.best_effort_cpu),
        best_effort_memory=_amount(fields, "be_mem", MEMORY, default.best_effort_memory),
    )
    fields.warn_unread("Volcano")
    return found


def _bounded(fields: Fields, name: str, default: float, low: float, high: float) -> float:
    value = fields.number(name, default)
    if low <= value <= high:
        return value
    wanted = f"within {low:g} to {high:g}" if math.isfinite(high) else f"{low:g} or more"
    fields.findings.warn(fields.at(name), f"found {value:g}, not {wanted}; Volcano goes by its default, {default:g}")
    return default


def _amount(fields: Fields, name: str, resource: str, default: str) -> str:
    """A quantity in quotes, or a whole number of millicores or of mebibytes."""
    value: Any = fields.raw(name)
    if value is None:
        return default
    text = shown(value) if isinstance(value, bool | dict | list) else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        text = f"{value}m" if resource == CPU else str(value * _MEBIBYTE)
    try:
        requested_amount(resource, text)
    except QuantityError as error:
        fields.findings.warn(fields.at(name), f"{error}; Volcano goes by its default, {default}")
        return default
    return text
