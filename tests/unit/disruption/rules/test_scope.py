"""Tests of what policy and options leave within reach."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.plan.disruption import Selection
from tests.builders import NOW, node, pod, selector
from tests.unit.disruption.cases import policy, rule_against


@pytest.mark.parametrize(
    ("scope", "rule"),
    [
        ({"namespaces": {"exclude": ["default"]}}, "Namespace"),
        ({"namespaces": {"include": ["other"]}}, "Namespace"),
        ({"namespaces": {"include": ["default"]}}, None),
        ({"labelSelector": {"matchLabels": {"app": "web"}}}, None),
        ({"labelSelector": {"matchLabels": {"app": "api"}}}, "LabelSelector"),
        ({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}, "LabelSelector"),
        ({"nodeSelector": {"matchLabels": {"pool": "blue"}}}, None),
        ({"nodeSelector": {"matchLabels": {"pool": "red"}}}, "NodeSelector"),
        ({"priorityBelow": 7}, "PriorityBelow"),
        ({"priorityBelow": 8}, None),
        ({"minimumAge": "24h"}, None),
        ({"minimumAge": "24h1s"}, "MinimumAge"),
    ],
)
def test_the_policys_scope_narrows_what_may_be_moved(scope: dict[str, Any], rule: str | None) -> None:
    """Each field of the scope refuses by its own rule, at its boundary."""
    subject = pod("web-0", node="n1", priority=7)
    world = node("n1", cpu="64", labels={"pool": "blue"})
    assert rule_against(subject, world, policy=policy(scope=scope)) == rule


def test_kube_system_is_excluded_unless_the_policy_says_otherwise() -> None:
    """The default policy never moves pods of kube-system."""
    subject = pod("dns-0", node="n1", namespace="kube-system")
    peers = [pod(f"dns-{number}", node="n1", namespace="kube-system") for number in range(1, 5)]
    assert rule_against(subject, pods=peers) == "Namespace"
    assert rule_against(subject, pods=peers, policy=policy(scope={"namespaces": {"exclude": []}})) is None


def test_a_pod_of_unknown_age_is_taken_as_new() -> None:
    """Without any time a minimum age refuses; with a creation time alone that counts."""
    wanted = policy(scope={"minimumAge": "1m"})
    assert rule_against(pod("web-0", node="n1", started_at=None, created_at=None), policy=wanted) == "MinimumAge"
    assert rule_against(pod("web-0", node="n1", started_at=None, created_at=NOW - 61), policy=wanted) is None


def test_the_selection_of_a_call_narrows_moving_and_helping() -> None:
    """-n and -l leave out running and pending pods alike."""
    for subject in (pod("web-0", node="n1"), pod("web-0")):
        assert rule_against(subject, selection=Selection(namespaces=("other",))) == "Namespace"
        assert rule_against(subject, selection=Selection(namespaces=("other", "default"))) is None
        assert rule_against(subject, selection=Selection(selector=selector(app="api"))) == "LabelSelector"
        assert rule_against(subject, selection=Selection(selector=selector(app="web"))) is None


def test_the_policys_scope_does_not_say_whom_to_help() -> None:
    """Scope is about what may be moved: a pending pod outside of it is helped all the same."""
    narrow = policy(scope={"namespaces": {"exclude": ["default"]}, "priorityBelow": 0})
    assert rule_against(pod("web-0", priority=1000), policy=narrow) is None
