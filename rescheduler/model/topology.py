"""Topology domains: which nodes share a value of a label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.node import Node


class Domains:
    """Topology domains: for each label key, the index of each node's value."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Read labels of ``nodes``; keys are indexed when first asked for."""
        self._nodes = nodes
        self._by_key: dict[str, tuple[IndexArray, tuple[str, ...]]] = {}

    def of(self, topology_key: str) -> tuple[IndexArray, tuple[str, ...]]:
        """Domain index of each node, int32[N] (NOWHERE where the label is absent), and the values in order."""
        found = self._by_key.get(topology_key)
        if found is None:
            texts = [node.labels.get(topology_key) for node in self._nodes]
            values = tuple(sorted({text for text in texts if text is not None}))
            index = {value: number for number, value in enumerate(values)}
            codes = np.array([NOWHERE if text is None else index[text] for text in texts], dtype=np.int32)
            found = self._by_key[topology_key] = (codes, values)
        return found

    def reach(self, topology_key: str, nodes: IndexArray) -> BoolArray:
        """Nodes that share a domain with any of ``nodes``, bool[N]; a node without the key shares none."""
        codes, values = self.of(topology_key)
        is_met = np.zeros(len(values) + 1, dtype=np.bool_)
        is_met[codes[nodes]] = True
        is_met[NOWHERE] = False
        reached: BoolArray = is_met[codes]
        return reached

    def totals(self, topology_key: str, nodes: IndexArray, weight: int = 1) -> IntArray:
        """For each node the number of entries of ``nodes`` in its domain times ``weight``, int64[N]; 0 without one."""
        codes, values = self.of(topology_key)
        sums = np.bincount(codes[nodes] + 1, minlength=len(values) + 1) * weight
        sums[0] = 0
        totals: IntArray = sums[codes + 1]
        return totals
