"""A decoded HorizontalPodAutoscaler as the model's, as far as it tells that a workload is being scaled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rescheduler.adapters.kubernetes.objects.decoding.metadata import (
    ApiStruct,
    ObjectMeta,
    foreign_group,
    name_of,
    namespace_of,
)
from rescheduler.model.objects.workload import PodAutoscaler
from rescheduler.model.times import read_time

# Fields of a HorizontalPodAutoscaler, loosely: one that cannot be read is left out, not the whole snapshot.


class PodAutoscalerSpec(ApiStruct):
    """Which workload is scaled: its group, kind and name."""

    scale_target_ref: Any = None


class PodAutoscalerStatus(ApiStruct):
    """What the autoscaler has come to."""

    current_replicas: Any = None
    desired_replicas: Any = None
    last_scale_time: Any = None


class PodAutoscalerObject(ApiStruct):
    """A HorizontalPodAutoscaler."""

    metadata: ObjectMeta | None = None
    spec: PodAutoscalerSpec | None = None
    status: PodAutoscalerStatus | None = None


LARGEST_COUNT = 2**31 - 1


def pod_autoscaler(found: PodAutoscalerObject, warn: Callable[[str], None]) -> PodAutoscaler:
    """One autoscaler; what cannot be read of it is as if it was not told, and ``warn`` hears of it.

    Raises ObjectError without a name.
    """
    meta, status = found.metadata or ObjectMeta(), found.status or PodAutoscalerStatus()
    name, namespace = name_of(meta), namespace_of(meta)
    target = found.spec.scale_target_ref if found.spec is not None else None
    kind, target_name = (target.get("kind"), target.get("name")) if isinstance(target, dict) else (None, None)
    problems: list[str] = []
    if not (isinstance(kind, str) and isinstance(target_name, str) and kind and target_name):
        problems.append("spec.scaleTargetRef names no workload")
        kind, target_name = "", ""
    current = _count(status.current_replicas, "status.currentReplicas", problems)
    desired = _count(status.desired_replicas, "status.desiredReplicas", problems)
    for problem in problems:
        warn(f"HorizontalPodAutoscaler {namespace}/{name}: {problem}; it counts as if it were not told")
    written = status.last_scale_time
    return PodAutoscaler(
        namespace=namespace,
        name=name,
        target_kind=kind,
        target_name=target_name,
        target_group=_group(target, kind),
        current_replicas=current,
        desired_replicas=desired,
        last_scale_at=read_time(written) if isinstance(written, str) else None,
    )


def _group(target: Any, kind: str) -> str | None:
    """The group of what is scaled, as in references; that of old API versions is the one of today."""
    version = target.get("apiVersion") if isinstance(target, dict) else None
    is_told = isinstance(version, str) and not version.startswith("extensions/")
    return foreign_group(kind, version) if is_told else None


def _count(value: Any, path: str, problems: list[str]) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT:
        return value
    problems.append(f"{path} is not a number of replicas")
    return None
