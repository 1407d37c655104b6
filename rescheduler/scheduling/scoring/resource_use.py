"""What would be in use on each node with the pod there, as the resource scores count it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import quoted
from rescheduler.scheduling.scoring.wording import exactly

_LARGEST_WEIGHT = 100
_DEFAULT_RESOURCES = ((CPU, 1), (MEMORY, 1))


class ResourceUse(NamedTuple):
    """One resource: in use without the pod, what the pod adds, and what the nodes offer; int64[N], int, int64[N]."""

    resource: str
    before: IntArray
    request: int
    allocatable: IntArray

    def told(self, node: int) -> tuple[str, str, str]:
        """The three amounts of one node in words."""
        amounts = (int(self.before[node]), self.request, int(self.allocatable[node]))
        before, request, offered = (exactly(self.resource, amount) for amount in amounts)
        return before, request, offered


def uses(
    pod: int, placement: Placement, resources: tuple[tuple[str, int], ...], *, has_defaults: bool
) -> Iterator[tuple[int, ResourceUse]]:
    """Weight and use of each resource that counts.

    Cpu and memory count with kube-scheduler's non-zero defaults if ``has_defaults``, and then pod-level requests of
    the pod itself (not of those that stand on nodes) do not count. An extended resource counts only
    if the pod asks for it.
    """
    columns = placement.columns
    shape = columns.shape_of[pod]
    for name, weight in resources:
        row = columns.resource_index.get(name)
        is_basic = name in (CPU, MEMORY)
        if row is None or not (is_basic or name == EPHEMERAL_STORAGE or columns.requests[row, shape]):
            continue
        with_defaults = has_defaults and is_basic
        used = placement.scored_used[row] if with_defaults else placement.used[row]
        request = int(columns.arriving_requests[row, shape] if with_defaults else columns.requests[row, shape])
        own = placement.places(pod)
        if own:
            used = used.copy()
            for node in own:
                held = placement.scored_at(pod, node) if with_defaults else placement.held_at(pod, node)
                used[node] -= held[row]
        yield weight, ResourceUse(name, used, request, columns.allocatable[row])


def weighed_resources(fields: Fields) -> tuple[tuple[str, int], ...]:
    """``resources``: names with weights of 1 to 100; none: cpu and memory. A weight of 0 or none becomes 1."""
    found: list[tuple[str, int]] = []
    for item in fields.children("resources"):
        name = item.text("name")
        if not name:
            fields.findings.warn(item.path, "name is missing, so no node offers it; write the resource's name")
        weight = item.integer("weight", 1)
        if weight == 0:
            fields.findings.warn(item.at("weight"), f"a weight of 0 for {quoted(name)} counts as 1; leave it out")
            weight = 1
        elif not 1 <= weight <= _LARGEST_WEIGHT:
            fields.findings.refuse(item.at("weight"), f"found {weight}; wanted 1 to {_LARGEST_WEIGHT}")
        if name in [known for known, _ in found]:
            fields.findings.warn(item.at("name"), f"{quoted(name)} is given twice, so both of its weights count")
        item.refuse_unread()
        found += [(name, weight)] if name else []
    return tuple(found) or _DEFAULT_RESOURCES
