"""Recording a live cluster: slim, whole or not at all, and the same cluster when it is read again."""

from __future__ import annotations

import dataclasses
import gzip
import json
import lzma
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.adapters.files.recording.writing import record
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.kinds import KINDS
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.extension_points import ClusterError, SnapshotError
from rescheduler.model.objects.cluster import Cluster
from tests.clocks import FakeClock
from tests.unit.adapters.api_objects import CREATED, api_object, container, node_object, pod_object
from tests.unit.adapters.fake_api_server import Answer, Request, answer, serving, status

SECRET = "hunter2"
DATE = {"Date": "Fri, 01 May 2026 11:00:00 GMT"}
STORAGE = "storage.k8s.io/v1"


def full_pod(name: str, **spec: Any) -> dict[str, Any]:
    """A pod with everything that is kept, and secrets in whatever is not."""
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}, "namespaceSelector": {}}
    pod = pod_object(
        name,
        containers=[container(env=[{"name": "TOKEN", "value": SECRET}], command=[SECRET], ports=[{"hostPort": 80}])],
        initContainers=[container("side", restartPolicy="Always", args=[SECRET])],
        nodeSelector={"disk": "ssd"},
        tolerations=[{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
        topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "matchLabelKeys": ["rev"]}],
        overhead={"cpu": "10m"},
        volumes=[
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"x": SECRET}}},
            {"name": "disk", "rbd": {"pool": "p", "image": "i", "user": SECRET}},
            {"name": "config", "secret": {"secretName": SECRET}},
        ],
        affinity={
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}},
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 5, "podAffinityTerm": term}]},
        },
        resourceClaims=[{"name": "gpu", "resourceClaimName": SECRET}],
        schedulingGroup={"podGroupName": SECRET},
        **spec,
    )  # fmt: skip
    pod["metadata"]["annotations"] = {"rescheduler.dev/do-not-evict": "true", "note": SECRET}
    pod["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web", "uid": "u-web", "controller": True}]
    pod["metadata"]["managedFields"] = [{"manager": SECRET}]
    pod["status"]["containerStatuses"] = [
        {"name": "main", "restartCount": 2, "resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "3"},
         "state": {"waiting": {"message": SECRET}}}
    ]  # fmt: skip
    return pod


OBJECTS: list[dict[str, Any]] = [
    full_pod("a"),
    full_pod("b", priorityClassName="high"),
    pod_object("pending", None),
    node_object("n1", images=[{"names": ["registry.example.com/app:v1"], "sizeBytes": 5}]),
    node_object("n2"),
    api_object("Namespace", "default", metadata={"labels": {"kubernetes.io/metadata.name": "default"}}),
    api_object("Service", "web", namespace="default", spec={"selector": {"app": "web"}, "clusterIP": SECRET}),
    api_object("ReplicationController", "rc", namespace="default", spec={"replicas": 1, "selector": {"app": "web"}}),
    api_object("ReplicaSet", "web", namespace="default", version="apps/v1", metadata={
        "uid": "u-web", "generation": 2, "labels": {"app": "web"}, "annotations": {"note": SECRET},
        "managedFields": [
            {"manager": SECRET, "operation": "Update", "time": CREATED, "subresource": "scale",
             "fieldsV1": {"f:spec": {"f:replicas": {}, "f:template": {"x": SECRET}}}},
            {"manager": SECRET, "operation": "Update", "time": "2026-05-01T10:30:00Z", "subresource": "status",
             "fieldsV1": {"f:status": {"f:replicas": {}}}},
        ]},
               spec={"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {"x": SECRET}},
               status={"replicas": 2, "readyReplicas": 2, "observedGeneration": 2}),
    api_object("PodDisruptionBudget", "web", namespace="default", version="policy/v1",
               spec={"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 1},
               status={"disruptionsAllowed": 1, "disruptedPods": {"a": CREATED}}),
    api_object("ResourceQuota", "team", namespace="default",
               spec={"hard": {"pods": "10"}, "scopes": ["NotTerminating"]},
               status={"hard": {"pods": "10", "requests.cpu": "8", "limits.cpu": "16"},
                       "used": {"pods": "2", "requests.cpu": "1500m", "limits.cpu": "2"}}),
    api_object("HorizontalPodAutoscaler", "web", namespace="default", version="autoscaling/v2",
               spec={"scaleTargetRef": {"kind": "Deployment", "name": "web"}, "metrics": [{"x": SECRET}]},
               status={"currentReplicas": 2, "desiredReplicas": 3, "lastScaleTime": CREATED, "note": SECRET}),
    api_object("PriorityClass", "high", version="scheduling.k8s.io/v1", value=100),
    api_object("PersistentVolumeClaim", "data", namespace="default",
               metadata={"annotations": {"pv.kubernetes.io/bind-completed": "yes", "note": SECRET}},
               spec={"volumeName": "pv1", "resources": {"requests": {"storage": "1Gi"}}}, status={"phase": "Bound"}),
    api_object("PersistentVolume", "pv1", spec={"capacity": {"storage": "1Gi"}, "csi": {
        "driver": "ebs", "volumeHandle": "vol", "volumeAttributes": {"x": SECRET}}}),
    api_object("StorageClass", "fast", version=STORAGE, provisioner="ebs", parameters={"x": SECRET}),
    api_object("CSINode", "n1", version=STORAGE, spec={"drivers": [{"name": "ebs", "allocatable": {"count": 3}}]}),
    api_object("CSIDriver", "ebs", version=STORAGE, spec={"storageCapacity": True}),
    api_object("CSIStorageCapacity", "c", namespace="kube-system", version=STORAGE, storageClassName="fast",
               capacity="1Gi", nodeTopology={"matchLabels": {"zone": "a"}}),
    api_object("VolumeAttachment", "va", version=STORAGE,
               spec={"attacher": "ebs", "nodeName": "n1", "source": {"persistentVolumeName": "pv1"}}),
]  # fmt: skip


def cluster_server(request: Request) -> Answer:
    """Lists all objects by path, in one page."""
    if request.path == "/version":
        return answer({"gitVersion": "v1.36.3"})._replace(headers=DATE)
    kind = next(kind for kind in KINDS if kind.path == request.path)
    items = [{key: value for key, value in item.items() if key not in ("kind", "apiVersion")}
             for item in OBJECTS if item["kind"] == kind.name]  # fmt: skip
    return answer({"metadata": {}, "items": items})._replace(headers=DATE)


def recorded(
    folder: Path, name: str = "out.json", handle: Callable[[Request], Answer] = cluster_server, **options: Any
) -> Path:
    """A recording of the cluster above."""
    path = folder / name
    with serving(handle) as server:
        record(connect(server.kubeconfig(folder), read_only=True), str(path), **options)
    return path


def fields(cluster: Cluster) -> dict[str, Any]:
    """All of a cluster but where it is from."""
    found = {field.name: getattr(cluster, field.name) for field in dataclasses.fields(cluster)}
    del found["source"], found["is_recording"]
    return found


@pytest.mark.parametrize("name", ["out.json", "out.json.gz", "out.json.xz"])
def test_what_is_recorded_is_what_is_read_live(tmp_path: Path, name: str) -> None:
    """A recording read again equals the live snapshot, field by field; each is of when its own reading began."""
    with serving(cluster_server) as server:
        live = LiveReader(connect(server.kubeconfig(tmp_path), read_only=True), clock=FakeClock()).read()
    again = read_recording([str(recorded(tmp_path, name))])
    assert fields(dataclasses.replace(again, taken_at=live.taken_at)) == fields(live)
    assert live.taken_at == 1_777_629_600.0 + 3600
    assert live.taken_at - 60.0 <= again.taken_at <= live.taken_at
    assert live.pods[0].held is not None
    assert len(live.pods[0].spec.unmodelled) == 2
    [web] = [found for found in live.workloads if found.kind == "ReplicaSet"]
    assert web.scaled_at is not None


def test_nothing_but_needed_fields_is_recorded(tmp_path: Path) -> None:
    """No environment, no commands, no secrets, no other annotations."""
    assert SECRET not in recorded(tmp_path).read_text()


def test_a_recording_is_a_plain_list_that_others_can_read(tmp_path: Path) -> None:
    """As kubectl prints: a List of objects with kind and apiVersion."""
    data = json.loads(recorded(tmp_path).read_text())
    assert (data["kind"], data["apiVersion"]) == ("List", "v1")
    assert data["metadata"]["annotations"]["rescheduler.dev/takenAt"] == "2026-05-01T11:00:00.000000Z"
    assert {(item["kind"], item["apiVersion"]) for item in data["items"] if "items" not in item} == {
        (item["kind"], item["apiVersion"]) for item in OBJECTS
    }


def test_a_kind_of_which_there_are_none_is_an_empty_list(tmp_path: Path) -> None:
    """So that whoever reads it knows that there are none; of a kind that may not be read, or expires, nothing stands.

    A kind that the server does not have, there are none of either.
    """

    def handle(request: Request) -> Answer:
        if request.path.endswith("/resourcequotas"):
            return status(403, "forbidden")
        return status(404, "not served") if request.path.endswith("/csidrivers") else cluster_server(request)

    path = recorded(tmp_path, handle=handle)
    empty = {item["kind"]: item for item in json.loads(path.read_text())["items"] if "items" in item}
    assert set(empty) == {
        "DeploymentList",
        "StatefulSetList",
        "DaemonSetList",
        "JobList",
        "CSIDriverList",
        "NodePoolList",
        "NodeClaimList",
    }
    assert empty["DeploymentList"] == {"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": {}, "items": []}
    assert read_recording([str(path)]).absent_kinds == {"ResourceQuota"}
    assert recorded(tmp_path, "again.json", anonymize=True).exists()


def test_the_suffix_says_how_it_is_packed(tmp_path: Path) -> None:
    """gzip and xz, with the same text inside."""
    plain = recorded(tmp_path).read_bytes()
    assert gzip.decompress(recorded(tmp_path, "a.gz").read_bytes()) == plain
    assert lzma.decompress(recorded(tmp_path, "a.xz").read_bytes()) == plain


def test_standard_output(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """``-`` writes the same text to standard output."""
    plain = recorded(tmp_path).read_bytes()
    with serving(cluster_server) as server:
        record(connect(server.kubeconfig(tmp_path), read_only=True), "-")
    assert capfdbinary.readouterr().out == plain


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    """Nothing takes the place of what is no file, such as ``/dev/null``."""
    plain = recorded(tmp_path).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool, serving(cluster_server) as server:
        read = pool.submit(pipe.read_bytes)
        record(connect(server.kubeconfig(tmp_path), read_only=True), str(pipe))
        assert read.result(60) == plain
    assert pipe.is_fifo()


def test_a_failed_recording_leaves_the_old_file(tmp_path: Path) -> None:
    """The file appears whole or not at all, and nothing is left beside it."""
    (tmp_path / "out.json").write_text("old")

    def handle(request: Request) -> Answer:
        return status(403, "forbidden") if request.path.endswith("jobs") else cluster_server(request)

    with pytest.raises(ClusterError, match="list jobs"):
        recorded(tmp_path, handle=handle)
    assert (tmp_path / "out.json").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"out.json", "config", "token"}


def test_a_list_that_expires_starts_the_recording_again(tmp_path: Path) -> None:
    """No object is written twice."""
    expired: list[Request] = []

    def handle(request: Request) -> Answer:
        if request.path == "/api/v1/nodes" and not expired:
            expired.append(request)
            return status(410, "expired")
        return cluster_server(request)

    assert recorded(tmp_path, handle=handle).read_bytes() == recorded(tmp_path, "again.json").read_bytes()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Nor is it made."""
    with serving(cluster_server) as server, pytest.raises(SnapshotError, match=r"missing/out\.json: cannot be written"):
        record(connect(server.kubeconfig(tmp_path), read_only=True), str(tmp_path / "missing" / "out.json"))
