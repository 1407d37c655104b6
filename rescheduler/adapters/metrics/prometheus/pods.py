"""Pod metrics of a Prometheus: one query for all pods, never one for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan

import numpy as np

from rescheduler.adapters.metrics.prometheus.asking import QueryRound
from rescheduler.adapters.metrics.prometheus.client import Row
from rescheduler.adapters.metrics.prometheus.probing import Choice
from rescheduler.adapters.metrics.prometheus.queries import Query
from rescheduler.adapters.metrics.samples.series_join import number_of
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import PodKey, PodSamples

ByPod = Mapping[PodKey, float]
PodReading = tuple[ByPod, ByPod]
"""Values and times by pod."""


def read_pods(query: Query, asking: QueryRound) -> Choice[Query, PodReading]:
    """Ask for one metric of all pods in one way; covered is all or nothing, since nobody knows which pods there are."""
    values = _by_pod(asking.rows(query.value))
    times: dict[PodKey, float] = {}
    for text in query.times if values else ():
        found = _by_pod(asking.rows(text))
        if found and times:  # the oldest of what the source knows
            times = {pod: min(time, found[pod]) for pod, time in times.items() if pod in found}
        elif found:
            times = dict(found)
    return Choice(query, (values, times), 1.0 if values else 0.0)


def pod_samples(readings: Mapping[str, PodReading]) -> PodSamples:
    """The readings of cpu (in cores) and memory as samples; a value without a time is dropped, as for nodes."""
    cpu, cpu_times = readings[CPU]
    memory, memory_times = readings[MEMORY]
    pods = tuple(sorted({*_timed(cpu, cpu_times), *_timed(memory, memory_times)}))
    cpu_at, memory_at = _column(pods, cpu_times), _column(pods, memory_times)
    values = {
        CPU: np.where(np.isnan(cpu_at), nan, _column(pods, cpu) * 1000.0),
        MEMORY: np.where(np.isnan(memory_at), nan, _column(pods, memory)),
    }
    return PodSamples(pods, values, np.fmin(cpu_at, memory_at))


def _timed(values: ByPod, times: ByPod) -> Iterable[PodKey]:
    return (pod for pod in values if pod in times)


def _column(pods: Sequence[PodKey], found: ByPod) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.fromiter((found.get(pod, nan) for pod in pods), dtype=float, count=len(pods))


def _by_pod(rows: Iterable[Row]) -> dict[PodKey, float]:
    """Values by pod; a pod of which two series say different things has none."""
    found: dict[PodKey, float] = {}
    for labels, points in rows:
        namespace, name = labels.get("namespace"), labels.get("pod")
        if not namespace or not name:
            continue
        key = PodKey(namespace, name)
        value, _ = number_of(points[-1][1])
        found[key] = nan if key in found and found[key] != value else value
    return found
