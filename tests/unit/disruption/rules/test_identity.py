"""Tests of the rules about what a pod is and who would replace it."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.pod import OwnerReference
from tests.builders import NOW, pod, workload
from tests.unit.disruption.cases import policy, rule_against, verdict

WEB = OwnerReference("ReplicaSet", "web", "uid-default-web")


def test_a_replica_of_a_healthy_workload_may_be_moved() -> None:
    """Nothing speaks against a plain replica."""
    assert verdict(pod("web-0", node="n1")) is None


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("MirrorPod", {"annotations": {"kubernetes.io/config.mirror": "abc"}}),
        ("MirrorPod", {"annotations": {"kubernetes.io/config.mirror": ""}}),
        ("MirrorPod", {"annotations": {"kubernetes.io/config.source": "file"}}),
        ("MirrorPod", {"owners": (OwnerReference("Node", "n1", "uid-n1"),)}),
        ("DaemonSet", {"kind": "DaemonSet"}),
        ("DaemonSet", {"owners": (OwnerReference("DaemonSet", "d", "u", is_controller=False), WEB)}),
        ("Job", {"kind": "Job"}),
        ("Finished", {"phase": "Succeeded"}),
        ("Finished", {"phase": "Failed"}),
        ("Terminating", {"deletion_at": NOW + 30}),
        ("CriticalPriority", {"priority": 2_000_000_000}),
        ("CriticalPriority", {"priority": 2_000_001_000}),
        ("Ownerless", {"owner": None}),
        ("Ownerless", {"owners": (OwnerReference("ReplicaSet", "web", "u", is_controller=False),)}),
        ("SeveralControllers", {"owners": (WEB, OwnerReference("ReplicaSet", "api", "uid-default-api"))}),
        ("OwnerUnknown", {"owners": (OwnerReference("ReplicaSet", "web", ""),)}),
        ("Placeholder", {"labels": {"app.kubernetes.io/managed-by": "rescheduler"}}),
    ],
)
def test_pods_that_must_stay_are_refused_by_name(rule: str, fields: dict[str, Any]) -> None:
    """Each kind of pod that must stay is refused by its own rule, with the pod in the message."""
    found = verdict(pod("web-0", node="n1", **fields))
    assert found is not None
    assert found.rule == rule
    assert found.message.startswith("default/web-0 ")


@pytest.mark.parametrize(
    "fields",
    [
        {"priority": 1_999_999_999},
        {"annotations": {"kubernetes.io/config.source": "api"}},
        {"labels": {"app": "web", "app.kubernetes.io/managed-by": "Helm"}},
        {"owners": (WEB, OwnerReference("Something", "x", "u", is_controller=False))},
        {"phase": "Running"},
    ],
)
def test_near_misses_are_not_refused(fields: dict[str, Any]) -> None:
    """What only looks like a protected pod may be moved."""
    assert rule_against(pod("web-0", node="n1", **fields)) is None


def test_ownerless_pods_move_when_the_policy_says_so() -> None:
    """disruption.ownerless: Allow lifts the rule, and no workload's budget holds the pod."""
    assert rule_against(pod("x", node="n1", owner=None), policy=policy(disruption={"ownerless": "Allow"})) is None


def test_two_controllers_are_refused_even_when_ownerless_pods_may_move() -> None:
    """An unclear owner is not the same as none."""
    subject = pod("x", node="n1", owners=(WEB, OwnerReference("ReplicaSet", "b", "u")))
    assert rule_against(subject, policy=policy(disruption={"ownerless": "Allow"})) == "SeveralControllers"


def test_a_pod_whose_owner_is_being_deleted_has_nobody_to_replace_it() -> None:
    """An owner on its way out counts as none."""
    found = verdict(pod("old-0", node="n1"), workload("old", 5, is_terminating=True))
    assert found is not None
    assert found.rule == "Ownerless"
    assert "being deleted" in found.message


def test_finished_and_terminating_pods_without_a_node_are_named_too() -> None:
    """No pod of the snapshot is left without a verdict."""
    assert rule_against(pod("web-0", phase="Failed")) == "Finished"
    assert rule_against(pod("web-0", deletion_at=NOW)) == "Terminating"
