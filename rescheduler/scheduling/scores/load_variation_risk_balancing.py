"""Nodes whose load is lower and steadier score higher: the risk is the mean of load and its deviation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from pydantic import Field

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.demand import MEASURED, trimaran_demands
from rescheduler.model.usage.usage import FloatArray
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.scoring.load_score import LoadScore
from rescheduler.scheduling.scoring.node_load import NodeLoads, nearest
from rescheduler.scheduling.scoring.usage_arguments import PredictionArguments

_LARGEST_VARIANCE = 100.0
Amounts: TypeAlias = FloatArray | IntArray | float


class LoadVariationRiskBalancingArguments(PredictionArguments):
    """Arguments of LoadVariationRiskBalancing, named as the scheduler's own plugin names them."""

    safe_variance_margin: Annotated[float, Field(ge=0, le=100)] = 1.0
    """A factor on the deviation."""
    safe_variance_sensitivity: Annotated[float, Field(ge=0, le=100)] = 1.0
    """The root taken of the deviation (2 is recommended); a larger one makes small deviations weigh more."""


class ResourceRisk(NamedTuple):
    """One resource of all nodes: its name, mean and deviation as shares, score before rounding, where it is known."""

    resource: str
    mean: FloatArray
    deviation: FloatArray
    points: FloatArray
    is_known: BoolArray


@dataclass(frozen=True)
class LoadVariationRiskBalancing(LoadScore):
    """The worse of cpu and memory counts. Load is measured use plus the pod's request."""

    arguments: LoadVariationRiskBalancingArguments = field(default_factory=LoadVariationRiskBalancingArguments)
    name = "LoadVariationRiskBalancing"

    @classmethod
    def read_arguments(cls, fields: Fields) -> LoadVariationRiskBalancingArguments:
        """Negative values become the defaults."""
        found = LoadVariationRiskBalancingArguments(
            safe_variance_margin=_variance(fields, "safeVarianceMargin"),
            safe_variance_sensitivity=_variance(fields, "safeVarianceSensitivity"),
            upstream_compatible=True,
        )
        fields.refuse_unread()
        return found

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node, 0 where no load is known; no normalisation."""
        least = np.full(placement.columns.node_count, np.inf)
        for risk in self._risks(pod, placement):
            least = np.where(risk.is_known, np.minimum(least, risk.points), least)
        return nearest(np.where(np.isinf(least), 0.0, least))

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Points of cpu and of memory with load and deviation, and the least of them."""
        scores, risks = self.score(pod, placement, feasible), self._risks(pod, placement)
        by = ", requests in place of missing metrics" if self._loads(placement).is_by_requests else ""
        texts = []
        for node in nodes:
            parts = [
                f"{risk.resource} {risk.points[node]:.1f} (load {risk.mean[node]:.1%} +- {risk.deviation[node]:.1%})"
                for risk in risks
                if risk.is_known[node]
            ]
            told = f"the least of {', '.join(parts)}{by}" if parts else "no load is known of the node"
            texts.append(f"{told}: {scores[node]}")
        return texts

    def _risks(self, pod: int, placement: Placement) -> list[ResourceRisk]:
        columns, arguments = placement.columns, self.arguments
        loads = self._loads(placement)
        demand = columns.facts(trimaran_demands)[:, columns.shape_of[pod]]
        found = []
        for number, resource in enumerate(MEASURED):
            load = loads.of(resource, pod, placement)
            offered = columns.allocatable[columns.resource_index[resource]]
            mean, deviation = mean_and_deviation(
                offered, demand[number], load.share * offered, load.deviation_share * offered
            )
            points = resource_score(
                offered, mean, deviation, arguments.safe_variance_margin, arguments.safe_variance_sensitivity
            )
            found.append(ResourceRisk(resource, mean, deviation, points, load.is_known))
        return found

    def _loads(self, placement: Placement) -> NodeLoads:
        return self.loads(placement, counts_recent=not self.arguments.upstream_compatible)


def mean_and_deviation(
    capacity: Amounts, request: Amounts, used: Amounts, deviation: Amounts
) -> tuple[FloatArray, FloatArray]:
    """Mean load with the request, and deviation, as shares of capacity within 0 to 1; 0 where there is no capacity.

    Amounts of one unit; use and deviation are first brought within 0 and capacity.
    """
    cap = np.maximum(np.asarray(capacity, dtype=np.float64), 0.0)
    has_room = cap > 0
    base = np.where(has_room, cap, 1.0)
    mean = (np.clip(used, 0.0, cap) + np.maximum(request, 0.0)) / base
    return np.where(has_room, np.clip(mean, 0.0, 1.0), 0.0), np.where(
        has_room, np.clip(deviation, 0.0, cap) / base, 0.0
    )


def resource_score(
    capacity: Amounts, mean: FloatArray, deviation: FloatArray, margin: float, sensitivity: float
) -> FloatArray:
    """100 less the risk in percent, float64[N], 0 where there is no capacity.

    The deviation counts as its root of degree ``sensitivity``. A negative sensitivity takes no root; at 0 the exponent
    is infinite, so that only a whole deviation is left.
    """
    if sensitivity == 0:
        deviation = np.where(deviation >= 1, 1.0, 0.0)
    elif sensitivity > 0:
        deviation = deviation ** (1 / sensitivity)
    risk = (mean + np.clip(deviation * margin, 0.0, 1.0)) / 2
    return np.where(np.asarray(capacity) > 0, (1 - risk) * 100, 0.0)


def _variance(fields: Fields, name: str) -> float:
    value = fields.number(name, 1.0)
    if value < 0:
        fields.findings.warn(fields.at(name), f"found {value:g}; the scheduler goes by its default, 1")
        return 1.0
    if value > _LARGEST_VARIANCE:
        fields.findings.warn(fields.at(name), f"found {value:g}; modelled up to {_LARGEST_VARIANCE:g} only")
    return min(value, _LARGEST_VARIANCE)
