"""What the chart renders, over a matrix of values in which every two settings meet."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rescheduler.daemon.plugins import load_policy
from tests.chart import Manifest, Values, of_kind, pod_of, render, rendered_files
from tests.chart_matrix import matrix
from tests.kubernetes_schemas import check_by_schema

CASES = matrix()
NOT_KUBERNETES = ("monitoring.coreos.com/v1",)
VERSIONS = ("1.31", "1.36")
"""Kubernetes versions whose schemas are asked; the guide's own policy is of 1.36."""

over_the_matrix = pytest.mark.parametrize("values", [pytest.param(values, id=name) for name, values in CASES])


@cache
def _rendered(name: str) -> tuple[Manifest, ...]:
    return tuple(render(dict(CASES)[name]))


def objects_of(values: Values) -> list[Manifest]:
    """What these values of the matrix give; rendered once."""
    return list(_rendered(next(name for name, found in CASES if found is values)))


def test_the_matrix_is_large_enough() -> None:
    """Sixty renders and more, no two alike."""
    assert len({str(values) for _, values in CASES}) >= 60


@over_the_matrix
def test_objects_are_what_kubernetes_knows(values: Values) -> None:
    """By the strict schemas of Kubernetes, in which no field may be misspelt."""
    for item in objects_of(values):
        if item["apiVersion"] in NOT_KUBERNETES:
            continue
        is_new = item["kind"].startswith("MutatingAdmission")
        for version in VERSIONS[-1:] if is_new else VERSIONS:
            check_by_schema(item, version)


@over_the_matrix
def test_no_object_stands_twice(values: Values) -> None:
    """Each is of its own kind, namespace and name, and carries the labels of the release."""
    found = objects_of(values)
    keys = [(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in found]
    assert len(keys) == len(set(keys))
    labels = [item["metadata"]["labels"] for item in found]
    assert all(label["app.kubernetes.io/instance"] == "rescheduler" for label in labels)
    assert all(label.items() >= values.get("commonLabels", {}).items() for label in labels)


@over_the_matrix
def test_pods_are_restricted(values: Values) -> None:
    """As the Pod Security Standard "restricted" wants them, on a root that cannot be written."""
    spec = pod_of(objects_of(values))["spec"]
    assert (spec["securityContext"]["runAsNonRoot"], spec["securityContext"]["runAsUser"]) == (True, 65532)
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    assert not any("hostPath" in volume for volume in spec["volumes"])
    [container] = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert {mount["mountPath"] for mount in container["volumeMounts"]} >= {"/tmp", "/var/lib/rescheduler"}
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}


@over_the_matrix
def test_the_account_that_is_bound_is_the_one_that_runs(values: Values) -> None:
    """Bindings and admission policies speak of the service account in the pod, but for roles of people."""
    found = objects_of(values)
    account = pod_of(found)["spec"]["serviceAccountName"]
    bindings = [
        item for item in of_kind(found, "RoleBinding", "ClusterRoleBinding")
        if not item["roleRef"]["name"].endswith(("-viewer", "-approver"))
    ]  # fmt: skip
    subjects = [subject for item in bindings for subject in item["subjects"]]
    assert {(subject["namespace"], subject["name"]) for subject in subjects} <= {("rescheduler-system", account)}
    for policy in of_kind(found, "ValidatingAdmissionPolicy"):
        expressions = [condition["expression"] for condition in policy["spec"]["matchConditions"]]
        assert any(f'"system:serviceaccount:rescheduler-system:{account}"' in text for text in expressions)


@over_the_matrix
def test_every_binding_binds_a_role_that_is_there(values: Values) -> None:
    """A binding to nothing would be found out in the cluster only."""
    found = objects_of(values)
    known = {(role["kind"], role["metadata"].get("namespace"), role["metadata"]["name"]) for role in found}
    for binding in of_kind(found, "RoleBinding", "ClusterRoleBinding"):
        role = binding["roleRef"]
        namespace = binding["metadata"].get("namespace") if role["kind"] == "Role" else None
        is_cluster_own = role["name"] == "system:auth-delegator"
        assert is_cluster_own or (role["kind"], namespace, role["name"]) in known


@over_the_matrix
def test_the_policy_is_one(values: Values, tmp_path: Path) -> None:
    """The ConfigMap holds policies that load, and together they say what the values say."""
    [config] = [item for item in of_kind(objects_of(values), "ConfigMap") if "chart.yaml" in item["data"]]
    files = []
    for name in ("policy.yaml", "chart.yaml"):
        if name in config["data"]:
            files.append(str(tmp_path / name))
            (tmp_path / name).write_text(config["data"][name])
    policy = load_policy(files)
    assert (policy.mode, policy.guidance) == (values["mode"], values["guidance"])
    assert policy.hold.namespace == values.get("holds", {}).get("namespace", "rescheduler-holds")
    assert policy.ledger.name == values.get("ledgerName", "rescheduler-ledger")
    assert policy.scope.namespaces.include == (
        tuple(values["executeNamespaces"]) if "executeNamespaces" in values else None
    )


@over_the_matrix
def test_notes_tell_the_mode_and_the_next_step(values: Values) -> None:
    """Whoever installs it reads what it will do, and a command to go on with."""
    notes = rendered_files(values)["rescheduler/templates/NOTES.txt"]
    assert f"mode {values['mode']}" in notes
    assert ("EVICTS PODS" in notes) == (values["mode"] == "Execute")
    assert "kubectl logs" in notes
    assert "example" in notes or "image" in values


@pytest.mark.parametrize(
    ("values", "arguments"),
    [
        ({}, ["run", "--log-level", "info"]),
        ({"kind": "Job"}, ["plan", "-o", "wide"]),
        ({"kind": "CronJob", "mode": "Execute"}, ["run", "--once", "--log-level", "info"]),
    ],
)
def test_what_is_run_fits_kind_and_mode(values: Values, arguments: list[str]) -> None:
    """The daemon, or one round, which only shows its plan unless the mode is Execute."""
    [container] = pod_of(render(values))["spec"]["containers"]
    folder = "/etc/rescheduler/policy"
    assert container["args"] == [*arguments, "--policy", f"{folder}/policy.yaml", "--policy", f"{folder}/chart.yaml"]


@pytest.mark.parametrize(
    ("values", "strategy"),
    [
        ({"mode": "DryRun"}, "RollingUpdate"),
        ({"mode": "Execute"}, "RollingUpdate"),
        ({"mode": "Execute", "guidance": "Predict"}, "Recreate"),
        ({"mode": "Execute", "guidance": "Predict", "replicas": 2}, "RollingUpdate"),
        ({"mode": "Execute", "leaderElection": {"enabled": False}}, "Recreate"),
        ({"persistence": {"enabled": True}}, "Recreate"),
    ],
)
def test_two_that_evict_never_run_side_by_side(values: Values, strategy: str) -> None:
    """Where no lease keeps them apart, the new pod waits for the old one."""
    [deployment] = of_kind(render(values), "Deployment")
    assert deployment["spec"]["strategy"]["type"] == strategy


def test_a_job_has_a_name_for_each_revision() -> None:
    """Jobs cannot be changed: an upgrade makes another one."""
    [job] = of_kind(render({"kind": "Job"}), "Job")
    assert job["metadata"]["name"] == "rescheduler-1"


def test_probes_ask_where_telemetry_listens() -> None:
    """Liveness and readiness on the port of telemetry.address, whatever that is."""
    [container] = pod_of(render({"telemetry": {"address": "[::]:9999"}}))["spec"]["containers"]
    assert {"name": "telemetry", "containerPort": 9999, "protocol": "TCP"} in container["ports"]
    asked: dict[str, Any] = {name: container[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")}
    assert asked["livenessProbe"] == {"path": "/livez", "port": "telemetry"}
    assert asked["readinessProbe"] == {"path": "/readyz", "port": "telemetry"}


def test_a_change_of_mode_restarts_the_daemon_and_one_of_the_policy_does_not() -> None:
    """Rights follow the mode, so the daemon looks at them anew; policies are reloaded as they are."""

    def mark(values: Values) -> str:
        found: str = pod_of(render(values))["metadata"]["annotations"]["checksum/chart-policy"]
        return found

    assert mark({}) == mark({"policy": {"limits": {"maxEvictions": 3}}})
    assert len({mark({"mode": mode}) for mode in ("DryRun", "Approve", "Execute")}) == 3
