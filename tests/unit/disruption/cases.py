"""One replica of a healthy workload of ten, to be changed in a single respect by each test."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.disruption import Eligibility, Selection
from rescheduler.model.plan.plan import Refusal
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, workload


def policy(**fields: Any) -> Policy:
    """A policy from its fields as a file would give them."""
    return Policy.model_validate_json(json.dumps(fields))


UNREADY_TOO = policy(disruption={"notReady": "Allow"})
"""Of pods that are not Ready further rules are asked only where they may be moved at all."""


def siblings(count: int = 9, **fields: Any) -> list[Pod]:
    """Further ready replicas of the workload ``web``."""
    return [pod(f"web-{number}", node="n1", **fields) for number in range(1, count + 1)]


def decided(
    subject: Pod,
    *others: Node | Pod | Workload | DisruptionBudget,
    policy: Policy | None = None,
    selection: Selection | None = None,
    replicas: int = 10,
    pods: Iterable[Pod] | None = None,
    **fields: Any,
) -> Eligibility:
    """Eligibility of a cluster of one node, the subject, its siblings and others."""
    nodes = [item for item in others if isinstance(item, Node)] or [node("n1", cpu="64")]
    rest = [item for item in others if not isinstance(item, Node)]
    peers = siblings() if pods is None else list(pods)
    world = cluster(*nodes, workload("web", replicas), subject, *peers, *rest, **fields)
    return decide_eligibility(world, policy or Policy(), selection or Selection())


def verdict(subject: Pod, *others: Any, **fields: Any) -> Refusal | None:
    """What is said against the subject; None: it may be moved, or helped if it waits for a node."""
    eligibility = decided(subject, *others, **fields)
    for refusal in (*eligibility.refusals.values(), *eligibility.not_helpable.values()):
        if refusal.pod.key == subject.key:  # type: ignore[union-attr]
            return refusal
    return None


def rule_against(subject: Pod, *others: Any, **fields: Any) -> str | None:
    """The name of the rule against the subject, or None."""
    found = verdict(subject, *others, **fields)
    return None if found is None else found.rule
