"""The Job behind holds: gated pods that ask for a hole's resources, with a deadline after which all vanish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rescheduler.extension_points import HoldRequest
from rescheduler.model.daemon.capacity import OFFERING
from rescheduler.model.objects.annotations import EXPIRES, HOLD, HOLD_GATE, MANAGED_BY, OURS, PLAN
from rescheduler.model.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from rescheduler.model.printable import first_few
from rescheduler.model.times import rfc3339

HOLD_LABEL: Final = HOLD
PLAN_LABEL: Final = PLAN
HOLD_ANNOTATION: Final = HOLD
"""On a placeholder's pod: the name of the hold that it is for at the moment."""
NODE_ANNOTATION: Final = "rescheduler.dev/node"
EXPIRES_ANNOTATION: Final = EXPIRES
OUR_PLACEHOLDERS: Final = f"{MANAGED_BY}={OURS},{HOLD_LABEL}"
"""Label selector of every placeholder Job and pod, of any plan."""
PLACEHOLDERS_OF_PLANS: Final = f"{OUR_PLACEHOLDERS},{PLAN}!={OFFERING}"
"""The same without those that keep emptied nodes empty."""
IMAGE: Final = "registry.k8s.io/pause:3.10"
_MOST_TOLD: Final = 10
_NATIVE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)


def placeholder(requests: Sequence[HoldRequest], name: str, namespace: str, now: float) -> dict[str, Any]:
    """The Job for holds that differ in name and node only; ``now`` in seconds since the epoch, to note when it ends."""
    request = requests[0]
    labels = {MANAGED_BY: OURS, PLAN_LABEL: request.plan_id, HOLD_LABEL: name}
    told = first_few([item.node for item in requests], _MOST_TOLD)
    annotations = {NODE_ANNOTATION: told, EXPIRES_ANNOTATION: expiry(now, request.deadline_seconds)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels, "annotations": annotations},
        "spec": {
            "parallelism": len(requests),
            "completions": len(requests),
            "activeDeadlineSeconds": request.deadline_seconds,
            "ttlSecondsAfterFinished": 0,
            "backoffLimit": 0,
            "template": {"metadata": {"labels": labels, "annotations": annotations}, "spec": _pod_spec(request)},
        },
    }


def expiry(now: float, seconds: float) -> str:
    """When a hold ends, as RFC 3339."""
    return rfc3339(now + seconds)


def _pod_spec(request: HoldRequest) -> dict[str, Any]:
    """A pod that never runs: it is gated for good, and has nothing that a strict admission could refuse."""
    container: dict[str, Any] = {
        "name": "hold",
        "image": IMAGE,
        "resources": _resources(request),
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "schedulingGates": [{"name": HOLD_GATE}],
        "tolerations": [{"operator": "Exists"}],
        "schedulerName": request.scheduler_name,
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65535, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }
    if request.priority_class_name:
        spec["priorityClassName"] = request.priority_class_name
    return spec


def _resources(request: HoldRequest) -> dict[str, dict[str, str]]:
    """Requests as Kubernetes writes them; what cannot be overcommitted needs equal limits."""
    amounts = {name: f"{amount}m" if name == CPU else str(amount) for name, amount in request.requests}
    limits = {name: amount for name, amount in amounts.items() if name not in _NATIVE}
    return {"requests": amounts, **({"limits": limits} if limits else {})}
