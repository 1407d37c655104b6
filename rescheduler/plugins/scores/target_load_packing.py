"""Nodes near a target of cpu load score highest: pods are packed up to it, and spread beyond it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from rescheduler.extension_points import Score
from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.placement import Placement
from rescheduler.model.resources import CPU
from rescheduler.model.usage import FloatArray, Usage
from rescheduler.plugins.scores.node_load import LoadSource, NodeLoad, NodeLoads, nearest
from rescheduler.plugins.scores.usage_arguments import PredictionArguments, TargetPercent

_SIMPLE_TARGET = 50


class TargetLoadPackingArguments(PredictionArguments):
    """Arguments of TargetLoadPacking, named as the scheduler's own plugin names them."""

    target_utilization: TargetPercent = 40.0
    """Cpu load to pack up to, in percent; about 10 below the level wanted."""
    form: Literal["General", "Simple"] = "General"
    """Simple: the formula of the original design, for a target of 50 only."""

    @model_validator(mode="after")
    def _simple_at_fifty(self) -> TargetLoadPackingArguments:
        if self.form == "Simple" and self.target_utilization != _SIMPLE_TARGET:
            raise PydanticCustomError(
                "simple_form",
                "form Simple goes with targetUtilization 50, found {target}; choose General for other targets",
                {"target": f"{self.target_utilization:g}"},
            )
        return self


@dataclass(frozen=True)
class TargetLoadPacking(Score):
    """Load with the pod there is measured cpu, what metrics lack of recent pods, and the pod's own predicted use."""

    usage: Usage
    arguments: TargetLoadPackingArguments = field(default_factory=TargetLoadPackingArguments)
    name = "TargetLoadPacking"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node, 0 where no load is known; no normalisation."""
        load, added = self._load(pod, placement)
        return np.where(load.is_known, self._points(utilisation(load.amount, added, load.base)), 0)

    def explain(self, pod: int, node: int, placement: Placement) -> str:
        """One node's score in words and numbers."""
        load, added = self._load(pod, placement)
        if not load.is_known[node]:
            return f"{self.name} 0: no cpu load is known of the node"
        percent = utilisation(load.amount, added, load.base)
        score, target = int(self._points(percent)[node]), f"{self.arguments.target_utilization:g}"
        source = "requested" if self._loads(placement).is_by_requests else "measured"
        side = "up to" if percent[node] <= self.arguments.target_utilization else "above"
        return (
            f"{self.name} {score}: {load.amount[node] - load.recent[node]:.0f}m cpu {source}, "
            f"{load.recent[node]:+.0f}m of pods that metrics lack, {added:.0f}m of the pod, "
            f"of {load.base[node]}m: {percent[node]:.1f} %, {side} the target of {target} %"
        )

    def _load(self, pod: int, placement: Placement) -> tuple[NodeLoad, float]:
        shape = placement.columns.shape_of[pod]
        added = placement.columns.facts(self.arguments.predictor)[0, shape]
        return self._loads(placement).of(CPU, pod, placement), float(added)

    def _loads(self, placement: Placement) -> NodeLoads:
        arguments = self.arguments
        source = LoadSource(self.usage, (CPU,), arguments.predictor, is_upstream=arguments.upstream_compatible)
        return placement.columns.facts(source)

    def _points(self, percent: FloatArray) -> IntArray:
        if self.arguments.form == "Simple":
            return simple_form(percent)
        return general_form(percent, self.arguments.target_utilization)


def utilisation(amount: FloatArray, added: float, capacity: IntArray) -> FloatArray:
    """Percent of capacity in use with ``added`` more, float64[N]; 0 where there is no capacity."""
    return np.divide(100 * (amount + added), capacity, out=np.zeros(len(capacity)), where=capacity > 0)


def simple_form(percent: FloatArray) -> IntArray:
    """The design's score: 50 at idle, 100 at 50 percent, from just under 50 to 0 at 100 percent, 0 beyond."""
    return nearest(np.where(percent <= _SIMPLE_TARGET, percent + _SIMPLE_TARGET, np.maximum(100 - percent, 0)))


def general_form(percent: FloatArray, target: float) -> IntArray:
    """From the target (as a score) at idle to 100 at the target, then from the target to 0 at 100 percent, 0 beyond."""
    rising = (100 - target) * percent / target + target
    falling = np.zeros_like(rising) if target == 100 else target * np.maximum(100 - percent, 0) / (100 - target)
    return nearest(np.where(percent <= target, rising, falling))
