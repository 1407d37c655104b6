"""Amounts and shares of use in words that people read."""

from __future__ import annotations

import numpy as np

from rescheduler.model.cluster import Cluster
from rescheduler.model.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from rescheduler.model.usage import FloatArray
from rescheduler.planning.spread_load.state import Load, LoadState

_GIB = 2.0**30


class Telling:
    """What is said of the nodes of one cluster."""

    def __init__(self, cluster: Cluster, load: Load) -> None:
        self._cluster = cluster
        self._load = load

    def use_of(self, node: int, state: LoadState) -> str:
        """Such as ``cpu 93% (target 70%)``, each resource above its target."""
        over = state.over()[:, node] > 0
        shares, targets = self._shares(state.use()), self._shares(self._load.allowed)
        rows = np.flatnonzero(over) if over.any() else [int(np.argmax(shares[:, node]))]
        return ", ".join(
            f"{self._load.resources[row]} {_share(shares[row, node])} (target {_share(targets[row, node])})"
            for row in rows
        )

    def excess(self, over: FloatArray) -> str:
        """Use above the targets, float64[K, N] in average nodes, as amounts: ``12.5 cores, 3.2 GiB of memory``."""
        amounts = over.sum(axis=1) * self._load.unit
        told = [
            _amount(name, value) for name, value in zip(self._load.resources, amounts.tolist(), strict=True) if value
        ]
        return ", ".join(told) or "nothing"

    def hottest(self, use: FloatArray) -> str:
        """The node furthest above (or nearest below) its target, with its share: ``n1 at 93% of cpu``."""
        shares = np.where(self._load.is_known, self._relative(use), -np.inf)
        row, node = np.unravel_index(int(np.argmax(shares)), shares.shape)
        share = self._shares(use)[row, node]
        return f"{self._cluster.nodes[int(node)].name} at {_share(share)} of {self._load.resources[int(row)]}"

    def _shares(self, amounts: FloatArray) -> FloatArray:
        capacity = self._load.capacity
        found: FloatArray = np.where(
            capacity > 0, amounts / np.maximum(capacity, 1e-12), np.where(amounts > 0, np.inf, 0)
        )
        return found

    def _relative(self, use: FloatArray) -> FloatArray:
        allowed = self._load.allowed
        found: FloatArray = np.where(allowed > 0, use / np.maximum(allowed, 1e-12), np.where(use > 0, np.inf, 0))
        return found


def _share(value: float) -> str:
    return f"{value:.0%}" if np.isfinite(value) else "use without capacity"


def _amount(resource: str, value: float) -> str:
    if resource == CPU:
        return f"{_rounded(value / 1000)} cores"
    if resource in (MEMORY, EPHEMERAL_STORAGE):
        return f"{_rounded(value / _GIB)} GiB of {resource}"
    return f"{_rounded(value)} of {resource}"


def _rounded(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
