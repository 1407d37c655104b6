"""What keeps pods from running, owners from making pods, and namespaces from having room, as the API tells it."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import ResourceQuota
from tests.unit.adapters.api_objects import api_object, list_of, node_object, pod_object, read, read_pod


def seen_with(*objects: Any) -> Cluster:
    """A cluster of one node and these."""
    return read(list_of(node_object(), *objects))


def status(phase: str = "Pending", *, ready: str = "False", **fields: Any) -> dict[str, Any]:
    """A pod's status."""
    return {"phase": phase, "conditions": [{"type": "Ready", "status": ready}], **fields}


def waiting(reason: Any, *, of: str = "containerStatuses") -> dict[str, Any]:
    """A container that waits for a reason."""
    return {of: [{"name": "main", "state": {"waiting": {"reason": reason, "message": "..."}}}]}


@pytest.mark.parametrize(
    ("found", "trouble"),
    [
        (status(**waiting("ImagePullBackOff")), "ImagePullBackOff"),
        (status(**waiting("CrashLoopBackOff")), "CrashLoopBackOff"),
        (status(**waiting("CreateContainerConfigError", of="initContainerStatuses")), "CreateContainerConfigError"),
        (status(**waiting("ContainerCreating")), ""),
        (status(**waiting("PodInitializing")), ""),
        (status(**waiting(None)), ""),
        (status("Running", ready="True", **waiting("CrashLoopBackOff")), ""),
        (status(containerStatuses=[{"name": "a", "state": {"running": {"startedAt": "x"}}}]), ""),
        (status(containerStatuses=[{"name": "a", "state": None}, {"name": "b"}]), ""),
        (status("Failed", reason="OutOfcpu"), "OutOfcpu"),
        (status("Failed", reason="UnexpectedAdmissionError", **waiting("ErrImagePull")), "UnexpectedAdmissionError"),
        (status("Failed"), ""),
        (status(reason="NodeLost"), ""),
        (status(**waiting("x\x1b[31m" + "y" * 500)), None),
    ],
)
def test_a_pods_trouble_is_the_kubelets_own_word(found: dict[str, Any], trouble: str | None) -> None:
    """Only of a pod that is not Ready; what every pod says on its way is none; hostile text is escaped and cut."""
    pod = read_pod(pod_object(status=found))
    if trouble is None:
        assert "\x1b" not in pod.trouble
        assert 0 < len(pod.trouble) <= 70
    else:
        assert pod.trouble == trouble


@pytest.mark.parametrize(
    ("conditions", "failure"),
    [
        ([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}], "FailedCreate"),
        ([{"type": "ReplicaFailure", "status": "True"}], "ReplicaFailure"),
        ([{"type": "ReplicaFailure", "status": "False", "reason": "FailedCreate"}], ""),
        ([{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}], ""),
        (None, ""),
    ],
)
@pytest.mark.parametrize("kind", ["ReplicaSet", "Deployment"])
def test_an_owner_that_cannot_make_pods_says_so(kind: str, conditions: Any, failure: str) -> None:
    """By its condition ReplicaFailure."""
    found = api_object(kind, "web", namespace="default", version="apps/v1", spec={"replicas": 2},
                       status={"replicas": 2, "conditions": conditions})  # fmt: skip
    assert seen_with(found).workloads[0].failure == failure


def quota(hard: Any, used: Any, **spec: Any) -> dict[str, Any]:
    """A ResourceQuota."""
    return api_object("ResourceQuota", "team", namespace="default", spec=spec, status={"hard": hard, "used": used})


def test_a_quota_keeps_what_pods_count_in() -> None:
    """Cpu in millicores; limits, volumes and counts of other objects are left out."""
    hard = {"pods": "10", "requests.cpu": "1500m", "requests.memory": "1Gi", "limits.cpu": "8", "services": "5",
            "count/pods": 4, "requests.nvidia.com/gpu": "2"}  # fmt: skip
    seen = seen_with(quota(hard, {"pods": "3", "requests.cpu": "1", "services": "2"}, scopes=["NotTerminating"]))
    assert seen.quotas == (
        ResourceQuota(
            "default",
            "team",
            (("count/pods", 4), ("pods", 10), ("requests.cpu", 1500), ("requests.memory", 2**30),
             ("requests.nvidia.com/gpu", 2)),
            (("pods", 3), ("requests.cpu", 1000)),
            ("NotTerminating",),
        ),
    )  # fmt: skip


def test_scopes_may_stand_in_a_selector() -> None:
    """By name."""
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}
    assert seen_with(quota({}, {}, scopeSelector=selector)).quotas[0].scopes == ("PriorityClass",)


@pytest.mark.parametrize("amount", ["1.5.5", "-1", []])
def test_a_quota_that_cannot_be_read_counts_nothing(amount: Any) -> None:
    """It is named in a warning, and the rest of the cluster is read all the same."""
    seen = seen_with(quota({"pods": amount}, {}), api_object("Namespace", "default"))
    assert (seen.quotas[0].hard, len(seen.namespaces)) == ((), 1)
    assert any(text.startswith("ResourceQuota default/team: status.hard.pods: ") for text in seen.warnings)


def test_a_namespace_keeps_the_mark_of_the_kill_switch() -> None:
    """And no other annotation."""
    marks = {"rescheduler.dev/stop": "maintenance", "note": "secret"}
    seen = seen_with(api_object("Namespace", "rescheduler-holds", metadata={"annotations": marks}))
    assert dict(seen.namespaces[0].annotations) == {"rescheduler.dev/stop": "maintenance"}
