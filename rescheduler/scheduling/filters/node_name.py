"""A pod that names its node can be on that node only."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.plugin import SchedulerFilter


class NodeName(SchedulerFilter):
    """Refuses nothing here: a pod that waits for a node names none, and a moved one is made anew without its node.

    The rule stands in the list so that a scheduler profile can name it, switched on or off.
    """

    name = "NodeName"
    stands_at = ("filter",)
    predicates = ("GeneralPredicates", "HostName")
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:  # noqa: ARG002 - the answer needs neither
        """No node."""
        return ()
