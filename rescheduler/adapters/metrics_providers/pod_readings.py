"""Collects what a source says of containers into one sample of each pod."""

from __future__ import annotations

from typing import Final

import numpy as np

from rescheduler.adapters.metrics_providers.node_readings import LIVE_SECONDS
from rescheduler.model.samples import POD_METRICS, PodKey, PodSamples

_Parts = dict[str, tuple[float, float]]
MOST_PODS: Final = 300_000


class PodReadings:
    """Readings by pod and container; a pod's use is the sum over its containers."""

    def __init__(self) -> None:
        self._parts: dict[PodKey, dict[str, _Parts]] = {}

    def add(self, metric: str, pod: PodKey, at: float, value: float, *, container: str = "") -> None:
        """One reading, measured at ``at``; NaN for something that was there and is no number."""
        if not pod.namespace or not pod.name or (pod not in self._parts and len(self._parts) >= MOST_PODS):
            return
        parts = self._parts.setdefault(pod, {}).setdefault(metric, {})
        before = parts.get(container)
        if before is None or before[0] < at:
            parts[container] = (at, value)

    def samples(self) -> PodSamples:
        """One sample of every pod that was named, in the order of their names."""
        pods = tuple(sorted(self._parts))
        sums = {metric: [_total(self._parts[pod].get(metric, {})) for pod in pods] for metric in POD_METRICS}
        shaped = {metric: np.array(found, dtype=np.float64).reshape(len(pods), 2) for metric, found in sums.items()}
        measured = np.fmin.reduce([array[:, 0] for array in shaped.values()])
        return PodSamples(pods, {metric: array[:, 1] for metric, array in shaped.items()}, measured)


def _total(parts: _Parts) -> tuple[float, float]:
    """The oldest time and the sum of containers that still report; NaN where none does."""
    if not parts:
        return float("nan"), float("nan")
    newest = max(at for at, _ in parts.values())
    live = [(at, value) for at, value in parts.values() if at >= newest - LIVE_SECONDS]
    return min(at for at, _ in live), sum(value for _, value in live)
