"""Tests of what is told of kinds that a recording does not hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.kinds import KINDS
from rescheduler.disruption.absent_kinds import absent_kinds
from rescheduler.model.objects.constraints import PodAffinityTerm, Volume
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.storage import PersistentVolumeClaim
from tests.builders import cluster, node, pod, selector, workload
from tests.unit.disruption.cases import policy

ALL = frozenset(kind.name for kind in KINDS)
CLAIM = Volume("PersistentVolumeClaim", claim="data")


def told(*objects: Any, by: dict[str, Any] | None = None, absent: frozenset[str] = ALL, **fields: Any) -> set[str]:
    """Kinds that are named, of those that are not in the recording."""
    seen = replace(cluster(node("n1"), *objects, **fields), absent_kinds=absent, source="x.json")
    sentences = list(absent_kinds(seen, policy(**(by or {}))))
    assert all(sentence.startswith("x.json holds no ") for sentence in sentences)
    return {sentence.split(" ")[3].rstrip(",") for sentence in sentences}


def test_a_live_cluster_lacks_nothing() -> None:
    """Nor does a recording that holds all kinds, be it by empty lists."""
    assert told(pod("web-0", node="n1", kind="StatefulSet"), absent=frozenset()) == set()


def test_the_sentence_says_what_is_not_known_and_what_to_do() -> None:
    """The kind, and how to say that there are none."""
    seen = replace(cluster(node("n1")), absent_kinds=ALL, source="x.json")
    (sentence,) = absent_kinds(seen, policy())
    assert sentence == (
        "x.json holds no PodDisruptionBudget, so it is not known which evictions they forbid: record them too, as "
        "rescheduler snapshot does, or add an empty PodDisruptionBudgetList where the cluster has none"
    )


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "ReplicationController"])
def test_owners_that_pods_name_are_missed(kind: str) -> None:
    """Their own kind alone, and one that the operator names is not Kubernetes'."""
    assert told(pod("web-0", node="n1", kind=kind)) == {"PodDisruptionBudget", kind}
    foreign = OwnerReference(kind, "web", "u", group="example.com")
    assert told(pod("web-0", node="n1", owners=(foreign,))) == {"PodDisruptionBudget"}
    assert told(pod("web-0", node="n1", kind=kind), absent=ALL - {kind}) == {"PodDisruptionBudget"}


def test_deployments_that_replica_sets_name_are_missed() -> None:
    """A ReplicaSet under an unknown Deployment hides a rollout."""
    below = workload("web", 1, owner=OwnerReference("Deployment", "web", "u"))
    assert told(pod("web-0", node="n1"), below, absent=ALL - {"ReplicaSet"}) == {"PodDisruptionBudget", "Deployment"}


def test_quotas_and_autoscalers_are_missed_where_the_policy_asks_about_them() -> None:
    """With disruption.unsettled: Deny."""
    strict = {"disruption": {"unsettled": "Deny"}}
    assert told(by=strict) == {"PodDisruptionBudget", "ResourceQuota", "HorizontalPodAutoscaler"}


def _near(**fields: Any) -> Pod:
    return pod("web-0", node="n1", owner=None, affinity=(PodAffinityTerm("zone", selector(app="x"), **fields),))


def test_namespaces_are_missed_where_their_labels_are_looked_at() -> None:
    """By a pod's affinity, or by the policy; an empty selector needs no labels."""
    assert "Namespace" in told(_near(namespace_selector=selector(team="a")))
    assert "Namespace" not in told(_near(namespace_selector=selector()))
    assert "Namespace" not in told(_near())
    assert "Namespace" in told(by={"scope": {"namespaceSelector": {"matchLabels": {"team": "a"}}}})


def test_storage_is_missed_step_by_step() -> None:
    """Claims where pods use any, volumes where claims are bound, classes where they are not."""
    user = pod("db-0", node="n1", owner=None, volumes=(CLAIM,))
    assert told(user) == {"PodDisruptionBudget", "PersistentVolumeClaim"}
    known = ALL - {"PersistentVolumeClaim", "PodDisruptionBudget"}
    bound = PersistentVolumeClaim("default", "data", volume_name="v", is_bound=True, storage_class="fast")
    assert told(user, absent=known, claims=(bound,)) == {"PersistentVolume"}
    waiting = PersistentVolumeClaim("default", "data", storage_class="fast")
    assert told(user, absent=known, claims=(waiting,)) == {"StorageClass"}


def test_what_surges_ask_about_is_missed_where_a_rule_names_them() -> None:
    """Services and quotas like any kind; NetworkPolicies, which are read of recordings alone, in words of their own."""
    rules = {"disruption": {"moveBy": [{"method": "Surge"}]}}
    seen = replace(cluster(node("n1")), absent_kinds=ALL, source="x.json", network_policies=())
    named = {sentence.split(" ")[3].rstrip(",") for sentence in absent_kinds(seen, policy(**rules))}
    assert named == {"PodDisruptionBudget", "Service", "ResourceQuota"}
    (sentence,) = absent_kinds(replace(seen, absent_kinds=frozenset(), network_policies=None), policy(**rules))
    assert sentence.startswith("NetworkPolicies were not read")
    assert list(absent_kinds(replace(seen, absent_kinds=frozenset()), policy(**rules))) == []
    other = {"disruption": {"moveBy": [{"method": "Migrate"}]}}
    assert list(absent_kinds(replace(seen, absent_kinds=frozenset(), network_policies=None), policy(**other))) == []
