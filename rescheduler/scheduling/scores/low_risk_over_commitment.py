"""Nodes on which pods are less likely to be short of what their limits promise score higher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement, placed_totals
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.demand import MEASURED, trimaran_demands
from rescheduler.model.usage.usage import FloatArray
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import quoted
from rescheduler.scheduling.scoring.beta_distribution import fitted, largest_variance, probability_below
from rescheduler.scheduling.scoring.load_score import LoadScore
from rescheduler.scheduling.scoring.node_load import NodeLoads, fraction, nearest
from rescheduler.scheduling.scoring.usage_arguments import PredictionArguments, Share

# The risk that pods on a node use more than it has: from their limits, and from the load seen so far.

# The fit needs a variance strictly below the largest possible one.
_VARIANCE_CEILING = 0.99
_DEFAULT_WINDOW = 5
_LARGEST_WINDOW = 1_000_000


class Commitment(NamedTuple):
    """One resource of all nodes, int64[N] each: requests and limits with the pod, the same without it, and what the
    node offers. Requests are at most what it offers.
    """

    request: IntArray
    limit: IntArray
    request_without: IntArray
    limit_without: IntArray
    capacity: IntArray


def commitment(node: tuple[IntArray, IntArray], pod: tuple[int, int], capacity: IntArray) -> Commitment:
    """Totals from (requests, limits) of the node's pods and of the pod to come."""
    requests, limits = node
    return Commitment(
        request=np.minimum(capacity, requests + pod[0]),
        limit=limits + pod[1],
        request_without=np.minimum(capacity, requests),
        limit_without=limits,
        capacity=capacity,
    )


def limit_risk(total: Commitment) -> FloatArray:
    """Share of the room between requests and limits that the node does not have, 0 to 1, float64[N]."""
    excess = (total.limit - total.request).astype(np.float64)
    beyond = total.limit - total.capacity
    risk: FloatArray = np.divide(beyond, excess, out=np.zeros(len(excess)), where=(beyond > 0) & (excess > 0))
    return risk


def load_risk(total: Commitment, mean: FloatArray, deviation: FloatArray, is_known: BoolArray) -> FloatArray:
    """Probability that load exceeds the requests without the pod, 0 to 1, float64[N]; 0 where no load is known.

    ``mean`` and ``deviation`` are shares of the node, the latter corrected for smoothing. Where limits keep pods
    below what the node has, load is known to stay below them.
    """
    deviation = np.minimum(deviation, np.sqrt(_VARIANCE_CEILING * largest_variance(mean)))
    threshold = fraction(total.request_without, total.capacity)
    probability = probability_below(mean, deviation, threshold)
    is_bound = (total.limit_without < total.capacity) & (total.request_without <= total.limit_without)
    bound = fraction(total.limit_without, total.capacity)
    at = np.flatnonzero(is_bound & (bound > 0) & (mean > 0) & (deviation > 0))
    below_bound = fitted(mean[at], deviation[at] ** 2).below(bound[at])
    conditional = np.divide(probability[at], below_bound, out=probability[at], where=below_bound > 0)
    probability[at] = np.clip(conditional, 0.0, 1.0)
    probability = np.where(is_bound & (bound == 0), 1.0, probability)
    return np.where(is_known, 1 - probability, 0.0)


def total_risk(limit: FloatArray, load: FloatArray, weight: float) -> FloatArray:
    """Limit risk with ``weight`` and load risk with the rest of 1, 0 to 1, float64[N]."""
    return np.clip(weight * limit + (1 - weight) * load, 0.0, 1.0)


def smoothed_deviation(deviation: FloatArray, window: int) -> FloatArray:
    """The deviation of load whose readings are means of ``window`` samples each, float64[N]."""
    return np.clip(deviation, 0.0, 1.0) * sqrt(window)


class RiskLimitWeights(PolicyModel):
    """What limits weigh against load, by resource; load weighs the rest of 1."""

    cpu: Share = 0.5
    """For cpu."""
    memory: Share = 0.5
    """For memory."""


class LowRiskOverCommitmentArguments(PredictionArguments):
    """Arguments of LowRiskOverCommitment, named as the scheduler's own plugin and its design name them."""

    smoothing_window_size: Annotated[int, Field(ge=1, le=1_000_000)] = 5
    """Samples that the provider's readings are means of; their deviation is corrected by its root."""
    risk_limit_weight: Share | None = None
    """What limits weigh against load, for both resources."""
    risk_limit_weights: RiskLimitWeights | None = None
    """The same by resource; 0.5 each where neither is given."""

    @model_validator(mode="after")
    def _one_form(self) -> LowRiskOverCommitmentArguments:
        if self.risk_limit_weight is not None and self.risk_limit_weights is not None:
            raise PydanticCustomError(
                "two_weights", "riskLimitWeight and riskLimitWeights say the same thing twice; give one of them"
            )
        return self

    @property
    def weights(self) -> Mapping[str, float]:
        """Weight of limits by resource."""
        if self.risk_limit_weight is not None:
            return {CPU: self.risk_limit_weight, MEMORY: self.risk_limit_weight}
        found = self.risk_limit_weights or RiskLimitWeights()
        return {CPU: found.cpu, MEMORY: found.memory}


class Risk(NamedTuple):
    """Risks of one resource, 0 to 1, float64[N] each."""

    resource: str
    limit: FloatArray
    load: FloatArray
    total: FloatArray
    is_load_known: BoolArray


@dataclass(frozen=True)
class LowRiskOverCommitment(LoadScore):
    """100 less the larger risk of cpu and memory in percent.

    A pod without requests and limits scores 0 everywhere. A node without metrics is judged by its limits alone, unless
    ``upstream_compatible``, where it scores 0.
    """

    arguments: LowRiskOverCommitmentArguments = field(default_factory=LowRiskOverCommitmentArguments)
    name = "LowRiskOverCommitment"

    @classmethod
    def read_arguments(cls, fields: Fields) -> LowRiskOverCommitmentArguments:
        """Weights by resource as today's plugin reads them, or the one weight of its design."""
        window = fields.integer("smoothingWindowSize", _DEFAULT_WINDOW)
        if not 0 < window <= _LARGEST_WINDOW:
            text = f"found {window}; the scheduler goes by its default, {_DEFAULT_WINDOW}"
            fields.findings.warn(fields.at("smoothingWindowSize"), text)
            window = _DEFAULT_WINDOW
        weights = _risk_weights(fields)
        fields.refuse_unread()
        return LowRiskOverCommitmentArguments(
            smoothing_window_size=window, risk_limit_weights=weights, upstream_compatible=True
        )

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node; no normalisation."""
        if not self._demand(pod, placement).any():
            return np.zeros(placement.columns.node_count, dtype=np.int64)
        risks = self._risks(pod, placement)
        score = nearest((1 - np.maximum(risks[0].total, risks[1].total)) * 100)
        if self.arguments.upstream_compatible:
            score = np.where(risks[0].is_load_known | risks[1].is_load_known, score, 0)
        return score

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Risks by limits and by load of cpu and memory; the larger counts."""
        scores = self.score(pod, placement, feasible)
        if not self._demand(pod, placement).any():
            return [f"the pod has neither requests nor limits, every node scores {scores[node]}" for node in nodes]
        risks = self._risks(pod, placement)
        texts = []
        for node in nodes:
            if self.arguments.upstream_compatible and not any(risk.is_load_known[node] for risk in risks):
                texts.append(f"no load is known of the node: {scores[node]}")
                continue
            largest = max(float(risk.total[node]) for risk in risks)
            parts = ", ".join(self._told(risk, node) for risk in risks)
            texts.append(f"risk of {parts}; the larger counts: 100 x (1 - {largest:.3f}) = {scores[node]}")
        return texts

    def _told(self, risk: Risk, node: int) -> str:
        load = f"load {risk.load[node]:.3f}" if risk.is_load_known[node] else "load unknown"
        weight = self.arguments.weights[risk.resource]
        limits = f"limits {risk.limit[node]:.3f} x {weight:g}"
        return f"{risk.resource} {risk.total[node]:.3f} ({limits}, {load} x {1 - weight:g})"

    def _demand(self, pod: int, placement: Placement) -> IntArray:
        found: IntArray = placement.columns.facts(trimaran_demands)[:, placement.columns.shape_of[pod]]
        return found

    def _risks(self, pod: int, placement: Placement) -> list[Risk]:
        columns, loads = placement.columns, self._loads(placement)
        demand = self._demand(pod, placement)
        placed = placed_totals(placement, trimaran_demands, without=pod)
        found = []
        for row, resource in enumerate(MEASURED):
            offered = columns.allocatable[columns.resource_index[resource]]
            total = commitment((placed[row], placed[row + 2]), (int(demand[row]), int(demand[row + 2])), offered)
            load = loads.of(resource, pod, placement)
            is_known = load.is_known & (not loads.is_by_requests)
            deviation = smoothed_deviation(load.deviation_share, self.arguments.smoothing_window_size)
            mean = np.where(offered > 0, load.share, 0.0)
            by_limit, by_load = limit_risk(total), load_risk(total, mean, deviation, is_known)
            weight = self.arguments.weights[resource]
            found.append(Risk(resource, by_limit, by_load, total_risk(by_limit, by_load, weight), is_known))
        return found

    def _loads(self, placement: Placement) -> NodeLoads:
        return self.loads(placement, counts_recent=not self.arguments.upstream_compatible)


def _risk_weights(fields: Fields) -> RiskLimitWeights:
    if fields.has("riskLimitWeight"):
        weight = _share(fields, "riskLimitWeight")
        fields.findings.warn(
            fields.at("riskLimitWeight"),
            f"read as {weight:g} for cpu and memory, as in KEP-357; today's plugin wants riskLimitWeights, by resource",
        )
        if not fields.has("riskLimitWeights"):
            return RiskLimitWeights(cpu=weight, memory=weight)
    below = fields.child("riskLimitWeights")
    found = RiskLimitWeights(cpu=_share(below, "cpu"), memory=_share(below, "memory"))
    for name in list(below.unread()):
        below.findings.warn(below.at(name), f"a weight for {quoted(name)} is accepted and never used", at_key=True)
    return found


def _share(fields: Fields, name: str) -> float:
    value = fields.number(name, 0.5)
    if 0 <= value <= 1:
        return value
    fields.findings.warn(fields.at(name), f"found {value:g}, not within 0 to 1; the scheduler goes by its default, 0.5")
    return 0.5
