"""Some volumes serve one pod at a time: ReadWriteOncePod claims, and certain in-tree disks on one node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.volumes import CLAIM, ClaimKey, PodClaims
from rescheduler.model.objects.constraints import Volume
from rescheduler.model.objects.pod import Pod
from rescheduler.scheduling.plugin import SchedulerFilter

DISK_TAKEN = "node(s) had no available disk"
CLAIM_TAKEN = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
ONE_POD = "ReadWriteOncePod"
# Kinds of disks, and whether several pods may share one that all of them only read.
EXCLUSIVE_DISKS = {"GCEPersistentDisk": True, "ISCSI": True, "RBD": True, "AWSElasticBlockStore": False}


class VolumeRestrictions(SchedulerFilter):
    """ReadWriteOnce is not looked at, as kube-scheduler does not either."""

    name = "VolumeRestrictions"
    predicates = ("NoDiskConflict",)
    is_static = False

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """All nodes while a one-pod claim is in use; nodes where another pod holds the same disk."""
        columns = placement.columns
        if not columns.cluster.pods[pod].volumes:
            return ()
        everywhere = np.ones(columns.node_count, dtype=np.bool_)
        missing = missing_claim(columns, columns.cluster.pods[pod])
        if missing is not None:
            reason = f'persistentvolumeclaim "{missing}" not found'
            return (Rejection(reason, everywhere, is_resolvable=False, scope="pod"),)
        taken = np.zeros(columns.node_count, dtype=np.bool_)
        for volume in columns.cluster.pods[pod].volumes:
            for other, is_read_only in columns.facts(DiskUsers).get((volume.kind, volume.identity), ()):
                if not (EXCLUSIVE_DISKS[volume.kind] and volume.is_read_only and is_read_only):
                    taken[placement.sites(np.array([other]), without=pod)] = True
        found = [Rejection(DISK_TAKEN, taken)]
        if any(
            placement.sites(columns.facts(PodClaims).users(key), without=pod).size
            for key in one_pod_claims(columns, columns.cluster.pods[pod])
        ):
            found.append(Rejection(CLAIM_TAKEN, everywhere & ~taken))
        return found


def missing_claim(columns: Columns, pod: Pod) -> str | None:
    """The first claim of a pod that the cluster does not hold."""
    for kind, name, claim in columns.facts(PodClaims).of(pod):
        if kind == CLAIM and claim is None:
            return name
    return None


def one_pod_claims(columns: Columns, pod: Pod) -> list[ClaimKey]:
    """Claims of a pod that serve one pod at a time."""
    claims = columns.facts(PodClaims).of(pod)
    return [
        (pod.namespace, name)
        for kind, name, claim in claims
        if kind == CLAIM and claim is not None and ONE_POD in claim.access_modes
    ]


def has_exclusive_disk(volumes: Sequence[Volume]) -> bool:
    """Whether any of the volumes is a disk that pods of one node cannot share freely."""
    return any(volume.kind in EXCLUSIVE_DISKS for volume in volumes)


class DiskUsers(dict[tuple[str, str], list[tuple[int, bool]]]):
    """Pods, with whether they only read, by kind and identity of in-tree disk."""

    def __init__(self, columns: Columns) -> None:
        """Look at every pod's volumes once."""
        super().__init__()
        for number, pod in enumerate(columns.cluster.pods):
            for volume in pod.volumes:
                if volume.kind in EXCLUSIVE_DISKS and volume.identity:
                    self.setdefault((volume.kind, volume.identity), []).append((number, volume.is_read_only))
