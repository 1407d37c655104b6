"""With our account's token and the role of deploy/surge.yaml: detaching and giving back pass, nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.model.plan.detachment import detachment_for
from rescheduler.model.plan.plan import PodReference
from tests.cluster.api import MERGE_PATCH, Api, Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.plane.kubeconfig import read_kubeconfig
from tests.cluster.resources import resource_path
from tests.cluster.rights.thief_scene import GUARD, RIGHTS, STRATEGIC, SYSTEM, Attempt, refused_by
from tests.cluster.shapes import deployment, pod
from tests.cluster.waiting import wait_until
from tests.paths import DEPLOY

HASH = "pod-template-hash"


def attempts(web: Manifest) -> Iterator[Attempt]:
    """Every other write to a pod that the right to patch pods would allow, and to pods without that."""
    path = resource_path("pods", "default", web["metadata"]["name"])
    owner = web["metadata"]["ownerReferences"][0]
    value = web["metadata"]["labels"][HASH]
    other = {**owner, "uid": "11111111-2222-3333-4444-555555555555", "name": "other", "controller": False}
    metadata: list[dict[str, Any]] = [
        {"labels": {HASH: None}},
        {"labels": {HASH: "other"}},
        {"labels": {HASH: f"{value}-leaving-leaving"}},
        {"labels": {"app": "other"}},
        {"labels": {"app": None}},
        {"labels": {"added": "x"}},
        {"labels": {HASH: f"{value}-leaving", "app": "other"}},
        {"annotations": {"theirs": "x"}},
        {"annotations": {"rescheduler.dev/do-not-evict": "true"}},
        {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}},
        {"finalizers": ["example.com/stays"]},
        {"ownerReferences": []},
        {"ownerReferences": [other]},
        {"ownerReferences": [owner, other]},
        {"ownerReferences": [{**owner, "controller": False}]},
        {"ownerReferences": [{**owner, "blockOwnerDeletion": False}]},
        {"labels": {HASH: f"{value}-leaving"}, "ownerReferences": []},
        {"labels": {HASH: f"{value}-leaving"}, "ownerReferences": [{**owner, "controller": False, "name": "other"}]},
    ]
    for item in metadata:
        yield Attempt(GUARD, "PATCH", path, {"metadata": item}, MERGE_PATCH)
    image = {"spec": {"containers": [{"name": "main", "image": "example.invalid/evil"}]}}
    more = [*web["spec"].get("tolerations", []), {"key": "theirs", "operator": "Exists"}]
    tolerations = {"spec": {"tolerations": more}}
    for body in (image, tolerations, {"spec": {"activeDeadlineSeconds": 1}}):
        yield Attempt(GUARD, "PATCH", path, body, STRATEGIC)
    yield Attempt(RIGHTS, "PUT", path, web)
    yield Attempt(RIGHTS, "DELETE", path)
    yield Attempt(RIGHTS, "POST", resource_path("pods", "default"), pod("evil"))
    yield Attempt(RIGHTS, "PATCH", f"{path}/ephemeralcontainers", image, STRATEGIC)
    for kind in ("deployments", "replicasets"):
        yield Attempt(RIGHTS, "PATCH", resource_path(kind, "default", "web"), {"spec": {"replicas": 0}}, MERGE_PATCH)


@pytest.mark.parametrize("files", [(), ("guards.yaml",)], ids=["its own guard", "beside the other guards"])
def test_every_other_write_is_refused(cluster: Cluster, files: tuple[str, ...]) -> None:
    """And taking a pod out of its ReplicaSet and giving it back are let through, by our own code."""
    plane = cluster.control_plane
    plane.apply_files(
        *(DEPLOY / name for name in ("reading.yaml", "acting.yaml", "surge.yaml", "surge-binding.yaml", *files))
    )
    cluster.add_nodes(1)
    cluster.create(deployment("web"))
    web = cluster.wait_pods_running(1, labels="app=web")[0]
    kubeconfig = plane.service_account_kubeconfig("rescheduler", SYSTEM)
    api = Api(read_kubeconfig(kubeconfig))
    first = next(iter(attempts(web)))
    wait_until(lambda: refused_by(api, first) == GUARD, "the guard to be in force")
    wrong = [(item, found) for item in attempts(web) if (found := refused_by(api, item)) != item.refused_by]
    assert wrong == []
    detach_and_give_back(cluster, str(kubeconfig), web)


def detach_and_give_back(cluster: Cluster, kubeconfig: str, web: Manifest) -> None:
    """As the account, by the product's own adapter."""
    connection = connect(kubeconfig, read_only=False)
    target = KubernetesTarget(
        connection, LiveReader(connection), clock=SystemClock(), hold_namespace="rescheduler-holds"
    )
    assert target.can_surge() is None
    reference = PodReference("default", web["metadata"]["name"], web["metadata"]["uid"])
    live = target.read_pod("default", reference.name)
    assert live is not None
    owner = target.read().owner_of(live)
    assert owner is not None
    detachment = detachment_for(live, owner.selector, "p", "2030-01-01T00:00:00Z")
    assert not isinstance(detachment, str), detachment
    assert target.detach(reference, live.resource_version, detachment)
    cluster.wait_pods_running(2, labels="app=web")
    out = cluster.api.get("pods", reference.name, "default")["metadata"]
    assert [item.get("controller") for item in out["ownerReferences"]] == [False]
    assert target.give_back(reference)
    wait_until(lambda: len(cluster.api.list("pods", "default", labels="app=web")) == 1, "one pod again")


def test_the_right_of_guide_alone_takes_no_pod_out(cluster: Cluster) -> None:
    """Under the guards, who has not been given the role of surge.yaml changes no label."""
    plane = cluster.control_plane
    plane.apply_files(*(DEPLOY / name for name in ("reading.yaml", "acting.yaml", "guide-binding.yaml", "guards.yaml")))
    cluster.add_nodes(1)
    cluster.create(deployment("web"))
    web = cluster.wait_pods_running(1, labels="app=web")[0]
    api = Api(read_kubeconfig(plane.service_account_kubeconfig("rescheduler", SYSTEM)))
    path = resource_path("pods", "default", web["metadata"]["name"])
    labels = {"labels": {HASH: f"{web['metadata']['labels'][HASH]}-leaving"}}
    notes = {"annotations": {"rescheduler.dev/surge": "{}"}}
    for metadata in (labels, notes):
        attempt = Attempt(GUARD, "PATCH", path, {"metadata": metadata}, MERGE_PATCH)
        wait_until(lambda attempt=attempt: refused_by(api, attempt) == GUARD, f"the guard to refuse {metadata}")  # type: ignore[misc]
