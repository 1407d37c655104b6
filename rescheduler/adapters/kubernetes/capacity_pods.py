"""The pod that stands for a pending one where an autoscaler is asked for room: its needs, and nothing else of it."""

from __future__ import annotations

from typing import Any, Final

from rescheduler.adapters.kubernetes.placeholders import IMAGE
from rescheduler.model.annotations import MANAGED_BY, OURS, SAFE_TO_EVICT
from rescheduler.model.capacity import CAPACITY, PodSet
from rescheduler.model.constraints import NodeSelectorTerm, Requirement, Toleration
from rescheduler.model.pod import PodSpec
from rescheduler.model.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Resources

PRIORITY_CLASS: Final = "rescheduler-placeholder"
"""Lower than any ordinary pod's, so that each of them takes a placeholder's room; deploy/autoscaler.yaml brings it."""
_NATIVE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)


def template(request_name: str, shape: PodSet, *, is_placeholder: bool) -> dict[str, Any]:
    """The template of pods with a shape's needs.

    Resources, node selector, required node affinity, tolerations and host ports are those of the pod that waits; its
    volumes, spread and affinity to other pods are not, since they mean its own namespace.
    """
    return {
        "metadata": {
            "labels": {MANAGED_BY: OURS, CAPACITY: request_name},
            "annotations": {SAFE_TO_EVICT: "true"},
        },
        "spec": _spec(shape.spec, is_placeholder=is_placeholder),
    }


def _spec(spec: PodSpec, *, is_placeholder: bool) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": "room",
        "image": IMAGE,
        "resources": _resources(spec.requests),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }
    if spec.host_ports:
        container["ports"] = [
            {"containerPort": item.port, "hostPort": item.port, "protocol": item.protocol, "hostIP": item.host_ip}
            for item in spec.host_ports
        ]
    found: dict[str, Any] = {
        "restartPolicy": "Never",
        "schedulerName": spec.scheduler_name,
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65535, "seccompProfile": {"type": "RuntimeDefault"}},
        "nodeSelector": dict(spec.node_selector),
        "tolerations": [_toleration(item) for item in spec.tolerations],
        "containers": [container],
    }
    terms = spec.node_affinity.required if spec.node_affinity is not None else None
    if terms:
        required = {"nodeSelectorTerms": [_term(term) for term in terms]}
        found["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    if is_placeholder:
        found["priorityClassName"] = PRIORITY_CLASS
    return found


def _resources(requests: Resources) -> dict[str, dict[str, str]]:
    """Requests as Kubernetes writes them; what cannot be overcommitted needs equal limits."""
    amounts = {name: f"{amount}m" if name == CPU else str(amount) for name, amount in requests}
    limits = {name: amount for name, amount in amounts.items() if name not in _NATIVE}
    return {"requests": amounts, **({"limits": limits} if limits else {})}


def _toleration(item: Toleration) -> dict[str, Any]:
    parts = {"key": item.key, "operator": item.operator or "Equal", "value": item.value, "effect": item.effect}
    return {name: value for name, value in parts.items() if value}


def _term(term: NodeSelectorTerm) -> dict[str, Any]:
    parts = (("matchExpressions", term.expressions), ("matchFields", term.fields))
    return {name: [_rule(item) for item in rules] for name, rules in parts if rules}


def _rule(item: Requirement) -> dict[str, Any]:
    values = {"values": list(item.values)} if item.values else {}
    return {"key": item.key, "operator": item.operator, **values}
