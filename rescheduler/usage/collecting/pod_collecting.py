"""Samples of pods: asked for at their own, slower beat, since there are many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.predicted_use import bound_at
from rescheduler.model.usage.samples import PodSamples
from rescheduler.model.usage.usage import FloatArray
from rescheduler.usage.checks.evidence import capacities
from rescheduler.usage.checks.plausibility import LARGEST_FRACTION
from rescheduler.usage.collecting.collected import Observed
from rescheduler.usage.rings import PodRing, PodUse

# What is asked of a node's pods: how much they use together, and how long the first of them has been there.


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


class PodCollecting:
    """The collector's pods: when they are due, what they used, and what they use together on each node.

    ``pods``: those of the newest tick with pods, to which ``use`` (by window) is aligned; ``dropped``: pods whose
    sample could not be, so far.
    """

    def __init__(self, windows: Sequence[float], interval: float) -> None:
        self._windows = tuple(windows)
        self._interval = interval
        self._ring = PodRing(windows, interval)
        self._taken_at = -inf
        self._is_wanted = True
        self._totals: Mapping[str, FloatArray] = {}
        self.pods: tuple[Pod, ...] = ()
        self.use: Mapping[float, PodUse] = {}
        self.dropped = 0

    def is_due(self, now: float) -> bool:
        """Whether to ask for pods in this tick; also after a clock was set back."""
        return self._is_wanted or not 0 <= now - self._taken_at < self._interval

    def ask_again(self) -> None:
        """Another provider counts from now on: ask it at the next tick."""
        self._is_wanted = True

    def take_in(self, samples: PodSamples, observed: Observed, now: float) -> None:
        """Keep one answer."""
        sifted, dropped = sift_pods(samples, observed.nodes)
        self._ring.append(sifted, now)
        self.pods = observed.pods or ()
        self.use = self._ring.use(self.pods, self._windows, now)
        totals = pod_totals(sifted, self.pods, observed.nodes)
        self._totals = {node.name: totals[:, number] for number, node in enumerate(observed.nodes)}
        self._taken_at, self._is_wanted = now, False
        self.dropped += dropped

    def totals(self, nodes: Sequence[Node], now: float) -> FloatArray | None:
        """What each node's pods use together, float64[2, N]; None where that was asked too long ago to compare."""
        if not self._totals or now - self._taken_at > 2 * self._interval:
            return None
        unknown = np.full(2, np.nan)
        return np.array([self._totals.get(node.name, unknown) for node in nodes], dtype=np.float64).reshape(-1, 2).T
