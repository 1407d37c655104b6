"""Pods: identity, state, times, marks and priority."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rescheduler.model.objects.pod import OwnerReference
from tests.unit.adapters.api_objects import CREATED, api_object, list_of, node_object, pod_object, read, read_pod

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u-web", "controller": True}
AT = 1777629600.0  # CREATED


def with_metadata(pod: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The pod with further metadata."""
    return pod | {"metadata": pod["metadata"] | fields}


def test_identity_state_and_times() -> None:
    """Everything that is not in the specification."""
    pod = read_pod(with_metadata(pod_object(), ownerReferences=[OWNER]))
    assert (pod.namespace, pod.name, pod.uid, pod.resource_version) == ("default", "a", "uid-Pod-a", "7")
    assert (pod.node_name, pod.phase, pod.is_ready, pod.is_pending) == ("n1", "Running", True, False)
    assert (pod.created_at, pod.started_at, pod.scheduled_at, pod.deletion_at) == (AT, AT, AT, None)
    assert pod.owners == (OwnerReference("ReplicaSet", "web", "u-web"),)
    assert dict(pod.labels) == {"app": "web"}


@pytest.mark.parametrize(
    ("kind", "version", "group"),
    [
        ("ReplicaSet", "apps/v1", None),
        ("ReplicaSet", "apps/v1beta2", None),
        ("ReplicationController", "v1", None),
        ("Job", "batch/v1", None),
        ("ReplicaSet", "example.com/v1", "example.com"),
        ("ReplicaSet", "v1", ""),
        ("ReplicationController", "apps/v1", "apps"),
        ("Job", "batch.volcano.sh/v1alpha1", "batch.volcano.sh"),
        ("CloneSet", "apps.kruise.io/v1alpha1", "apps.kruise.io"),
        ("CloneSet", "apps/v1", "apps"),
        ("ReplicaSet", None, None),
    ],
)
def test_owners_are_told_apart_by_group(kind: str, version: str | None, group: str | None) -> None:
    """Kubernetes' own kinds have no group of their own; recordings that leave it out mean those."""
    owner = {**OWNER, "kind": kind, "apiVersion": version}
    pod = read_pod(with_metadata(pod_object(), ownerReferences=[owner]))
    assert pod.owners == (OwnerReference(kind, "web", "u-web", group=group),)


@pytest.mark.parametrize(
    ("written", "read"), [(None, "Always"), ("Always", "Always"), ("Never", "Never"), ("OnFailure", "OnFailure")]
)
def test_whether_it_is_started_again_when_it_ends(written: str | None, read: str) -> None:
    """Left out, it is; pods that differ in this do not share one specification."""
    fields = {} if written is None else {"restartPolicy": written}
    assert read_pod(pod_object(**fields)).spec.restart_policy == read


@pytest.mark.parametrize(
    ("status", "node", "phase", "is_ready"),
    [
        ({}, "n1", "Running", True),
        ({"phase": "Running"}, "n1", "Running", True),
        ({"phase": "Pending"}, "n1", "Pending", False),
        ({}, None, "Pending", False),
        ({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}, "n1", "Running", False),
        ({"phase": "Running", "conditions": [{"type": "Ready", "status": "Unknown"}]}, "n1", "Running", False),
        ({"phase": "Succeeded"}, "n1", "Succeeded", False),
    ],
)
def test_phase_and_readiness(status: dict[str, Any], node: str | None, phase: str, is_ready: bool) -> None:
    """A status that says nothing of readiness is judged by whether the pod runs."""
    pod = read_pod(pod_object(node=node, status=status))
    assert (pod.phase, pod.is_ready) == (phase, is_ready)


def test_a_terminating_pod() -> None:
    """A deletion time means terminating, even one that cannot be read."""
    assert read_pod(with_metadata(pod_object(), deletionTimestamp=CREATED)).deletion_at == AT
    assert read_pod(with_metadata(pod_object(), deletionTimestamp="soon")).is_terminating


def test_null_is_absent() -> None:
    """API objects may hold null for whatever is not set."""
    pod = pod_object()
    nothing = dict.fromkeys(
        ("initContainers", "affinity", "tolerations", "nodeSelector", "volumes", "overhead", "resources",
         "topologySpreadConstraints", "schedulingGates", "resourceClaims", "hostNetwork", "schedulerName")
    )  # fmt: skip
    pod["spec"] |= nothing
    pod["metadata"] |= {"annotations": None, "ownerReferences": None, "labels": None, "deletionTimestamp": None}
    found, plain = read_pod(pod), read_pod(pod_object())
    assert found.spec == plain.spec
    assert found.labels == {}


def test_an_unreadable_time_is_a_warning() -> None:
    """The age is unknown then; the pod can still be read."""
    cluster = read(list_of(node_object(), with_metadata(pod_object(), creationTimestamp="yesterday")))
    assert cluster.pods[0].created_at is None
    assert cluster.warnings == ("Pod default/a: 'yesterday' is no time; its age counts as unknown",)


def test_only_annotations_that_steer_are_kept() -> None:
    """Others, however large, are passed over; a key may be written with escapes."""
    annotations = {
        "rescheduler.dev/do-not-evict": "true",
        "karpenter.sh/do-not-disrupt": "5m",
        "kubernetes.io/config.mirror": "abc",
        "kubectl.kubernetes.io/last-applied-configuration": '{"a":"rescheduler.dev/x"}',
        "note": "x" * 1000,
    }
    kept = read_pod(with_metadata(pod_object(), annotations=annotations)).annotations
    assert set(kept) == set(list(annotations)[:3])
    marked = with_metadata(pod_object(), annotations={"rescheduler.dev/do-not-evict": "true"})
    escaped = json.dumps(marked).replace("/", "\\/").encode()
    assert read(escaped).pods[0].annotations == {"rescheduler.dev/do-not-evict": "true"}


def test_an_owner_without_uid_is_no_controller() -> None:
    """Nobody can say which object it is."""
    owner = {key: value for key, value in OWNER.items() if key != "uid"}
    assert read_pod(with_metadata(pod_object(), ownerReferences=[owner])).controller is None


def test_priority_comes_from_the_class_where_it_is_not_written() -> None:
    """As admission does: the named class, a built-in one, else the default class."""
    plain = pod_object("plain")
    del plain["spec"]["priority"]
    named = pod_object("named", priorityClassName="high")
    del named["spec"]["priority"]
    system = pod_object("system", priorityClassName="system-node-critical")
    del system["spec"]["priority"]
    classes = [
        api_object("PriorityClass", "high", version="scheduling.k8s.io/v1", value=100, preemptionPolicy="Never"),
        api_object("PriorityClass", "usual", version="scheduling.k8s.io/v1", value=7, globalDefault=True),
    ]
    pods = read(list_of(node_object(), plain, named, system, pod_object("zero"), *classes)).pods
    found = {pod.name: (pod.spec.priority, pod.spec.preemption_policy) for pod in pods}
    assert found["named"] == (100, "Never")
    assert found["plain"][0] == 7
    assert found["system"][0] == 2_000_001_000
    assert found["zero"][0] == 0


def test_gates_and_nomination() -> None:
    """Gates keep a pod out; a nomination names its node."""
    pod = read_pod(pod_object(node=None, schedulingGates=[{"name": "g"}], status={"nominatedNodeName": "n1"}))
    assert (pod.scheduling_gates, pod.nominated_node) == (("g",), "n1")


def test_a_pod_from_the_future_has_no_age() -> None:
    """Relative to the recording's own time."""
    recording = list_of(node_object(), with_metadata(pod_object(), creationTimestamp="2027-01-01T00:00:00Z"))
    recording["metadata"] = {"annotations": {"rescheduler.dev/takenAt": "2026-05-01T11:00:00Z"}}
    cluster = read(recording)
    assert cluster.pods[0].created_at is None
    assert "created after the snapshot" in cluster.warnings[0]
