"""A node can attach only so many volumes of each CSI driver."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Filter, Rejection
from rescheduler.model.attachments import AttachedVolumes
from rescheduler.model.placement import Placement


class NodeVolumeLimits(Filter):
    """A volume that is attached already counts once; without a CSINode, or without a count, there is no limit."""

    name = "NodeVolumeLimits"
    is_static = False

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes whose limit the pod's new volumes would exceed."""
        columns = placement.columns
        attached = columns.facts(AttachedVolumes)
        handles = attached.of(pod)
        if not handles:
            return ()
        nodes, volumes = attached.on_nodes(placement, without=pod)
        exceeded = np.zeros(columns.node_count, dtype=np.bool_)
        for driver in {driver for driver, _ in handles}:
            wanted = [attached.number_of(handle) for handle in handles if handle[0] == driver]
            is_of_driver = np.isin(volumes, attached.numbers(driver))
            held = np.bincount(nodes[is_of_driver], minlength=columns.node_count)
            new = len(wanted) - np.bincount(nodes[np.isin(volumes, wanted)], minlength=columns.node_count)
            limit = attached.limits[driver]
            exceeded |= (limit >= 0) & (new > 0) & (held + new > limit)
        return (Rejection("node(s) exceed max volume count", exceeded),)
