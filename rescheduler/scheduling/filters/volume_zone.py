"""A bound volume's zone and region labels must fit the node's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.volumes import CLAIM, TOPOLOGY_KEYS, PodClaims
from rescheduler.model.objects.storage import PersistentVolumeClaim
from rescheduler.scheduling.plugin import SchedulerFilter


class VolumeZone(SchedulerFilter):
    """Unbound claims that wait for their first consumer are passed over, generic ephemeral volumes too."""

    name = "VolumeZone"
    predicates = ("NoVolumeZoneConflict",)
    volcano_switch = "predicate.VolumeZoneEnable"
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes in other zones or regions; all nodes where a claim cannot be resolved."""
        columns = placement.columns
        conflict = np.zeros(columns.node_count, dtype=np.bool_)
        for kind, name, claim in columns.facts(PodClaims).of(columns.cluster.pods[pod]):
            if kind != CLAIM:
                continue
            problem = _problem(columns, name, claim)
            if problem is not None:
                return (Rejection(problem, np.ones_like(conflict), is_resolvable=False, scope="pod"),)
            if claim is not None and claim.volume_name:
                volume = columns.cluster.volume_by_name[claim.volume_name]
                conflict |= _in_other_zones(columns, volume.labels)
        return (Rejection("node(s) had no available volume zone", conflict, is_resolvable=False),)


def _problem(columns: Columns, name: str, claim: PersistentVolumeClaim | None) -> str | None:
    if claim is None:
        return f'persistentvolumeclaim "{name}" not found'
    if claim.volume_name:
        is_known = claim.volume_name in columns.cluster.volume_by_name
        return None if is_known else f'persistentvolume "{claim.volume_name}" not found'
    if not claim.storage_class:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    if claim.storage_class not in columns.cluster.storage_class_by_name:
        return f'storageclass.storage.k8s.io "{claim.storage_class}" not found'
    return None if columns.facts(PodClaims).is_delayed(claim) else "PersistentVolume had no name"


def _in_other_zones(columns: Columns, volume_labels: Mapping[str, str]) -> BoolArray:
    """Nodes, bool[N], that have any topology label, but not one of the volume's values for each of its labels."""
    labels = columns.node_table.labels
    has_topology = np.zeros(columns.node_count, dtype=np.bool_)
    for key in TOPOLOGY_KEYS:
        has_topology |= labels.column(key).codes >= 0
    conflict = np.zeros(columns.node_count, dtype=np.bool_)
    for key, current_key in TOPOLOGY_KEYS.items():
        zones = zones_of(volume_labels.get(key, ""))
        if zones:
            values = [node.labels.get(key, node.labels.get(current_key)) for node in columns.cluster.nodes]
            conflict |= np.array([value not in zones for value in values], dtype=np.bool_)
    return conflict & has_topology


def zones_of(value: str) -> set[str]:
    """Zones of a volume's label, joined by two underscores; none for a value that cannot be read."""
    zones = {zone.strip() for zone in value.split("__")}
    return set() if "" in zones else zones
