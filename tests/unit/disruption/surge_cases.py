"""Deployments whose pods can be moved by surge, to be changed in a single respect by each test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.policy.fields.policy import Policy
from tests.builders import budget, pod, selector, workload
from tests.unit.disruption.cases import policy

HASH = "pod-template-hash"
SURGE_ALL: dict[str, Any] = {"disruption": {"moveBy": [{"method": "Surge"}]}}


def surging(**fields: Any) -> Policy:
    """A policy by which all pods move by surge, with further fields of ``disruption``."""
    return policy(disruption={"moveBy": [{"method": "Surge"}], **fields})


def deployment(name: str, nodes: Sequence[str], *, max_surge: int | str | None = None, **fields: Any) -> list[Any]:
    """A Deployment at rest with its ReplicaSet, and one Ready pod on each of these nodes; fields are the pods'."""
    labels = {"app": name, HASH: "h1", **fields.pop("labels", {})}
    top = workload(name, len(nodes), kind="Deployment", max_surge=max_surge)
    middle = workload(
        f"{name}-h1",
        len(nodes),
        owner=OwnerReference("Deployment", name, top.uid),
        selector=selector(**{"app": name, HASH: "h1"}),
    )
    pods = [
        pod(f"{name}-h1-{number}", node=on, owner=middle.name, labels=labels, **fields)
        for number, on in enumerate(nodes)
    ]
    return [top, middle, *pods]


def tight_budget(name: str, replicas: int) -> DisruptionBudget:
    """``minAvailable`` is all there are, so that no eviction is allowed."""
    return budget(name, 0, current_healthy=replicas, desired_healthy=replicas, expected_pods=replicas)


def changed(objects: Sequence[Any], kind: str, **fields: Any) -> list[Any]:
    """The same objects, those of one kind (Pod, or that of a workload) with other fields."""
    return [structs.replace(item, **fields) if _is_of(item, kind) else item for item in objects]


def _is_of(item: Any, kind: str) -> bool:
    return (isinstance(item, Workload) and item.kind == kind) or (kind == "Pod" and isinstance(item, Pod))


def taken_out(one: Pod) -> Pod:
    """The pod as it stands while its replacement becomes Ready: out of its ReplicaSet, with the annotation."""
    mark = {"label": HASH, "value": one.labels[HASH], "plan": "p1", "expires": "2027-01-15T08:00:00Z"}
    return structs.replace(
        one,
        labels={**one.labels, HASH: f"{one.labels[HASH]}-leaving"},
        owners=tuple(structs.replace(owner, is_controller=False) for owner in one.owners),
        annotations={**one.annotations, SURGE: json.dumps(mark)},
    )
