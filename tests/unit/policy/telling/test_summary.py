"""A policy told in sentences."""

from __future__ import annotations

from rescheduler.daemon.plugins import policy_sentences
from tests.unit.policy.policies import policy


def told(body: str = "") -> str:
    """The sentences, one a line."""
    return "\n".join(policy_sentences(policy(body)))


def test_the_defaults_are_told_in_full() -> None:
    """Limits, floors, kinds of pods and guidance, with their figures."""
    text = told()
    assert "moves pods of every namespace but kube-node-lease, kube-public, kube-system and its own\n" in text
    assert "at most 20 evictions in one plan, planning for 10s at most" in text
    assert "at most 10% of a workload's replicas" in text
    kinds = "single replicas, ownerless pods, pods with local storage, pods that are not ready and pods with persistent"
    assert f"may move pods without a PodDisruptionBudget; never moves {kinds} volumes\n" in text
    assert "namespace rescheduler-holds, which outlive a killed process by at most 65s" in text


def test_what_is_narrowed_and_allowed_is_told() -> None:
    """Scope, caps and permissions appear only where the policy sets them."""
    text = told("""
        scope:
          namespaces: {include: [a, b]}
          labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [db]}]}
          nodeSelector: {pool: blue}
          priorityBelow: 5
          minimumAge: 5m
          namespaceSelector: {matchLabels: {team: a}}
        limits: {maxEvictionsPerNode: 1, maxEvictionsPerNamespace: 2}
        disruption:
          ownerless: Allow
          withoutBudget: Deny
          ownerKinds: [{group: apps.kruise.io, kind: CloneSet}]
          persistentVolumes: {storageClasses: [network]}
          workloads: {maxUnavailable: 1}
        guidance: Predict
    """)
    for sentence in (
        "moves only pods of a and b",
        "moves only pods with app NotIn (db)",
        "moves only pods on nodes with pool=blue",
        "a priority below 5",
        "existed for 5m",
        "1 from one node, 2 from one namespace",
        "moves only pods of namespaces with team=a",
        "may move ownerless pods, pods with persistent volumes of storage class network and pods of a CloneSet (apps",
        "never moves single replicas, pods with local storage, pods without a PodDisruptionBudget",
        "and pods with other persistent volumes\n",
        "at most 1 of a workload's replicas be unready in one wave\n",
        "writes nothing but evictions (Predict)",
    ):
        assert sentence in text
    assert "rescheduler-holds" not in text


def test_taints_are_told_with_their_time_and_what_stands_beside_them() -> None:
    """Whoever chooses them sees that nodes are written and that placeholders are made too."""
    text = told("guidance: Taint\nhold: {deadline: 45s, namespace: holds}")
    assert "a taint of its own, which runs out after 45s" in text
    assert "placeholders in namespace holds" in text


def test_limits_under_which_nothing_can_move_are_a_warning() -> None:
    """No eviction allowed is named as the reason."""
    assert "warning: no eviction is possible because limits.maxEvictions is 0" in told("limits: {maxEvictions: 0}")


def test_system_namespaces_are_told_where_they_are_left_alone_and_where_not() -> None:
    """An include that names them is told without them; with Allow nothing is left out by itself."""
    assert "every namespace but web, kube-node-lease" in told("scope: {namespaces: {exclude: [web, kube-system]}}")
    assert "moves only pods of web\n" in told("scope: {namespaces: {include: [web, kube-system]}}")
    assert "moves pods everywhere\n" in told("scope: {systemNamespaces: Allow}")
    both = told("scope: {systemNamespaces: Allow, namespaces: {include: [web, kube-system]}}")
    assert "moves only pods of web and kube-system\n" in both
