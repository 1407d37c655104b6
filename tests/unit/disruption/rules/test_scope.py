"""Tests of what policy and options leave within reach."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.workload import Namespace
from rescheduler.model.plan.disruption import OwnIdentity, Selection
from tests.builders import NOW, node, pod, selector, workload
from tests.unit.disruption.cases import policy, rule_against, verdict


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


SYSTEM = ("kube-system", "kube-public", "kube-node-lease", "rescheduler-system")


@pytest.mark.parametrize("namespace", SYSTEM)
@pytest.mark.parametrize("names", [{}, {"exclude": ["other"]}, {"exclude": []}, {"include": ["default", *SYSTEM]}])
def test_system_namespaces_stay_whatever_the_policy_says_of_namespaces(namespace: str, names: dict[str, Any]) -> None:
    """Only scope.systemNamespaces: Allow lets their pods move; an exclude of other namespaces does not."""
    subject = pod("dns-0", node="n1", namespace=namespace)
    peers = [pod(f"dns-{number}", node="n1", namespace=namespace) for number in range(1, 5)]
    owner = workload("dns", 5, namespace=namespace)
    assert rule_against(subject, owner, pods=peers, policy=policy(scope={"namespaces": names})) == "SystemNamespace"
    allow = policy(scope={"namespaces": names, "systemNamespaces": "Allow"})
    assert rule_against(subject, owner, pods=peers, policy=allow) is None


def test_the_namespace_of_run_is_left_alone_where_it_is_known() -> None:
    """It stands in for rescheduler-system."""
    own = Selection(own=OwnIdentity("tools"))
    for name, rule in (("tools", "SystemNamespace"), ("rescheduler-system", None), ("default", None)):
        peers = [pod(f"api-{number}", node="n1", namespace=name) for number in range(1, 5)]
        owner, subject = workload("api", 5, namespace=name), pod("api-0", node="n1", namespace=name)
        assert rule_against(subject, owner, pods=peers, selection=own) == rule


@pytest.mark.parametrize(("namespace", "whose"), [("kube-system", "the cluster's"), ("tools", "the rescheduler's")])
def test_whose_namespace_it_is_is_told(namespace: str, whose: str) -> None:
    """And by what field it may be changed."""
    found = verdict(
        pod("api-0", node="n1", namespace=namespace),
        pods=[pod(f"api-{number}", node="n1", namespace=namespace) for number in range(1, 5)],
        selection=Selection(own=OwnIdentity("tools")),
    )
    assert found is not None
    assert f"is in namespace {namespace}, {whose} own (policy: scope.systemNamespaces)" in found.message


def test_namespaces_are_selected_by_their_labels() -> None:
    """Their name is one of them; a namespace that is not in the snapshot has no other."""
    known = {"namespaces": (Namespace("default", {"team": "a"}),)}
    subject = pod("web-0", node="n1")
    for labels, rule in (({"team": "a"}, None), ({"team": "b"}, "Namespace")):
        asked = policy(scope={"namespaceSelector": {"matchLabels": labels}})
        assert rule_against(subject, policy=asked, **known) == rule
        assert rule_against(subject, policy=asked) == "Namespace"
    by_name = policy(scope={"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}})
    assert rule_against(subject, policy=by_name) is None


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
