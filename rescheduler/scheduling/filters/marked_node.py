"""A node that an autoscaler takes away, or that is still starting, is no target (our own rule, when planning only)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Filter, Rejection
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.node import node_mark


class MarkedNode(Filter):
    """kube-scheduler may still put pods there (it only dislikes a candidate for removal): its choice is not asked."""

    name = "MarkedNode"
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:  # noqa: ARG002 - the same for every pod
        """Marked nodes, for any pod."""
        return placement.columns.facts(_marked)


def _marked(columns: Columns) -> tuple[Rejection, ...]:
    found = np.array([node_mark(node) is not None for node in columns.cluster.nodes], dtype=np.bool_)
    return (Rejection("node(s) were about to go, or still starting", found, is_resolvable=False),)
