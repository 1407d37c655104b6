"""What is asked of a node's pods: how much they use together, and how long the first of them has been there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.node import Node
from rescheduler.model.pod import Pod
from rescheduler.model.predicted_use import bound_at
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.samples import PodSamples
from rescheduler.model.usage import FloatArray
from rescheduler.usage.checks.capacities import capacities
from rescheduler.usage.checks.plausibility import LARGEST_FRACTION


def sift_pods(samples: PodSamples, nodes: Sequence[Node]) -> tuple[PodSamples, int]:
    """Samples without what cannot be (negative, infinite, above 1.5 x the largest node), and how many pods had some."""
    largest = capacities(nodes).max(axis=1, initial=0.0) * LARGEST_FRACTION
    bounds = {CPU: largest[0] or np.inf, MEMORY: largest[1] or np.inf}
    dropped = np.zeros(len(samples.pods), dtype=np.bool_)
    values = {}
    for metric, found in samples.values.items():
        with np.errstate(invalid="ignore"):
            is_bad = np.isinf(found) | (found < 0) | (found > bounds.get(metric, np.inf))
        dropped |= is_bad
        values[metric] = np.where(is_bad, np.nan, found)
    return PodSamples(samples.pods, values, samples.measured_at), int(dropped.sum())


def pod_totals(samples: PodSamples, pods: Sequence[Pod], nodes: Sequence[Node]) -> FloatArray:
    """Millicores and bytes that the pods of each node use together, float64[2, N]; NaN where no pod's use is known."""
    number_of = {node.name: number for number, node in enumerate(nodes)}
    node_of = {(pod.namespace, pod.name): number_of.get(pod.node_name or "") for pod in pods if not pod.is_finished}
    places = [node_of.get(key) for key in samples.pods]
    rows = np.array([number for number, place in enumerate(places) if place is not None], dtype=np.int64)
    columns = np.array([place for place in places if place is not None], dtype=np.int64)
    totals = np.full((2, len(nodes)), np.nan)
    for row, metric in enumerate((CPU, MEMORY)):
        if metric in samples.values:
            found = samples.values[metric][rows]
            is_known = np.isfinite(found)
            total = np.bincount(columns[is_known], found[is_known], minlength=len(nodes))
            has_any = np.bincount(columns[is_known], minlength=len(nodes)) > 0
            totals[row] = np.where(has_any, total, np.nan)
    return totals


def oldest_bound(pods: Sequence[Pod], nodes: Sequence[Node]) -> FloatArray:
    """When the first of each node's present pods was bound, float64[N]; infinity for nodes without pods."""
    number_of = {node.name: number for number, node in enumerate(nodes)}
    found = np.full(len(nodes), np.inf)
    for pod in pods:
        number = number_of.get(pod.node_name or "")
        if number is not None and not pod.is_finished:
            found[number] = min(found[number], bound_at(pod))
    return found
