"""What the chart renders is what a real API server takes, and a release comes and goes as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chart import CHART, NAMESPACE, Manifest, render
from tests.chart_matrix import matrix
from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.plane.clean_slate import CleanSlate
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.rights.monitoring_crds import monitoring_crds

NAMESPACES = (NAMESPACE, "rescheduler-holds", "rooms", "shop", "web", "volcano")
"""All that values of the matrix speak of."""
LOOKING = {"rescheduler-observe", "rescheduler-autoscaler-observe"}
"""ClusterRoles of a release that only looks."""


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    """One of its own: another test's guide policy, which must never be deleted, would stand in a release's way."""
    with ControlPlane() as plane:
        yield plane


@pytest.fixture(scope="module")
def clean_slate(control_plane: ControlPlane) -> CleanSlate:
    """What that fresh cluster holds."""
    return CleanSlate(control_plane.api)


@pytest.fixture
def prepared(cluster: Cluster) -> Cluster:
    """A cluster with the namespaces that manifests stand in."""
    for name in NAMESPACES:
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return cluster


def distinct(objects: list[Manifest]) -> list[Manifest]:
    """Those that differ."""
    return list({json.dumps(item, sort_keys=True): item for item in objects}.values())


def test_every_object_of_the_matrix_is_taken(prepared: Cluster) -> None:
    """As a dry run, and strictly: no unknown field, no expression that does not compile, no value out of range."""
    found = distinct([item for _, values in matrix() for item in render(values)])
    assert len(found) > 300
    with monitoring_crds(prepared.api):
        assert list(filter(None, (_refusal(prepared, item) for item in found))) == []


def _refusal(cluster: Cluster, item: Manifest) -> str | None:
    if item["kind"] == "Namespace":  # it is there already
        item = {**item, "metadata": {**item["metadata"], "name": "another"}}
    try:
        cluster.api.create(item, dry_run=True, strict=True)
    except ApiError as error:
        return f"{item['kind']} {item['metadata']['name']}: {error}"
    return None


def test_pods_of_every_form_are_taken_by_a_restricted_namespace(prepared: Cluster) -> None:
    """Pod Security admission lets them in as they stand."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    prepared.api.patch("namespaces", NAMESPACE, {"metadata": {"labels": labels}})
    for kind in ("Deployment", "CronJob", "Job"):
        objects = render({"kind": kind, "mode": "Execute"})
        account = next(item for item in objects if item["kind"] == "ServiceAccount")
        prepared.api.apply(account)
        template = _template(objects, kind)
        metadata = {"name": "try", "namespace": NAMESPACE, "labels": template["metadata"]["labels"]}
        prepared.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]},
                            dry_run=True, strict=True)  # fmt: skip


def _template(objects: list[Manifest], kind: str) -> Manifest:
    [workload] = [item for item in objects if item["kind"] == kind]
    spec = workload["spec"]
    found: Manifest = (spec["jobTemplate"]["spec"] if kind == "CronJob" else spec)["template"]
    return found


def helm_config(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Helm itself, as the administrator; its files stay in the test's own folder."""
    helm = pytest.importorskip("helm_python", reason="Helm comes with the dependency group deploy")
    for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return helm.Config(kubeconfig_path=str(cluster.control_plane.kubeconfig), namespace=NAMESPACE)


def test_a_release_is_installed_changed_and_removed(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Helm: observing first, then executing with Guide, then gone; rights come and go with the mode.

    With Hold where the server does not have the kind of Guide's rule.
    """
    has_kind = cluster.api.serves("mutatingadmissionpolicies")
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    with helm_config(cluster, tmp_path, monkeypatch) as config:
        config.install(str(CHART), "rescheduler", {})
        assert _roles(cluster) == LOOKING
        config.upgrade(str(CHART), "rescheduler", {"mode": "Execute", "guidance": "Guide" if has_kind else "Hold"})
        assert "rescheduler-execute" in _roles(cluster)
        if has_kind:
            policy = cluster.api.get("mutatingadmissionpolicies", "rescheduler-guide")
            assert policy["metadata"]["labels"]["app.kubernetes.io/part-of"] == "rescheduler"
        config.upgrade(str(CHART), "rescheduler", {"mode": "DryRun"})
        assert _roles(cluster) == LOOKING
        config.uninstall("rescheduler")
    assert _roles(cluster) == set()
    for resource in ("deployments", "serviceaccounts", "configmaps"):
        names = [item["metadata"]["name"] for item in cluster.api.list(resource, NAMESPACE)]
        assert not [name for name in names if name.startswith("rescheduler")], resource


def _roles(cluster: Cluster) -> set[str]:
    names = [item["metadata"]["name"] for item in cluster.api.list("clusterroles")]
    return {name for name in names if name.startswith("rescheduler")}


def test_guide_works_as_helm_installs_it(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Helm writes its own name over the label by which we knew our admission policy; it is ours all the same."""
    from rescheduler.adapters.kubernetes.client.connection import connect
    from rescheduler.adapters.kubernetes.guidance.guidance_support import why_no_gates

    if not cluster.api.serves("mutatingadmissionpolicies"):
        pytest.skip("this server does not have the kind of Guide's rule")
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    with helm_config(cluster, tmp_path, monkeypatch) as config:
        config.install(str(CHART), "rescheduler", {"mode": "Execute", "guidance": "Guide"})
        connection = connect(str(cluster.control_plane.kubeconfig), read_only=False)
        assert why_no_gates(connection, "rescheduler-holds") is None
        config.uninstall("rescheduler")
