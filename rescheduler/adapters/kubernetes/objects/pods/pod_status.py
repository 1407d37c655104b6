"""What a pod's status says: readiness, times, restarts, and what it holds while it is resized in place."""

from __future__ import annotations

from typing import TypeAlias

from rescheduler.adapters.kubernetes.objects.decoding.metadata import NULL, Condition
from rescheduler.adapters.kubernetes.objects.pods.containers import (
    ContainerNeeds,
    PodNeeds,
    amounts_in,
    below,
    effective_requests,
    in_range,
    raise_to,
    requests_in,
)
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import ContainerStatus, PodSpecObject, PodStatus
from rescheduler.model.objects.resources import Resources

PodConditions: TypeAlias = tuple[Condition | None, Condition | None, Condition | None]
"""Ready, PodScheduled and PodResizePending."""


def pod_conditions(found: list[Condition] | None) -> PodConditions:
    """Those conditions that are looked at."""
    ready = scheduled = resize = None
    for condition in found or ():
        if condition.type == "Ready":
            ready = condition
        elif condition.type == "PodScheduled":
            scheduled = condition
        elif condition.type == "PodResizePending":
            resize = condition
    return ready, scheduled, resize


def held_resources(needs: PodNeeds, spec: PodSpecObject, status: PodStatus, *, is_infeasible: bool) -> Resources | None:
    """What a pod holds on its node, as kube-scheduler counts since in-place resize.

    Per container the largest of specification, what the kubelet reports and what it allocated; the specification
    drops out while the resize is marked infeasible. None where nothing is reported. Raises ObjectError.
    """
    reported = _reported(status.container_statuses, "status.containerStatuses")
    reported_init = _reported(status.init_container_statuses, "status.initContainerStatuses")
    if not reported and not reported_init:
        return None
    held = needs._replace(
        containers=[
            _largest(need, reported.get(container.name), is_infeasible=is_infeasible)
            for need, container in zip(needs.containers, spec.containers or (), strict=True)
        ],
        init_containers=[
            _largest(need, reported_init.get(container.name) if need.is_sidecar else None, is_infeasible=is_infeasible)
            for need, container in zip(needs.init_containers, spec.init_containers or (), strict=True)
        ],
    )
    return in_range(effective_requests(held))


def _reported(statuses: list[ContainerStatus] | None, path: str) -> dict[str | None, dict[str, int]]:
    """What the kubelet reports and allocated, the larger of both, by container name."""
    found = {}
    for number, item in enumerate(statuses or ()):
        if bytes(item.resources) in NULL:
            continue
        where = f"{path}[{number}]"
        largest = dict(below(f"{where}.resources", requests_in, item.resources))
        raise_to(largest, below(f"{where}.allocatedResources", amounts_in, item.allocated_resources))
        found[item.name] = largest
    return found


def _largest(need: ContainerNeeds, reported: dict[str, int] | None, *, is_infeasible: bool) -> ContainerNeeds:
    if reported is None:
        return need
    largest = dict(reported)
    if not is_infeasible:
        raise_to(largest, need.requests)
    return need._replace(requests=largest)
