"""Nodes whose storage a pod's unbound claims would fill less (or, by shape, more) score higher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.volumes import PodClaims, bindings, published_capacity
from rescheduler.model.objects.resources import MEMORY
from rescheduler.scheduling.filters.volume_binding import is_bound
from rescheduler.scheduling.plugin import SCORE_POINTS, PluginSettings, SchedulerScore
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.scores.node_resources_fit import along_shape, read_shape
from rescheduler.scheduling.scoring.normalization import MAX_SCORE
from rescheduler.scheduling.scoring.wording import exactly


@dataclass(frozen=True)
class VolumeBinding(SchedulerScore):
    """Mean over storage classes of the share of capacity requested, along a shape; no normalisation.

    kube-scheduler scores so only behind its gate StorageCapacityScoring, off by default (alpha since 1.33); a
    configuration that writes ``shape`` says that the gate is on. On a node where existing volumes would be bound these
    alone count, elsewhere the published capacity for new ones. 0 where neither is known.
    """

    shape: tuple[tuple[int, int], ...] = ((0, 10), (100, 0))
    name = "VolumeBinding"
    stands_at = (*SCORE_POINTS, "reserve", "preBind")

    @classmethod
    def default(cls) -> PluginSettings:
        """No score: without its gate kube-scheduler gives all nodes 0."""
        return PluginSettings()

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:  # noqa: ARG003 - the same in all
        """VolumeBindingArgs; a score only where a shape is written."""
        fields.integer("bindTimeoutSeconds", 600, low=0)
        found = None
        if fields.has("shape"):
            text = (
                "kube-scheduler refuses it unless its gate StorageCapacityScoring is on; here the gate is taken as on"
            )
            fields.findings.warn(fields.at("shape"), text, at_key=True)
            found = cls(read_shape(fields))
        fields.refuse_unread()
        return PluginSettings(found)

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node; 0 for a pod without unbound claims."""
        total = np.zeros(placement.columns.node_count, dtype=np.int64)
        classes = np.zeros_like(total)
        for sums in self._by_class(placement.columns, pod).values():
            total += np.where(sums.counts, self._points(sums), 0)
            classes += sums.counts
        # To the nearest whole score.
        rounded: IntArray = (2 * total + classes) // (2 * np.maximum(classes, 1))
        return rounded

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """What is asked for of each storage class and what there is, and the mean of the points."""
        scores = self.score(pod, placement, feasible)
        found = [(name, sums, self._points(sums)) for name, sums in self._by_class(placement.columns, pod).items()]
        if not found:
            return [f"no unbound claims: {scores[node]}" for node in nodes]
        texts = []
        for node in nodes:
            parts = [
                f"class {name} {sums.told(node)} = {points[node]}" for name, sums, points in found if sums.counts[node]
            ]
            texts.append(f"{'; '.join((*parts, 'mean')) if parts else 'no capacity is known here:'} {scores[node]}")
        return texts

    def _by_class(self, columns: Columns, pod: int) -> dict[str, _ClassSums]:
        """Requested and offered bytes of each class of the pod's unbound claims."""
        found = columns.facts(PodClaims).of(columns.cluster.pods[pod])
        claims = [claim for _, _, claim in found if claim is not None and not is_bound(claim)]
        if not claims:
            return {}
        sums = {claim.storage_class: _ClassSums.of(columns.node_count) for claim in claims}
        is_static = np.zeros(columns.node_count, dtype=np.bool_)
        open_claims = sorted((c for c in claims if c.selected_node is None), key=lambda claim: claim.requested_bytes)
        for claim, chosen in zip(open_claims, bindings(columns, open_claims), strict=True):
            for volume, nodes in chosen:
                sums[claim.storage_class].bind(claim.requested_bytes, volume.capacity_bytes, nodes)
                is_static |= nodes
        for claim in claims:
            storage_class = columns.cluster.storage_class_by_name.get(claim.storage_class)
            if storage_class is not None:
                capacity = published_capacity(columns, storage_class, claim.requested_bytes)
                if capacity is not None:
                    sums[claim.storage_class].provision(claim.requested_bytes, capacity, ~is_static)
        return sums

    def _points(self, sums: _ClassSums) -> IntArray:
        asked, capacity = sums.asked, sums.capacity
        is_full = (capacity <= 0) | (asked > capacity)
        percent = np.where(is_full, MAX_SCORE, asked * MAX_SCORE // np.maximum(capacity, 1))
        return along_shape(self.shape, percent)


@dataclass(frozen=True)
class _ClassSums:
    """Sums of one storage class on each node; written to as claims are looked at."""

    asked: IntArray
    capacity: IntArray
    counts: BoolArray

    @classmethod
    def of(cls, width: int) -> _ClassSums:
        """Nothing yet."""
        return cls(np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.bool_))

    def told(self, node: int) -> str:
        """One node in words."""
        asked, capacity = (exactly(MEMORY, int(values[node])) for values in (self.asked, self.capacity))
        return f"{asked} of {capacity}, along the shape"

    def bind(self, requested: int, capacity: int, nodes: BoolArray) -> None:
        """An existing volume on these nodes: capacities add up."""
        self.asked[nodes] += requested
        self.capacity[nodes] += capacity
        self.counts[nodes] = True

    def provision(self, requested: int, capacity: IntArray, nodes: BoolArray) -> None:
        """A new volume: the capacity is one for all claims of the class."""
        where = nodes & (capacity >= 0)
        self.asked[where] += requested
        self.capacity[where] = capacity[where]
        self.counts[where] = True
