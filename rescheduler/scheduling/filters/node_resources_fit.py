"""A node must have room for what a pod requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, is_ignored
from rescheduler.scheduling.plugin import SchedulerFilter

TOO_MANY_PODS = "Too many pods"
_NATIVE = (PODS, CPU, MEMORY, EPHEMERAL_STORAGE)
_SCALAR_PREFIXES = ("hugepages-", "attachable-volumes-")


@dataclass(frozen=True)
class NodeResourcesFit(SchedulerFilter):
    """Every missing resource of a node is named; a resource that the pod does not ask for is not looked at.

    A node that lists no ``pods`` takes none. Room is what the node offers less what its pods hold, the pod's own
    copies left out. Where the request is larger than all that the node offers, no eviction helps.

    ``ignored_resources`` and ``ignored_groups`` (what stands before the slash): extended resources that pods of the
    profile may lack; pods that hold them count for others all the same.
    """

    ignored_resources: tuple[str, ...] = ()
    ignored_groups: tuple[str, ...] = ()
    name = "NodeResourcesFit"
    predicates = ("GeneralPredicates", "PodFitsResources")
    is_static = False

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes that lack each resource."""
        columns = placement.columns
        request = columns.requests[:, columns.shape_of[pod]]
        own = [(node, placement.held_at(pod, node)) for node in placement.places(pod)]
        found: list[Rejection] = []
        for row in columns.facts(checked_rows):
            resource = columns.resources[row]
            if request[row] <= 0 or is_ignored(resource, self.ignored_resources, self.ignored_groups):
                continue
            offered = columns.allocatable[row]
            room = offered - placement.used[row]
            for node, held in own:
                room[node] += held[row]
            lacking = room < request[row]
            if lacking.any():
                found.extend(_refusals(resource, lacking, offered < request[row]))
        return found


def _refusals(resource: str, lacking: BoolArray, is_too_small: BoolArray) -> tuple[Rejection, Rejection]:
    reason = TOO_MANY_PODS if resource == PODS else f"Insufficient {resource}"
    return (
        Rejection(reason, lacking & ~is_too_small),
        Rejection(reason, lacking & is_too_small, is_resolvable=False),
    )


def checked_rows(columns: Columns) -> tuple[int, ...]:
    """Rows that kube-scheduler checks, in its order; a name of its own without a prefix is no resource to it."""
    rows = [columns.resource_index[name] for name in _NATIVE]
    others = [name for name in columns.resources if "/" in name or name.startswith(_SCALAR_PREFIXES)]
    return (*rows, *(columns.resource_index[name] for name in others))
