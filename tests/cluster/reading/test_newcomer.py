"""The first hour of a newcomer: an environment of his own, the wheel and nothing else of the project, and a cluster."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.scenes import cramped
from tests.paths import ROOT

PORT_OF_NO_MATTER = """\
apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
telemetry: {address: "127.0.0.1:0"}
"""


class Shell(NamedTuple):
    """Of somebody who has installed it: nothing of the checkout, and no variable from outside, is seen."""

    environment: Path
    folder: Path
    kubeconfig: Path

    def __call__(self, command: str) -> str:
        """What it prints; it has to end with 0."""
        variables = {
            "PATH": f"{self.environment / 'bin'}:/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8",
            "KUBECONFIG": str(self.kubeconfig), "COLUMNS": "120",
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-euc", command], cwd=self.folder, env=variables, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), (command, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new one with the wheel, and what pip finds that it needs."""
    folder = tmp_path_factory.mktemp("newcomer")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), "-t", "wheel"]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=300)
    [wheel] = folder.glob("*.whl")
    target = folder / "environment"
    venv.create(target, with_pip=True)
    pip = [str(target / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, str(wheel)], cwd=folder, check=True, capture_output=True, timeout=1200)
    return target


@pytest.mark.campaign
@pytest.mark.timeout(3000)
def test_from_the_wheel_to_the_daemon(cluster: Cluster, environment: Path, tmp_path: Path) -> None:
    """In the order of README: doctor, plan, the plan as a page, a policy, check, apply, history, and the daemon."""
    cramped(cluster)
    shell = Shell(environment, tmp_path, cluster.control_plane.user_kubeconfig("newcomer", ("system:masters",)))
    assert shell("python -c 'import rescheduler; print(rescheduler.__file__)'").startswith(str(environment))
    assert shell("rescheduler doctor").startswith("Nothing keeps it from working")
    assert "OPTIMAL  MakeRoom: 1 of 1 pending pod gets a place, by 1 eviction" in shell("rescheduler plan")
    shell("rescheduler plan -o html > plan.html")
    assert "Nodes before and after" in (tmp_path / "plan.html").read_text()
    shell("rescheduler policy init -o policy.yaml")
    assert shell("rescheduler check policy.yaml").startswith("DryRun: evicts nothing\n")
    assert "Landed" in shell("rescheduler apply --policy policy.yaml --yes")
    cluster.wait_pods_running(7)
    assert "default/web-" in shell("rescheduler history")
    (tmp_path / "here.yaml").write_text(PORT_OF_NO_MATTER)
    told = shell("rescheduler run --once --policy policy.yaml --policy here.yaml 2>&1")
    assert "round ended" in told
    assert "eviction sent" not in told
