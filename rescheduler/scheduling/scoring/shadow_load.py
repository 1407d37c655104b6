"""Estimated load of pods that a node's metrics cannot show yet (Volcano's usage plugin)."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.resources import requested_amount
from rescheduler.model.usage.demand import MEASURED, effective_limit
from rescheduler.model.usage.usage import FloatArray
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.scheduling.scoring.node_load import fraction
from rescheduler.scheduling.scoring.usage_arguments import CpuQuantity, MemoryQuantity, Share

_ON_ITS_WAY = ("Allocated", "Binding", "Bound")


class Estimator(PolicyModel):
    """How much a pod is taken to use before it is measured."""

    request_ratio: Share = 0.7
    """Share of the request that is used."""
    burst_ratio: Share = 0.0
    """Share of what the limit allows beyond the request that is used."""
    risk_threshold: Share = 0.6
    """Load of a node, as a fraction, from which estimates are raised."""
    risk_factor: Annotated[float, Field(ge=1, le=100)] = 1.2
    """Factor by which they are raised."""
    best_effort_cpu: CpuQuantity = "250m"
    """Cpu of a pod without requests and limits."""
    best_effort_memory: MemoryQuantity = "200Mi"
    """Memory of a pod without requests and limits."""

    def factor_at(self, load: float) -> float:
        """What estimates are multiplied by on a node of this load (0 to 1)."""
        return risk_factor(load, self.risk_threshold, self.risk_factor)

    def of(self, spec: PodSpec, factor: float) -> tuple[float, float]:
        """Estimated millicores and bytes of a pod."""
        requests = dict(spec.requests)
        demands = [(requests.get(resource, 0), effective_limit(spec, resource)) for resource in MEASURED]
        if not any(amount for demand in demands for amount in demand):
            configured = (self.best_effort_cpu, self.best_effort_memory)
            amounts = [requested_amount(*pair) for pair in zip(MEASURED, configured, strict=True)]
            return best_effort_estimate(amounts[0], factor), best_effort_estimate(amounts[1], factor)
        cpu, memory = (estimate(*demand, self.request_ratio, self.burst_ratio, factor) for demand in demands)
        return cpu, memory


class ShadowUse(NamedTuple):
    """What was added for a pod on a node, to be taken off again exactly."""

    cpu: float
    memory: float


class ShadowLoad:
    """Estimates by node beside measured load.

    ``real``: float64[2, N], measured shares of cpu and memory (0 to 1); ``capacity``: int64[2, N]; ``weights`` of the
    two in a node's load. An estimate depends on the load of its node at the time it is added.
    """

    def __init__(
        self, estimator: Estimator, real: FloatArray, capacity: IntArray, weights: tuple[float, float]
    ) -> None:
        """Begin without estimates."""
        self._estimator = estimator
        self._real = real
        self._capacity = capacity
        self._weights = weights
        self.amount: FloatArray = np.zeros(real.shape)
        self._counted: dict[tuple[int, int], ShadowUse] = {}

    def copy(self) -> ShadowLoad:
        """An independent copy."""
        other = ShadowLoad(self._estimator, self._real, self._capacity, self._weights)
        other.amount = self.amount.copy()
        other._counted = dict(self._counted)
        return other

    def counts(self, pod: int, node: int) -> bool:
        """Whether anything was added for the pod on the node."""
        return (pod, node) in self._counted

    def add(self, pod: int, node: int, spec: PodSpec) -> None:
        """Count a pod on a node, anew if it is counted there already; a pod that moves counts at both ends."""
        self.remove(pod, node)
        shares = [self._share(row, node) for row in (0, 1)]
        total = sum(self._weights)
        load = (shares[0] * self._weights[0] + shares[1] * self._weights[1]) / total if total else 0.0
        cpu, memory = self._estimator.of(spec, self._estimator.factor_at(load))
        self._counted[pod, node] = ShadowUse(cpu, memory)
        self.amount[:, node] += (cpu, memory)

    def remove(self, pod: int, node: int) -> None:
        """Take off what was added for a pod on a node, if anything was."""
        found = self._counted.pop((pod, node), None)
        if found is not None:
            self.amount[:, node] -= found

    def take_off(self, node: int, use: tuple[float, float]) -> None:
        """Count a measured pod no more that has left."""
        self.amount[:, node] -= use

    def composites(self) -> FloatArray:
        """Shares of cpu and memory in use with the estimates, 0 to 1, float64[2, N]."""
        return np.stack([composite(self._real[row], self.amount[row], self._capacity[row]) for row in (0, 1)])

    def _share(self, row: int, node: int) -> float:
        """The composite of one node, without arrays."""
        capacity = int(self._capacity[row, node])
        used = float(self._real[row, node]) * capacity + float(self.amount[row, node])
        return min(max(used / capacity, 0.0), 1.0) if capacity else 0.0


def is_shadowed(status: str, *, has_node: bool, running_seconds: float | None, delay_seconds: float) -> bool:
    """Whether metrics cannot show a task of this status (Volcano's words) yet; ``running_seconds`` None: unknown."""
    if not has_node:
        return False
    if status == "Running":
        return running_seconds is None or running_seconds < delay_seconds
    return status in _ON_ITS_WAY


def task_status(pod: Pod) -> str:
    """Volcano's word for the state of a pod as it was read."""
    return "Bound" if pod.phase == "Pending" and pod.node_name is not None else pod.phase


def estimate(request: float, limit: float, request_ratio: float, burst_ratio: float, factor: float) -> float:
    """Estimated use of one resource, at most the limit (the request where no limit is above it)."""
    most = limit if limit > 0 and limit >= request else request
    return min(max((request * request_ratio + (most - request) * burst_ratio) * factor, 0.0), most)


def best_effort_estimate(configured: float, factor: float) -> float:
    """Estimated use of a pod without requests and limits."""
    return max(configured, 0.0) * factor


def risk_factor(load: float, threshold: float, factor: float) -> float:
    """What estimates are multiplied by: the factor from the threshold on, never below 1."""
    return max(factor, 1.0) if load >= threshold else 1.0


def composite(real: FloatArray, shadow: FloatArray, capacity: IntArray) -> FloatArray:
    """Measured share and estimated amount together as a share of capacity, 0 to 1; 0 without capacity."""
    return fraction(real * capacity + shadow, capacity)


def weighted_load(cpu: FloatArray, memory: FloatArray, weights: tuple[float, float]) -> FloatArray:
    """Weighted mean of the two shares; 0 where both weights are 0."""
    total = sum(weights)
    return (cpu * weights[0] + memory * weights[1]) / total if total else np.zeros_like(cpu)
