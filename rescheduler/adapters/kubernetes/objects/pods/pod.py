"""A decoded Pod as the model's Pod."""

from __future__ import annotations

import sys
from collections.abc import Callable, MutableMapping
from itertools import chain
from typing import Final

from msgspec.structs import replace

from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError, decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import (
    NULL,
    Condition,
    ObjectMeta,
    SharedMetadata,
    name_of,
)
from rescheduler.adapters.kubernetes.objects.pods.pod_detail import pod_detail
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import ContainerState, PodObject, PodSpecObject, PodStatus
from rescheduler.adapters.kubernetes.objects.pods.pod_spec import PodSpecs
from rescheduler.adapters.kubernetes.objects.pods.pod_status import pod_conditions
from rescheduler.adapters.kubernetes.objects.pods.pod_volumes import PodVolumes
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.pod_detail import PodDetail
from rescheduler.model.plan.detachment import as_of_its_owner
from rescheduler.model.printable import shortened
from rescheduler.model.times import read_time

# What keeps a pod from running, in the kubelet's own words.

_IN_ORDER: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
"""Reasons to wait that every pod gives on its way."""


def trouble_of(status: PodStatus) -> str:
    """The reason of a pod that was refused or failed, or for which a container waits in vain; "" without one.

    Raises ObjectError.
    """
    if status.phase == "Failed":
        return _word(status.reason)
    for item in chain(status.init_container_statuses or (), status.container_statuses or ()):
        text = bytes(item.state)
        if text in NULL or b"waiting" not in text:
            continue
        waiting = decode(text, ContainerState, "status.containerStatuses.state").waiting
        reason = "" if waiting is None else _word(waiting.reason)
        if reason not in _IN_ORDER:
            return reason
    return ""


def _word(text: str | None) -> str:
    return sys.intern(shortened(text, 60)) if text else ""


_NO_META: Final = ObjectMeta()
_NO_STATUS: Final = PodStatus()


class PodConversion:
    """Turns decoded pods into the model's; replicas share specification, labels and owners.

    A pod that a surge has taken out of its ReplicaSet is still shown as one of its pods; its annotation tells.
    """

    def __init__(
        self,
        warn: Callable[[str], None],
        shared: SharedMetadata | None = None,
        details: MutableMapping[str, PodDetail] | None = None,
    ) -> None:
        """``warn`` is told of what cannot be used; ``details``: where those of each pod go; one instance a snapshot."""
        self._details = details
        self._warn = warn
        self._shared = shared or SharedMetadata()
        self._specs = PodSpecs()
        self._volumes = PodVolumes()

    def convert(self, found: PodObject) -> Pod:
        """One pod; uses up what was decoded. Raises ObjectError."""
        meta, status, shared = found.metadata or _NO_META, found.status or _NO_STATUS, self._shared
        name, owners, spec = name_of(meta), shared.owners(meta), _spec_of(found)
        self._keep_detail(meta, name, spec, status)
        ready, scheduled, resize = pod_conditions(status.conditions)
        node_name = shared.name(spec.node_name) if spec.node_name else None
        phase = sys.intern(status.phase) if status.phase else "Running" if node_name else "Pending"
        volumes, restarts = self._volumes.of(spec, name), _restarts(status)
        is_daemon = node_name is not None and bool(owners) and owners[0].kind == "DaemonSet"
        is_infeasible, unscheduled = _is_infeasible(status, resize), _unscheduled(scheduled)
        trouble = "" if ready is not None and ready.status == "True" else trouble_of(status)
        pod_spec, held = self._specs.of(spec, status, is_bound_daemon=is_daemon, is_infeasible=is_infeasible)
        pod = Pod(
            namespace=shared.name(meta.namespace or "default"),
            name=name,
            uid=meta.uid or "",
            spec=pod_spec,
            labels=shared.labels(meta),
            annotations=shared.annotations(meta),
            node_name=node_name,
            nominated_node=shared.name(status.nominated_node_name) if status.nominated_node_name else None,
            phase=phase,
            is_ready=phase == "Running" if ready is None else ready.status == "True",
            deletion_at=None if not meta.deletion_timestamp else read_time(meta.deletion_timestamp) or 0.0,
            created_at=read_time(meta.creation_timestamp),
            started_at=read_time(status.start_time),
            scheduled_at=read_time(_scheduled(status, scheduled)),
            owners=owners,
            volumes=volumes,
            scheduling_gates=tuple(gate.name for gate in spec.scheduling_gates) if spec.scheduling_gates else (),
            held=held,
            restart_count=restarts,
            resource_version=meta.resource_version or "",
            ready_at=read_time(ready.last_transition_time) if ready and ready.status == "True" else None,
            trouble=trouble,
            unscheduled=unscheduled,
            unscheduled_at=read_time(scheduled.last_transition_time) if scheduled and unscheduled else None,
        )
        return self._with_doubts(as_of_its_owner(pod) if SURGE in pod.annotations else pod, meta, status)

    def _keep_detail(self, meta: ObjectMeta, name: str, spec: PodSpecObject, status: PodStatus) -> None:
        if self._details is not None:
            self._details[f"{self._shared.name(meta.namespace or 'default')}/{name}"] = pod_detail(spec, status)

    def _with_doubts(self, pod: Pod, meta: ObjectMeta, status: PodStatus) -> Pod:
        """Warn of what could not be read; a pod whose name is none is never moved."""
        if pod.created_at is not None and pod.started_at is not None and pod.name is meta.name:
            return pod
        for text, time in ((meta.creation_timestamp, pod.created_at), (status.start_time, pod.started_at)):
            if text and time is None:
                self._warn(f"Pod {pod.key}: {shortened(text, 40)!r} is no time; its age counts as unknown")
        if pod.name == meta.name:
            return pod
        self._warn(f"Pod {pod.key}: its name holds characters that no name has; it is never moved")
        return replace(pod, spec=replace(pod.spec, unmodelled=(*pod.spec.unmodelled, "a name that is not valid")))


def _spec_of(found: PodObject) -> PodSpecObject:
    if found.spec is None:
        raise ObjectError("spec", "is missing")
    return found.spec


def _scheduled(status: PodStatus, scheduled: Condition | None) -> str | None:
    """When the pod got its node; its start stands in for that where the condition is missing."""
    if scheduled is None or scheduled.status != "True":
        return status.start_time
    return scheduled.last_transition_time


def _unscheduled(scheduled: Condition | None) -> str:
    """Why the pod has no node, in one of few words."""
    if scheduled is None or scheduled.status != "False":
        return ""
    return sys.intern(scheduled.reason or "Unschedulable")


def _restarts(status: PodStatus) -> int:
    """Of the container that has been started again most often: by that a ReplicaSet's controller compares pods."""
    most = 0
    for item in status.container_statuses or ():
        most = max(most, item.restart_count or 0)
    return most


def _is_infeasible(status: PodStatus, resize: Condition | None) -> bool:
    return status.resize == "Infeasible" or (resize is not None and resize.reason == "Infeasible")
