"""The admission policies in deploy/ hold our own account to what it is meant for, whatever it sends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.cluster.api import Api, ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.resources import resource_path
from tests.cluster.shapes import deployment
from tests.cluster.waiting import wait_until
from tests.paths import ACTING, DEPLOY

SYSTEM = "rescheduler-system"
LEAVING = {"key": "rescheduler.dev/leaving", "value": "1900000000.p", "effect": "NoSchedule"}
OTHER = {"key": "example.com/own", "value": "x", "effect": "PreferNoSchedule"}


@pytest.fixture
def ours(cluster: Cluster) -> Iterator[Api]:
    """The API as our executing account sees it, with everything in deploy/ bound and guarded."""
    cluster.control_plane.apply_files(*ACTING, DEPLOY / "taint.yaml", DEPLOY / "eviction-guard.yaml")
    cluster.add_nodes(2)
    cluster.api.patch("nodes", "node-0", {"spec": {"taints": [OTHER]}})
    api = Api.from_kubeconfig(cluster.control_plane.service_account_kubeconfig("rescheduler", SYSTEM))
    wait_until(lambda: is_denied(lambda: patch(api, {"spec": {"unschedulable": True}})), "the guard of nodes")
    yield api
    api.close()


def is_denied(act: Any) -> bool:
    """Whether an admission policy refuses a request (not a missing right)."""
    try:
        act()
    except ApiError as error:
        if "ValidatingAdmissionPolicy" in str(error):
            return True
        raise
    return False


def patch(api: Api, body: Any) -> None:
    """Change the node with a taint of somebody else, as a dry run."""
    path = resource_path("nodes", None, "node-0")
    api.request("PATCH", path, body, query={"dryRun": "All"}, content_type="application/merge-patch+json")


def evict(api: Api, pod: dict[str, Any], options: dict[str, Any]) -> None:
    """Ask for an eviction with these options, as a dry run."""
    metadata = {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata, "deleteOptions": options}
    path = resource_path("pods", metadata["namespace"], metadata["name"], "eviction")
    api.request("POST", path, body, query={"dryRun": "All"})


def test_evictions_need_the_uid_and_keep_the_grace(cluster: Cluster, ours: Api) -> None:
    """Without uid or with a grace of its own: denied. As we send them: granted. Others are not bound."""
    cluster.create(deployment("web"))
    pod = cluster.wait_pods_running(1)[0]
    uid = {"preconditions": {"uid": pod["metadata"]["uid"]}}
    wait_until(lambda: is_denied(lambda: evict(ours, pod, {})), "the guard of evictions")
    assert is_denied(lambda: evict(ours, pod, {**uid, "gracePeriodSeconds": 0}))
    assert is_denied(lambda: evict(ours, pod, {"preconditions": {"uid": ""}}))
    assert is_denied(lambda: evict(ours, pod, {"preconditions": {"resourceVersion": "1"}}))
    assert not is_denied(lambda: evict(ours, pod, uid))
    evict(cluster.api, pod, {})


@pytest.mark.parametrize("place", ["labels", "annotations"])
def test_a_protected_namespace_is_left_alone(cluster: Cluster, ours: Api, place: str) -> None:
    """By label or by annotation, and with true only."""
    cluster.create(deployment("web"))
    pod = cluster.wait_pods_running(1)[0]
    options = {"preconditions": {"uid": pod["metadata"]["uid"]}}

    def mark(value: str | None) -> None:
        cluster.api.patch("namespaces", "default", {"metadata": {place: {"rescheduler.dev/protected": value}}})
        time.sleep(0.3)  # the policy looks at namespaces through a watch

    mark("true")
    try:
        wait_until(lambda: is_denied(lambda: evict(ours, pod, options)), "protection")
        mark("false")
        wait_until(lambda: not is_denied(lambda: evict(ours, pod, options)), "no protection")
    finally:
        mark(None)


@pytest.mark.parametrize(
    "body",
    [
        {"spec": {"unschedulable": True}},
        {"spec": {"taints": []}},
        {"spec": {"taints": [LEAVING]}},
        {"spec": {"taints": [OTHER, {**LEAVING, "effect": "NoExecute"}]}},
        {"spec": {"taints": [OTHER, {"key": "example.com/new", "effect": "NoSchedule"}]}},
        {"spec": {"providerID": "mine://1"}},
        {"metadata": {"labels": {"pool": "mine"}}},
        {"metadata": {"annotations": {"a": "b"}}},
        {"metadata": {"finalizers": ["example.com/stay"]}},
    ],
    ids=str,
)
def test_nothing_of_a_node_changes_but_our_taint(ours: Api, body: dict[str, Any]) -> None:
    """Whatever field it is."""
    assert is_denied(lambda: patch(ours, body))


def test_our_taint_comes_and_goes_under_the_guard(cluster: Cluster, ours: Api) -> None:
    """The others stay beside it; nobody else is bound by the guard."""
    patch(ours, {"spec": {"taints": [OTHER, LEAVING]}})
    cluster.api.patch("nodes", "node-0", {"spec": {"taints": [OTHER, LEAVING]}})
    patch(ours, {"spec": {"taints": [OTHER, {**LEAVING, "value": "1900000060.p"}]}})
    patch(ours, {"spec": {"taints": [OTHER]}})
    cluster.api.patch("nodes", "node-0", {"spec": {"unschedulable": True}, "metadata": {"labels": {"pool": "x"}}})


NO_OBJECTS = ("kustomization.yaml", "krew.yaml")
"""Read by kubectl and by krew, not by an API server."""


@pytest.mark.parametrize("name", sorted(path.name for path in DEPLOY.glob("*.yaml") if path.name not in NO_OBJECTS))
def test_every_manifest_is_accepted_as_it_stands(cluster: Cluster, name: str) -> None:
    """By server-side apply, dry run, with unknown and doubled fields refused."""
    cluster.control_plane.apply_files(*ACTING)
    for document in yaml.safe_load_all((DEPLOY / name).read_text()):
        path = f"{cluster.api._path_of(document)}/{document['metadata']['name']}"
        query = {"fieldManager": "tests", "force": "true", "dryRun": "All", "fieldValidation": "Strict"}
        cluster.api.request("PATCH", path, document, query=query, content_type="application/apply-patch+yaml")
