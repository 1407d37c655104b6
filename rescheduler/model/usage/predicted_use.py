"""What a pod will use before any measurement shows it, and which pods measurements cannot show yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.objects.pod import APP, ContainerResources, Pod, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.demand import containers_of
from rescheduler.model.usage.usage import FloatArray

REPORTING_SECONDS: Final = 60.0
"""A metrics agent reports this often: what happened later than this before a window's end may be missing from it."""
MEMORY_SECONDS: Final = 300.0
"""A pod bound longer ago than this is never taken as missing from the metrics."""


@dataclass(frozen=True)
class UsePredictor:
    """Trimaran's rule for cpu, container by container: the limit, else the request times a factor, else a constant.

    ``uses_limits`` False: the request goes before the limit. Memory is predicted as requested. A predictor is also a
    fact of columns: cpu (millicores) and memory (bytes) of each shape, float64[2, S].
    """

    multiplier: float = 1.5
    default_millicores: int = 1000
    uses_limits: bool = True

    def __call__(self, columns: Columns) -> FloatArray:
        """Predictions for all shapes; for ``Columns.facts``."""
        rows = [(self.millicores(spec), _memory(spec)) for spec in columns.shapes]
        return np.array(rows, dtype=np.float64).reshape(-1, 2).T

    def millicores(self, spec: PodSpec) -> float:
        """Predicted cpu of a pod."""
        overhead = 0 if not spec.containers else dict(spec.overhead).get(CPU, 0)
        return self.of_containers(containers_of(spec), overhead)

    def of_containers(self, containers: Iterable[ContainerResources], overhead_millicores: int = 0) -> float:
        """Predicted cpu in millicores of running containers together; init containers and sidecars are left out."""
        return overhead_millicores + sum(self._of(container) for container in containers if container.kind == APP)

    def _of(self, container: ContainerResources) -> int:
        request, limit = dict(container.requests).get(CPU), dict(container.limits).get(CPU)
        if limit is not None and (self.uses_limits or request is None):
            return limit
        return self.default_millicores if request is None else floor(request * self.multiplier + 0.5)


def bound_at(pod: Pod) -> float:
    """When a pod was bound, else started, else created; in seconds since the epoch, minus infinity where unknown."""
    times = (pod.scheduled_at, pod.started_at, pod.created_at)
    return next((time for time in times if time is not None), -np.inf)


def is_missing(changed_at: FloatArray, window_end: FloatArray) -> BoolArray:
    """Changes (a pod bound, a pod gone) too late for the window to show them."""
    return (changed_at > window_end) | (window_end - changed_at < REPORTING_SECONDS)


def retained(
    ages_seconds: Sequence[float], retention_seconds: float = REPORTING_SECONDS, *, is_upstream: bool = False
) -> list[float]:
    """Ages of the remembered changes of a node that are worth remembering further, oldest first as given.

    ``is_upstream``: as Trimaran's cache cleans up, which forgets nothing where everything is too old.
    """
    kept = [age for age in ages_seconds if age < retention_seconds]
    return kept if kept or not is_upstream else list(ages_seconds)


def _memory(spec: PodSpec) -> int:
    return dict(spec.requests).get(MEMORY, 0)
