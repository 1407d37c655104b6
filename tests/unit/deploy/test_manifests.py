"""The plain manifests of deploy/, as kustomize builds them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

from rescheduler.daemon.plugins import load_policy
from tests.chart import Manifest, of_kind, pod_of, render
from tests.kubernetes_schemas import check_by_schema
from tests.paths import DEPLOY

FOLDERS = ("", "daemon", "overlays/observe", "overlays/execute", "cronjob")
OPTIONAL = (
    "guide.yaml", "guide-binding.yaml", "taint.yaml", "scheduler-configuration.yaml", "metrics.yaml", "autoscaler.yaml",
)  # fmt: skip


@cache
def built(folder: str) -> tuple[Manifest, ...]:
    """What ``kubectl apply -k`` would send."""
    places = str(Path(sys.executable).parent)
    kubectl = shutil.which("kubectl", path=places) or shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl comes with the dependency group deploy")
    command = [kubectl, "kustomize", str(DEPLOY / folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "Warning" not in done.stderr, done.stderr
    return tuple(item for item in yaml.safe_load_all(done.stdout) if item)


@pytest.mark.parametrize("folder", FOLDERS)
def test_objects_are_what_kubernetes_knows(folder: str) -> None:
    """By the strict schemas."""
    for item in built(folder):
        check_by_schema(item, "1.36")


@pytest.mark.parametrize("name", OPTIONAL)
def test_optional_files_are_what_kubernetes_knows(name: str) -> None:
    """Those that are applied one by one."""
    for item in yaml.safe_load_all((DEPLOY / name).read_text()):
        check_by_schema(item, "1.36")


@pytest.mark.parametrize(
    ("folder", "account", "mode"),
    [("overlays/observe", "rescheduler-observer", "DryRun"), ("overlays/execute", "rescheduler", "Execute")],
)
def test_overlays_differ_by_account_and_mode(folder: str, account: str, mode: str, tmp_path: Path) -> None:
    """The policy of the ConfigMap is valid, and says the mode that the account has the rights for."""
    found = list(built(folder))
    assert pod_of(found)["spec"]["serviceAccountName"] == account
    [config] = of_kind(found, "ConfigMap")
    for name, text in config["data"].items():
        (tmp_path / name).write_text(text)
    policy = load_policy([str(tmp_path / name) for name in ("policy.yaml", "mode.yaml")])
    assert (policy.mode.value, policy.telemetry.address) == (mode, "0.0.0.0:8080")


def test_only_the_executing_overlay_may_take_a_lease() -> None:
    """The daemon that only looks writes nothing, no lease either."""
    assert of_kind(list(built("overlays/observe")), "Role", "RoleBinding") == []
    assert [item["metadata"]["name"] for item in of_kind(list(built("overlays/execute")), "Role")] == [
        "rescheduler-lease"
    ]


def test_the_daemon_is_that_of_the_chart() -> None:
    """Pods of both forms are alike, but for what the chart calls its files."""
    ours, charts = pod_of(built("overlays/execute"))["spec"], pod_of(render({"mode": "Execute"}))["spec"]
    text = yaml.safe_dump(ours).replace("mode.yaml", "chart.yaml")
    assert yaml.safe_load(text) == charts


def test_a_job_and_a_cron_job_look_only() -> None:
    """They run ``plan`` under the account that cannot write, in a restricted pod."""
    for folder in ("", "cronjob"):
        spec = pod_of(built(folder))["spec"]
        [container] = spec["containers"]
        assert (spec["serviceAccountName"], container["args"]) == ("rescheduler-observer", ["plan", "-o", "wide"])
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert spec["securityContext"]["runAsNonRoot"]
