"""Workloads, budgets, services, namespaces and priority classes."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.workload import DisruptionBudget, NetworkPolicy, Workload
from tests.unit.adapters.api_objects import api_object, list_of, node_object, pod_object, read

SELECTOR = {"matchLabels": {"app": "web"}}
WEB = LabelSelector((Requirement("app", "In", ("web",)),))


def workload(kind: str, spec: dict[str, Any], status: dict[str, Any] | None = None, **metadata: Any) -> Workload:
    """The model's workload of one API object."""
    found = api_object(kind, "web", namespace="shop", metadata=metadata, version=VERSIONS[kind], spec=spec)
    if status is not None:
        found["status"] = status
    (made,) = read(list_of(node_object(), found)).workloads
    return made


def budget(spec: dict[str, Any], status: dict[str, Any] | None) -> DisruptionBudget:
    """The model's budget of one API object."""
    found = api_object("PodDisruptionBudget", "web", namespace="shop", version="policy/v1", spec=spec)
    found["metadata"]["generation"] = 4
    if status is not None:
        found["status"] = status
    (made,) = read(list_of(node_object(), found)).budgets
    return made


VERSIONS = dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"), "apps/v1") | {
    "ReplicationController": "v1",
    "Job": "batch/v1",
}


@pytest.mark.parametrize(
    ("kind", "spec", "status", "counts"),
    [
        ("ReplicaSet", {"replicas": 3}, {"replicas": 3, "readyReplicas": 2, "observedGeneration": 1}, (3, 2, 3, 3)),
        ("ReplicaSet", {"replicas": 0}, {"replicas": 0, "observedGeneration": 1}, (0, 0, 0, 0)),
        ("ReplicaSet", {}, None, (1, None, None, None)),
        ("Deployment", {"replicas": 3}, {"observedGeneration": 2, "replicas": 4, "updatedReplicas": 1,
                                         "readyReplicas": 3}, (3, 3, 1, 4)),
        ("Deployment", {"replicas": 3}, {}, (3, None, None, None)),
        ("StatefulSet", {"replicas": 2}, {"replicas": 2, "readyReplicas": 2, "updatedReplicas": 2}, (2, 2, 2, 2)),
        ("DaemonSet", {}, {"desiredNumberScheduled": 5, "numberReady": 4, "updatedNumberScheduled": 5,
                           "currentNumberScheduled": 5, "observedGeneration": 1}, (5, 4, 5, 5)),
        ("DaemonSet", {}, None, (None, None, None, None)),
        ("ReplicationController", {"replicas": 2, "selector": {"app": "web"}}, {"replicas": 2}, (2, 0, 2, 2)),
        ("Job", {"parallelism": 4}, {"active": 3, "ready": 2}, (4, 2, 0, 3)),
    ],
)  # fmt: skip
def test_counts(kind: str, spec: dict[str, Any], status: Any, counts: tuple[int | None, ...]) -> None:
    """Desired, ready, updated and current replicas; None where the object does not say."""
    found = workload(kind, spec, status)
    assert (
        found.desired_replicas, found.ready_replicas, found.updated_replicas, found.current_replicas
    ) == counts  # fmt: skip


def test_rollout_state_and_owner() -> None:
    """Generation, pause, deletion, selector and the owner above."""
    owner = {"kind": "Deployment", "name": "d", "uid": "u-d", "controller": True}
    found = workload(
        "ReplicaSet",
        {"replicas": 1, "selector": SELECTOR, "paused": True},
        {"observedGeneration": 4},
        generation=5,
        ownerReferences=[owner],
        deletionTimestamp="2026-01-01T00:00:00Z",
    )
    assert (found.generation, found.observed_generation) == (5, 4)
    assert found.is_paused
    assert found.is_terminating
    assert found.selector == WEB
    assert found.owner is not None
    assert found.owner.uid == "u-d"
    assert found.key == "ReplicaSet shop/web"


def test_a_replication_controllers_selector_is_plain_labels() -> None:
    """It has no matchLabels."""
    assert workload("ReplicationController", {"selector": {"app": "web"}}).selector == WEB


def test_a_budget_with_its_status() -> None:
    """The controller's own count is taken over."""
    found = budget(
        {"selector": SELECTOR, "maxUnavailable": "50%", "unhealthyPodEvictionPolicy": "AlwaysAllow"},
        {"observedGeneration": 4, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3,
         "disruptedPods": {"b": "2026-01-01T00:00:00Z", "a": None}},
    )  # fmt: skip
    assert found.problem is None
    assert (found.disruptions_allowed, found.current_healthy, found.desired_healthy, found.expected_pods) == (
        1,
        3,
        2,
        3,
    )
    assert (found.generation, found.observed_generation) == (4, 4)
    assert found.disrupted_pods == ("a", "b")
    assert (found.selector, found.max_unavailable, found.min_available) == (WEB, "50%", None)
    assert found.unhealthy_pod_eviction_policy == "AlwaysAllow"


@pytest.mark.parametrize(
    ("spec", "status", "problem"),
    [
        ({"selector": SELECTOR}, None, "no status yet"),
        ({"selector": SELECTOR}, {}, "no status yet"),
        ({"selector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}}, {"disruptionsAllowed": 3}, "Like"),
        ({"selector": SELECTOR}, {"disruptionsAllowed": -2}, "disruptionsAllowed is -2"),
    ],
)
def test_a_budget_that_cannot_be_trusted_allows_nothing(spec: dict[str, Any], status: Any, problem: str) -> None:
    """The reason is kept beside a zero."""
    found = budget(spec, status)
    assert problem in (found.problem or "")
    assert found.disruptions_allowed == 0


@pytest.mark.parametrize(("selector", "found"), [(None, None), ({}, LabelSelector())])
def test_absent_and_empty_selectors_differ(selector: Any, found: Any) -> None:
    """None selects nothing, an empty one everything."""
    assert budget({"selector": selector}, {"disruptionsAllowed": 0}).selector == found


def test_services_namespaces_and_classes() -> None:
    """What stands around pods."""
    cluster = read(
        list_of(
            node_object(),
            api_object("Service", "web", namespace="shop", spec={"selector": {"app": "web"}}),
            api_object("Service", "headless", namespace="shop", spec={}),
            api_object("Namespace", "shop", metadata={"labels": {"team": "a"}}),
            api_object("PriorityClass", "high", version="scheduling.k8s.io/v1", value=10),
        )
    )
    assert [(service.name, dict(service.selector)) for service in cluster.services] == [
        ("headless", {}),
        ("web", {"app": "web"}),
    ]
    assert cluster.namespace_labels == {"shop": {"team": "a"}}
    assert [(found.name, found.value, found.is_default) for found in cluster.priority_classes] == [("high", 10, False)]


def test_other_groups_with_the_same_kind_are_passed_over() -> None:
    """A Service of another API group is another thing."""
    knative = api_object("Service", "web", namespace="shop", version="serving.knative.dev/v1", spec={"selector": 7})
    assert read(list_of(node_object(), knative)).services == ()


@pytest.mark.parametrize("kind", list(VERSIONS))
def test_of_a_workloads_annotations_ours_alone_are_kept(kind: str) -> None:
    """The others may be large, the last-applied object among them, in which ours may stand too."""
    applied = '{"metadata":{"annotations":{"rescheduler.dev/reschedule":"0"}}}'
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": applied, "rescheduler.dev/reschedule": "1"}
    assert workload(kind, {}, annotations=annotations).annotations == {"rescheduler.dev/reschedule": "1"}
    assert workload(kind, {}, annotations={"a": "b"}).annotations == {}
    assert workload(kind, {}).annotations == {}


def managed(time: str, fields: dict[str, Any], **entry: Any) -> dict[str, Any]:
    """One entry of metadata.managedFields."""
    return {"manager": "somebody", "operation": "Update", "time": time, "fieldsV1": fields, **entry}


REPLICAS = {"f:spec": {"f:replicas": {}}}
COUNTED = {"f:status": {"f:replicas": {}}}
EARLY, LATE = "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ([managed(EARLY, REPLICAS)], 1777629600.0),
        ([managed(EARLY, REPLICAS), managed(LATE, REPLICAS, subresource="scale")], 1777633200.0),
        ([managed(EARLY, REPLICAS), managed(LATE, {"f:spec": {"f:template": {}}})], 1777629600.0),
        (
            [managed(EARLY, REPLICAS), managed(LATE, COUNTED, subresource="status")],
            1777629600.0,
        ),
        ([managed(EARLY, {"f:spec": {"f:parallelism": {}}})], 1777629600.0),
        ([managed(LATE, COUNTED, subresource="status")], None),
        ([managed("yesterday", REPLICAS)], None),
        ([{"fieldsV1": REPLICAS}], None),
        ([{"time": 5, "fieldsV1": REPLICAS}], None),
        ({"fieldsV1": REPLICAS}, None),
        ("f:replicas", None),
        ([], None),
        (None, None),
    ],
)
def test_when_replicas_were_written_is_known_from_who_has_written_them(entries: Any, told: float | None) -> None:
    """The latest of all writers of the specification; what nobody can read says nothing, and spoils nothing."""
    found = workload("Deployment", {"replicas": 3}, managedFields=entries)
    assert found.scaled_at == told
    assert found.desired_replicas == 3


@pytest.mark.parametrize(
    ("strategy", "read"),
    [
        (None, ("", None)),
        ({"type": "Recreate"}, ("Recreate", None)),
        ({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0}}, ("RollingUpdate", 0)),
        (
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
            ("RollingUpdate", "25%"),
        ),
    ],
)
def test_how_a_deployment_rolls_out(strategy: dict[str, Any] | None, read: tuple[str, Any]) -> None:
    """Its strategy and how many pods it may have beyond what it wants, as written."""
    spec = {"selector": SELECTOR} | ({} if strategy is None else {"strategy": strategy})
    made = workload("Deployment", spec)
    assert (made.strategy, made.max_surge) == read


def network_policies(*items: dict[str, Any]) -> tuple[NetworkPolicy, ...] | None:
    """Those of a recording with these objects."""
    return read(list_of(node_object(), *items)).network_policies


def test_network_policies_tell_whom_they_look_at() -> None:
    """The pods that they hold for, and those on the other side; an empty list says that there are none."""
    spec = {
        "podSelector": SELECTOR,
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": "api"}}}, {"ipBlock": {"cidr": "10.0.0.0/8"}}]}],
        "egress": [{"to": [{"namespaceSelector": {}}]}, {}],
    }
    version = "networking.k8s.io/v1"
    found = network_policies(api_object("NetworkPolicy", "deny", namespace="shop", version=version, spec=spec))
    assert found == (NetworkPolicy("shop", "deny", (WEB, LabelSelector((Requirement("app", "In", ("api",)),)))),)
    assert network_policies() is None
    assert network_policies({"apiVersion": version, "kind": "NetworkPolicyList", "items": []}) == ()


def test_a_pod_that_was_taken_out_of_its_replica_set_still_counts_for_it() -> None:
    """As the annotation says; without it the same pod is nobody's."""
    template = {"app": "web", "pod-template-hash": "h1"}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-h1", "uid": "u1", "controller": False}
    mark = '{"label": "pod-template-hash", "value": "h1", "plan": "p1", "expires": "2027-01-15T08:00:00Z"}'
    above = api_object("ReplicaSet", "web-h1", namespace="shop", version="apps/v1",
                       metadata={"uid": "u1"}, spec={"selector": {"matchLabels": template}})  # fmt: skip
    for marks, name in (({"rescheduler.dev/surge": mark}, "web-h1"), ({}, None)):
        one = pod_object("web-1", namespace="shop")
        labels = {**template, "pod-template-hash": "h1-leaving"}
        one["metadata"] |= {"labels": labels, "annotations": marks, "ownerReferences": [owner]}
        seen = read(list_of(node_object(), above, one))
        found = seen.workload_of(seen.pods[0])
        assert (None if found is None else found.name) == name
