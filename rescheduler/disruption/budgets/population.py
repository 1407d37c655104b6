"""The pods of a cluster as arrays that every budget counts in: kind, node, and whether they are counted at all."""

from __future__ import annotations

import numpy as np

from rescheduler.disruption.pod_kinds import PodKinds, is_standing
from rescheduler.model.annotations import MANAGED_BY, OURS
from rescheduler.model.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.cluster import Cluster

ZONE_LABEL = "topology.kubernetes.io/zone"


class Population:
    """Arrays over pods (P), kinds of pods (K) and nodes (N).

    ``kind_of``: int64[P]; ``node_of``: int64[P], NOWHERE where a pod is on no node of the snapshot; ``is_counted``:
    bool[K], false for finished pods and for our own placeholders; ``is_ready``: bool[K]; ``zone_of_node``: int64[N],
    places in ``zones``, where "" stands for nodes without one. ``uids``: of all pods that have not finished.
    """

    def __init__(self, cluster: Cluster, kinds: PodKinds) -> None:
        """Gather them; O(pods + nodes)."""
        self.cluster = cluster
        self.uids = frozenset(pod.uid for pod in cluster.pods if not pod.is_finished)
        self.kinds = kinds
        self.node_index = {node.name: number for number, node in enumerate(cluster.nodes)}
        self.kind_of: IntArray = np.array(kinds.kind_of, dtype=np.int64)
        index = self.node_index
        self.node_of: IntArray = np.array([index.get(pod.node_name or "", NOWHERE) for pod in cluster.pods], np.int64)
        self.is_counted: BoolArray = np.array(
            [not pod.is_finished and pod.labels.get(MANAGED_BY) != OURS for pod in kinds.examples], dtype=np.bool_
        )
        self.is_ready: BoolArray = np.array([is_standing(pod) for pod in kinds.examples], dtype=np.bool_)
        zones = [node.labels.get(ZONE_LABEL, "") for node in cluster.nodes]
        self.zones = sorted(set(zones))
        number = {zone: place for place, zone in enumerate(self.zones)}
        self.zone_of_node: IntArray = np.array([number[zone] for zone in zones], dtype=np.int64)
