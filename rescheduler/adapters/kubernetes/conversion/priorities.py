"""Priorities of pods that do not carry the number themselves, as admission would fill them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from rescheduler.model.pod import Pod, PodSpec
from rescheduler.model.workload import PriorityClass

SYSTEM_CLASSES: Final = (
    PriorityClass("system-cluster-critical", 2_000_000_000),
    PriorityClass("system-node-critical", 2_000_001_000),
)


def with_priorities(pods: Iterable[Pod], classes: Iterable[PriorityClass]) -> Mapping[int, Pod]:
    """Pods whose class says more than their specification, by the id of the pod they replace."""
    known = {found.name: found for found in (*SYSTEM_CLASSES, *classes)}
    default = max((found for found in known.values() if found.is_default), key=lambda found: found.value, default=None)
    made: dict[tuple[int, str], PodSpec] = {}
    replaced = {}
    for pod in pods:
        found = known.get(pod.spec.priority_class_name) if pod.spec.priority_class_name else default
        if found is None:
            continue
        key = (id(pod.spec), found.name)
        if key not in made:
            made[key] = replace(
                pod.spec,
                priority=found.value,
                priority_class_name=found.name,
                preemption_policy=found.preemption_policy,
            )
        replaced[id(pod)] = replace(pod, spec=made[key])
    return replaced
