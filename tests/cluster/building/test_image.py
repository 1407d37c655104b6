"""The image, built for real from its build file, as what a pod of the cluster would run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cluster.building.image_engine import ImageEngine, why_not
from tests.cluster.cluster import Cluster
from tests.cluster.plane.kubeconfig import read_kubeconfig
from tests.cluster.scenes import fragmented
from tests.paths import ACTING

ACCOUNT = "/run/secrets/kubernetes.io/serviceaccount"
COMMAND = "/opt/rescheduler/bin/rescheduler"
WRITABLE = """
import os, stat
own = ("/proc", "/sys", "/dev", "/tmp", "/var/lib/rescheduler")
found = [path for path, _, _ in os.walk("/") if os.access(path, os.W_OK) and not path.startswith(own)]
print(os.geteuid(), [path for path in found if not os.stat(path).st_mode & stat.S_ISVTX])
"""
"""Tells who runs it, and which folders it may write to besides the kernel's, the volumes, and those in which anybody
may by the custom of Unix."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> ImageEngine:
    """Built once; a machine without a builder is no reason to fail."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    engine = ImageEngine(tmp_path_factory.mktemp("image"))
    engine.build()
    return engine


@pytest.mark.timeout(1500)
def test_the_image_plans_for_the_cluster_that_it_runs_in(cluster: Cluster, tmp_path: Path, image: ImageEngine) -> None:
    """With what the kubelet gives a pod of the shipped account alone: token, authority, where the server is.

    It runs as a user without a name, who may write to the two volumes alone, and its settings say so.
    """
    found = image.settings()
    assert (found["User"], found["Entrypoint"]) == ("65532:65532", [COMMAND])
    assert set(found["Volumes"]) == {"/tmp", "/var/lib/rescheduler"}
    cluster.control_plane.apply_files(*ACTING)
    fragmented(cluster, nodes=3)
    access = read_kubeconfig(cluster.control_plane.service_account_kubeconfig("rescheduler", "rescheduler-system"))
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text(access.token or "")
    (account / "ca.crt").write_text(access.authority.read_text())
    host, _, port = access.server.removeprefix("https://").partition(":")
    planned = image.run(
        COMMAND, "plan", "-o", "json", mounts={account: ACCOUNT}, KUBERNETES_SERVICE_HOST=host,
        KUBERNETES_SERVICE_PORT=port,
    )  # fmt: skip
    assert planned.returncode == 0, planned.stderr
    plan = json.loads(planned.stdout)
    assert (plan["snapshot"]["nodes"], len(plan["moves"]), len(plan["placements"])) == (3, 2, 1), planned.stdout
    assert image.run("python", "-c", WRITABLE).stdout == "65532 []\n"
    demo = image.run(COMMAND, "demo")
    assert demo.returncode == 0, demo.stderr
