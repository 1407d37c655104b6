"""A run that surges is killed at any of its steps: nobody is missing, and what is left of it is given back."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import LOST, Answered, Asked, FaultProxy, Forward
from tests.cluster.guidance.guided_scenes import install
from tests.cluster.plane.kwok import NEVER_READY, READY_AFTER
from tests.cluster.surges.surge_scenes import Floor, remains, shop, start, surge_plan, wait_at_rest, wait_out
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

GUARDIAN_SECONDS = 15
"""Within this time nothing that a ReplicaSet or a user would see is left; placeholders go by their own deadline."""
TIDY_SECONDS = 40


def is_pod_patch(asked: Asked, word: bytes) -> bool:
    """Whether a pod itself is patched, with this in it."""
    return asked.method == "PATCH" and "/namespaces/default/pods/" in asked.path and word in asked.body


STEPS: dict[str, Callable[[Asked], bool]] = {
    "the rule": lambda asked: asked.method in ("POST", "PUT") and "/configmaps" in asked.path,
    "the detachment": lambda asked: is_pod_patch(asked, b"-leaving"),
    "the nomination": lambda asked: is_pod_patch(asked, b"nominatedNodeName"),
    "the gate": lambda asked: is_pod_patch(asked, b"$patch"),
    "the eviction": lambda asked: asked.is_eviction,
}
UNDOING = "giving back"


class Killer:
    """Kills a run at one of its requests: before that is sent on, or after it had its effect."""

    def __init__(self, is_meant: Callable[[Asked], bool], *, is_after: bool, whole_group: bool = False) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.is_done = False
        self._is_meant = is_meant
        self._is_after = is_after
        self._whole_group = whole_group
        self._lock = threading.Lock()

    def meddle(self, asked: Asked, forward: Forward) -> Answered:
        """Answer one request."""
        with self._lock:
            is_due = not self.is_done and self._is_meant(asked)
            self.is_done = self.is_done or is_due
        if not is_due:
            return forward()
        if self._is_after:
            forward()
        assert self.process is not None
        if self._whole_group:
            os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        return LOST


def is_given_back(asked: Asked) -> bool:
    """Whether a pod is put back."""
    return is_pod_patch(asked, b'"rescheduler.dev/surge":null')


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "step", [pytest.param(step, marks=[] if step == "the gate" else pytest.mark.campaign) for step in [*STEPS, UNDOING]]
)
def test_kill_9_at_any_step(
    cluster: Cluster, tool: Tool, proxied: FaultProxy, tmp_path: Path, step: str, is_after: bool
) -> None:
    """The guardian gives back first and then opens the gate; as many pods run as are wanted, and nobody was missing."""
    install(cluster)
    shop(cluster, 1, annotations={NEVER_READY: "true"} if step == UNDOING else {READY_AFTER: "1s"})
    killer = Killer(is_given_back if step == UNDOING else STEPS[step], is_after=is_after, whole_group=is_after)
    proxied.meddle = killer.meddle
    with Floor(cluster) as floor:
        killer.process = start(
            proxied.kubeconfig, tmp_path, surge_plan(cluster), within=3.0 if step == UNDOING else 20.0
        )
        said = killer.process.communicate(timeout=60)
        assert killer.is_done, f"the run was to be killed, but ended by itself: {said}"
        wait_until(
            lambda: not [name for name in remains(cluster) if name.startswith("web-")],
            lambda: f"pods as their owner has them: {remains(cluster)}", timeout_seconds=GUARDIAN_SECONDS,
        )  # fmt: skip
        wait_at_rest(cluster, 1, TIDY_SECONDS)
    floor.holds(1)


def kill_with_guardian(process: subprocess.Popen[str]) -> None:
    """Kill a run, and the guardian that it started in a session of its own."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True)
    children = [int(word) for word in found.stdout.split()]
    for child in children:
        os.kill(child, signal.SIGKILL)
    process.kill()
    process.communicate(timeout=30)


@pytest.mark.parametrize("how", [pytest.param("clean", marks=pytest.mark.campaign), "next run"])
def test_without_a_guardian_somebody_else_gives_back(cluster: Cluster, tool: Tool, tmp_path: Path, how: str) -> None:
    """Until then there is one Ready pod too many; ``clean`` tells of it, and the next run does too."""
    install(cluster)
    shop(cluster, 1, annotations={READY_AFTER: "3s"})
    plan = surge_plan(cluster)
    with Floor(cluster) as floor:
        process = start(tool.kubeconfig, tmp_path, plan)
        wait_out(cluster)
        kill_with_guardian(process)
        time.sleep(1.0)
        wait_out(cluster)
        if how == "clean":
            answer = tool.run("clean", "--yes")
            assert "which its ReplicaSet is given back" in answer.output
            wait_at_rest(cluster, 1, 15)
        else:
            wait_until(lambda: not jobs_of_ours(cluster), "the placeholders to go", timeout_seconds=60)
            again = start(tool.kubeconfig, tmp_path, plan)
            said, errors = again.communicate(timeout=90)
            assert "was left out of its ReplicaSet by an earlier run and was given back" in said, (said, errors)
            wait_at_rest(cluster, 1, 15)
    floor.holds(1)


def jobs_of_ours(cluster: Cluster) -> list[str]:
    """Names of Jobs of ours that stand."""
    found = cluster.api.list("jobs", labels="app.kubernetes.io/managed-by=rescheduler")
    return [item["metadata"]["name"] for item in found]
