"""A node can attach only so many volumes of each CSI driver."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.attachments import AttachedVolumes, Sites
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.plugin import SchedulerFilter


class NodeVolumeLimits(SchedulerFilter):
    """Volumes count once for all pods of a node that use them; without a CSINode or its count there is no limit.

    A volume that is attached but used by no pod of the node counts, and once more for the pod that will use it:
    kube-scheduler has it so.
    """

    name = "NodeVolumeLimits"
    predicates = (
        "MaxCSIVolumeCountPred", "MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount",
        "MaxCinderVolumeCount",
    )  # fmt: skip
    volcano_switch = "predicate.NodeVolumeLimitsEnable"
    is_static = False

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes whose limit the pod's new volumes would exceed."""
        columns = placement.columns
        attached = columns.facts(AttachedVolumes)
        handles = attached.of(pod)
        if not handles:
            return ()
        held, unexplained = attached.on_nodes(placement, without=pod)
        exceeded = np.zeros(columns.node_count, dtype=np.bool_)
        for driver in {driver for driver, _ in handles}:
            wanted = [attached.number_of(handle) for handle in handles if handle[0] == driver]
            of_driver = attached.numbers(driver)
            present = sum(_count(sites, of_driver, columns.node_count) for sites in (held, unexplained))
            new = len(wanted) - _count(held, wanted, columns.node_count)
            limit = attached.limits[driver]
            exceeded |= (limit >= 0) & (new > 0) & (present + new > limit)
        return (Rejection("node(s) exceed max volume count", exceeded),)


def _count(sites: Sites, volumes: Sequence[int] | IntArray, node_count: int) -> IntArray:
    """Attachments of these volumes on each node, int64[N]."""
    return np.bincount(sites.nodes[np.isin(sites.volumes, volumes)], minlength=node_count)
