"""Commands of README and docs that need a cluster, on one with the nodes and the pod that the pages name."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.scenes import add_pending, spread
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until
from tests.unit.docs.page_commands import Command, Way, commands, prepared, rule_of, written

LIVE = [one for one in commands() if (rule := rule_of(one)) and rule.way in (Way.ON_THE_RECORDING, Way.ON_A_CLUSTER)]
POD = "shop/web-2cprgjgpm-ftdk8"
NEVER_ENDS = "rescheduler run"


def scene(cluster: Cluster) -> str:
    """Six nodes named as in the recording, a pending pod that two evictions help; the name of a pod of the workload."""
    cluster.add_nodes(6, prefix="worker", cpu="4")
    spread(cluster, deployment("web", replicas=18, cpu="1"))
    add_pending(cluster, deployment("big", cpu="2500m"))
    return sorted(pod["metadata"]["name"] for pod in cluster.api.list("pods", "default", labels="app=web"))[0]


@pytest.mark.timeout(1800)  # some thirty commands, one after the other
def test_commands_of_pages_work_on_a_real_cluster(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """One after the other as the pages have them, from plan to apply; a yes is given to the one that asks."""
    pod = scene(cluster)
    prepared(tmp_path)
    (tmp_path / "cluster.json").write_text("{}")
    failed = {}
    for command in sorted(LIVE, key=lambda one: one.bare.startswith("rescheduler apply")):
        for name in written(command.bare):
            (tmp_path / name).unlink(missing_ok=True)
        text = command.bare.replace(POD, f"default/{pod}")
        done = run(command, f"{text} --yes" if text.startswith("rescheduler apply") else text, tool, tmp_path)
        if done.returncode != 0 or "Traceback" in done.stderr:
            failed[command.bare] = done.stderr
        for name in written(command.bare):
            assert (tmp_path / name).stat().st_size > 0, command
    assert failed == {}
    wait_until(lambda: cluster.pods_by_node("default", labels="app=big"), "the pending pod has a place")


def run(command: Command, text: str, tool: Tool, folder: Path) -> subprocess.CompletedProcess[str]:
    """In a shell, against the cluster; what goes on until it is stopped is interrupted once it has begun."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "KUBECONFIG": str(tool.kubeconfig), "XDG_STATE_HOME": str(folder)}
    with subprocess.Popen(
        ["bash", "-euc", text], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        if not command.bare.startswith(NEVER_ENDS):
            return subprocess.CompletedProcess(text, *reversed(_ended(process)))
        assert process.stderr is not None
        wait_until(lambda: "round ended" in process.stderr.readline(), "the daemon has planned")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        output, errors, code = _ended(process)
        return subprocess.CompletedProcess(text, code, output, errors)


def _ended(process: subprocess.Popen[str]) -> tuple[str, str, int]:
    output, errors = process.communicate(timeout=180)
    return output, errors, process.returncode


def test_there_are_commands_of_every_kind() -> None:
    """Otherwise the test above would test nothing."""
    begun = {" ".join(one.bare.split()[:2]) for one in LIVE}
    wanted = {"doctor", "plan", "explain", "snapshot", "apply", "run"}
    assert {f"rescheduler {name}" for name in wanted} <= begun
    assert len(LIVE) >= 15
