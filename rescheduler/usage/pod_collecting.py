"""Samples of pods: asked for at their own, slower beat, since there are many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from rescheduler.model.node import Node
from rescheduler.model.pod import Pod
from rescheduler.model.samples import PodSamples
from rescheduler.model.usage import FloatArray
from rescheduler.usage.collected import Observed
from rescheduler.usage.pod_ring import PodRing, PodUse
from rescheduler.usage.pods_on_nodes import pod_totals, sift_pods


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
