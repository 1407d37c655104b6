"""Use of nodes and pods as LowNodeUtilization judges it, in the form in which our planner spreads load."""

from __future__ import annotations

import numpy as np

from rescheduler.descheduler.plugins.node_utilization import Judged
from rescheduler.descheduler.plugins.usage_sources import METRIC_RESOURCE, TrackedUse
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.objects.resources import CPU
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.model.usage.usage import FloatArray


def use_as_judged(judged: Judged, columns: Columns) -> ObservedUse:
    """Nodes that the plugin does not see are neither judged nor sent anything.

    Where what a pod has of its node's use is not known, the use is taken for one of cpu and shared out by requests.
    """
    names = (METRIC_RESOURCE,) if _is_shared(judged) else tuple(judged.bounds)
    names = tuple(name for name in names if _measured_as(name) in columns.resource_index)
    capacity = columns.allocatable[[_row(columns, name) for name in names]].astype(np.float64)
    of_pods, of_rest = np.zeros((len(names), columns.pod_count)), np.zeros((len(names), columns.node_count))
    is_known = np.zeros(columns.node_count, dtype=np.bool_)
    for use in judged.uses:
        node = columns.node_index[use.node.name]
        is_known[node] = True
        pods = np.flatnonzero(columns.initial_node_of == node)
        for row, name in enumerate(names):
            total = _total(judged, use, name, float(capacity[row, node]))
            of_pods[row, pods] = _parts(judged, columns, pods, name, total)
            of_rest[row, node] = max(0.0, total - of_pods[row, pods].sum())
    return ObservedUse(names, capacity, of_pods, of_rest, is_known)


def _is_shared(judged: Judged) -> bool:
    return judged.source is not None and not judged.source.knows_pods


def _measured_as(resource: str) -> str:
    return CPU if resource == METRIC_RESOURCE else resource


def _row(columns: Columns, resource: str) -> int:
    return columns.resource_index[_measured_as(resource)]


def _total(judged: Judged, use: TrackedUse, resource: str, capacity: float) -> float:
    return use.used[resource] / 100 * capacity if _is_shared(judged) else float(use.used[resource])


def _parts(judged: Judged, columns: Columns, pods: IntArray, resource: str, total: float) -> FloatArray:
    """What each of a node's pods has of its use."""
    if judged.source is None or _is_shared(judged):
        asked: FloatArray = columns.requests[_row(columns, resource), columns.shape_of[pods]].astype(np.float64)
        return asked * (total / asked.sum() if asked.sum() else 0.0)
    found = [judged.source.of_pod(columns.cluster.pods[pod]) or {} for pod in pods.tolist()]
    return np.array([part.get(resource, 0) for part in found], dtype=np.float64)
