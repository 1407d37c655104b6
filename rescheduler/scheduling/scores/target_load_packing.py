"""Nodes near a target of cpu load score highest: pods are packed up to it, and spread beyond it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, QuantityError, requested_amount
from rescheduler.model.usage.usage import FloatArray
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import quoted
from rescheduler.scheduling.scoring.load_score import LoadScore
from rescheduler.scheduling.scoring.node_load import NodeLoad, nearest
from rescheduler.scheduling.scoring.usage_arguments import DefaultRequests, PredictionArguments, TargetPercent

_SIMPLE_TARGET = 50
_DEFAULT_TARGET, _DEFAULT_MULTIPLIER, _DEFAULT_CPU = 40, 1.5, "1000m"
_FACTOR = re.compile(r"[-+]?[0-9]{1,9}(\.[0-9]{0,18})?([eE][-+]?[0-9]{1,2})?")


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
class TargetLoadPacking(LoadScore):
    """Load with the pod there is measured cpu, what metrics lack of recent pods, and the pod's own predicted use."""

    arguments: TargetLoadPackingArguments = field(default_factory=TargetLoadPackingArguments)
    name = "TargetLoadPacking"

    @classmethod
    def read_arguments(cls, fields: Fields) -> TargetLoadPackingArguments:
        """A target of 0 or less becomes the default; one above 100 would fail every pod."""
        target = fields.integer("targetUtilization", _DEFAULT_TARGET)
        findings, path = fields.findings, fields.at("targetUtilization")
        if target <= 0:
            findings.warn(path, f"found {target}; the scheduler goes by its default, {_DEFAULT_TARGET}")
            target = _DEFAULT_TARGET
        elif target > 100:
            findings.refuse(
                path, f"found {target}; wanted 1 to 100, beyond that scores leave 0 to 100 and no pod is placed"
            )
            target = _DEFAULT_TARGET
        found = TargetLoadPackingArguments(
            target_utilization=float(target),
            default_requests=DefaultRequests(cpu=_default_cpu(fields)),
            default_requests_multiplier=_multiplier(fields),
            upstream_compatible=True,
        )
        fields.refuse_unread()
        return found

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node, 0 where no load is known; no normalisation."""
        load, added = self._load(pod, placement)
        return np.where(load.is_known, self._points(utilisation(load.amount, added, load.base)), 0)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Parts of each node's load with the pod there, and what the formula makes of their percentage."""
        load, added = self._load(pod, placement)
        percent, scores = utilisation(load.amount, added, load.base), self.score(pod, placement, feasible)
        source = "requested" if self.loads(placement, (CPU,)).is_by_requests else "measured"
        texts = []
        for node in nodes:
            if not load.is_known[node]:
                texts.append(f"no cpu load is known of the node: {scores[node]}")
                continue
            texts.append(
                f"{load.amount[node] - load.recent[node]:.0f}m cpu {source}, {load.recent[node]:+.0f}m of pods that "
                f"metrics lack, {added:.0f}m of the pod, of {load.base[node]}m: {percent[node]:.1f} %, "
                f"{self._formula(float(percent[node]))} = {scores[node]}"
            )
        return texts

    def _load(self, pod: int, placement: Placement) -> tuple[NodeLoad, float]:
        shape = placement.columns.shape_of[pod]
        added = placement.columns.facts(self.arguments.predictor)[0, shape]
        return self.loads(placement, (CPU,)).of(CPU, pod, placement), float(added)

    def _points(self, percent: FloatArray) -> IntArray:
        if self.arguments.form == "Simple":
            return simple_form(percent)
        return general_form(percent, self.arguments.target_utilization)

    def _formula(self, percent: float) -> str:
        """What ``_points`` does, in words."""
        target = self.arguments.target_utilization
        side = f"{'up to' if percent <= target else 'above'} the target of {target:g} %"
        if percent > 100:
            return "more than 100 %"
        if percent <= target:
            is_simple = self.arguments.form == "Simple"
            rising = (
                f"{percent:.1f} + {target:g}"
                if is_simple
                else f"{100 - target:g} x {percent:.1f} / {target:g} + {target:g}"
            )
            return f"{side}: {rising}"
        return f"{side}: {target:g} x (100 - {percent:.1f}) / {100 - target:g}"


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


def _multiplier(fields: Fields) -> float:
    text = fields.text("defaultRequestsMultiplier", str(_DEFAULT_MULTIPLIER))
    path = fields.at("defaultRequestsMultiplier")
    if _FACTOR.fullmatch(text) is None:
        fields.findings.refuse(path, f"found {quoted(text)}; wanted a number in quotes such as {_DEFAULT_MULTIPLIER}")
        return _DEFAULT_MULTIPLIER
    value = float(text)
    if not 0 < value <= 1000:
        taken = min(max(value, 0.001), 1000.0)
        fields.findings.warn(path, f"found {text}; modelled from 0.001 to 1000 only, read as {taken:g}")
        return taken
    return value


def _default_cpu(fields: Fields) -> str:
    """``defaultRequests.cpu``; without cpu in it nothing is assumed of a container that asks for nothing."""
    requests = fields.child("defaultRequests")
    if not fields.has("defaultRequests"):
        return _DEFAULT_CPU
    found = requests.raw(CPU)
    text = "0" if found is None else str(found)
    for _ in list(requests.unread()):
        requests.findings.warn(requests.path, "only cpu is used")
        break
    try:
        requested_amount(CPU, text)
    except QuantityError as error:
        requests.findings.refuse(requests.at(CPU), str(error))
        return _DEFAULT_CPU
    return text
