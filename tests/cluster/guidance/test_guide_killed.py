"""A guided run that is killed at any step leaves no gated pod, no rule and no placeholder behind."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import LOST, Answered, Asked, FaultProxy, Forward
from tests.cluster.guidance.guided_scenes import (
    POLICY,
    exchange,
    full_pair,
    gated,
    install,
    left_over,
    pods_of,
    wait_tidy,
)
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

GATED_AT_MOST_SECONDS = 10
"""Within this time the guardian has let gated pods go."""
TIDY_SECONDS = 30
"""Deadline of the policy (20 s), five seconds, and some for a busy machine."""


def is_job(asked: Asked) -> bool:
    """Whether a Job is made."""
    return asked.method == "POST" and asked.path.endswith("/jobs")


def is_rule(asked: Asked) -> bool:
    """Whether the rule is made or replaced."""
    return asked.method in ("POST", "PUT") and "/configmaps" in asked.path and b'"owners"' in asked.body


def is_nomination(asked: Asked) -> bool:
    """Whether a replacement is nominated."""
    return asked.method == "PATCH" and asked.path.startswith("/api/v1/namespaces/default/pods/")


def is_ungating(asked: Asked) -> bool:
    """Whether a gate is taken off."""
    return asked.method == "PATCH" and b'"$patch"' in asked.body


def is_deletion(asked: Asked) -> bool:
    """Whether something of ours is deleted."""
    return asked.method == "DELETE"


STEPS: dict[str, tuple[Callable[[Asked], bool], int]] = {
    "the Job of the rule": (lambda asked: is_job(asked) and b'"guide-' in asked.body, 1),
    "the rule": (is_rule, 1),
    "the first eviction": (lambda asked: asked.is_eviction, 1),
    "the second eviction": (lambda asked: asked.is_eviction, 2),
    "the first nomination": (is_nomination, 1),
    "the second nomination": (is_nomination, 2),
    "the first deletion of a placeholder": (is_deletion, 1),
    "the first gate": (is_ungating, 1),
    "the second gate": (is_ungating, 2),
}
"""Requests of one exchange: what they are, and which of them is meant."""


class Killer:
    """Kills a run at one of its requests: before that is sent on, or after it had its effect."""

    def __init__(self, step: str, *, is_after: bool, whole_group: bool) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.killed_at = 0.0
        self.number = signal.SIGKILL
        self._is_meant, self._left = STEPS[step]
        self._is_after = is_after
        self._whole_group = whole_group
        self._lock = threading.Lock()

    def meddle(self, asked: Asked, forward: Forward) -> Answered:
        """Answer one request."""
        with self._lock:
            if self.killed_at or not self._is_meant(asked):
                is_due = False
            else:
                self._left -= 1
                is_due = self._left == 0
        if not is_due:
            return forward()
        done = forward() if self._is_after else LOST
        self._kill()
        return LOST if self.number == signal.SIGKILL else done

    def _kill(self) -> None:
        assert self.process is not None
        if self._whole_group:
            os.killpg(self.process.pid, self.number)
        else:
            self.process.send_signal(self.number)
        self.killed_at = time.monotonic()


def start(tool: Tool, folder: Path, plan: str, policy: str = POLICY) -> subprocess.Popen[Any]:
    """Carry a plan out in a process group of its own, as a shell does."""
    file = folder / "plan.json"
    file.write_text(plan)
    command = ["apply", "--yes", "--plan", str(file), "--policy", tool.policy(policy), "-o", "json"]
    return tool.start(*command, process_group=0)


@pytest.mark.parametrize("is_after", [pytest.param(False, marks=pytest.mark.campaign), True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_kill_9_at_any_step_leaves_nothing(
    cluster: Cluster, tool: Tool, proxied: FaultProxy, tmp_path: Path, step: str, is_after: bool
) -> None:
    """Gated pods go at once, everything else by the deadline at the latest, and both workloads get a pod again."""
    install(cluster)
    full_pair(cluster, rivals=0)
    killer = Killer(step, is_after=is_after, whole_group=is_after)
    proxied.meddle = killer.meddle
    killer.process = start(tool, tmp_path, exchange(cluster))
    said = killer.process.communicate(timeout=60)
    assert killer.killed_at, f"the run was to be killed, but ended by itself: {said}"
    time.sleep(0.5)
    wait_until(
        lambda: not gated(cluster), lambda: f"free pods: {gated(cluster)}", timeout_seconds=GATED_AT_MOST_SECONDS
    )
    wait_tidy(cluster, TIDY_SECONDS)
    for app in ("x", "y"):
        cluster.wait_pods_running(1, labels=f"app={app}")


@pytest.mark.parametrize(
    "step",
    [
        *(
            pytest.param(step, marks=pytest.mark.campaign)
            for step in ("the rule", "the second eviction", "the first gate")
        ),
        "the first eviction",
    ],
)
def test_an_interrupt_opens_the_gate_at_once(
    cluster: Cluster, tool: Tool, proxied: FaultProxy, tmp_path: Path, step: str
) -> None:
    """Ctrl-C on a terminal reaches the whole group: exit 130, and when the run has ended nothing of ours is left."""
    install(cluster)
    full_pair(cluster, rivals=0)
    killer = Killer(step, is_after=True, whole_group=True)
    killer.number = signal.SIGINT
    proxied.meddle = killer.meddle
    killer.process = start(tool, tmp_path, exchange(cluster))
    said = killer.process.communicate(timeout=60)
    assert killer.process.returncode == 130, said
    assert "Traceback" not in said[1]
    assert left_over(cluster) == []
    for app in ("x", "y"):
        cluster.wait_pods_running(1, labels=f"app={app}")


def test_after_an_interrupt_no_room_is_kept_for_pods_that_get_nowhere(
    cluster: Cluster, tool: Tool, proxied: FaultProxy, tmp_path: Path
) -> None:
    """New pods that something else holds back were nominated, and would keep that room for good."""
    install(cluster)
    full_pair(cluster, rivals=0)
    held = {"spec": {"template": {"spec": {"schedulingGates": [{"name": "example.com/other"}]}}}}
    for app in ("x", "y"):
        cluster.api.patch("replicasets", app, held, "default")
    killer = Killer("the second nomination", is_after=True, whole_group=True)
    killer.number = signal.SIGINT
    proxied.meddle = killer.meddle
    killer.process = start(tool, tmp_path, exchange(cluster))
    said = killer.process.communicate(timeout=60)
    assert killer.process.returncode == 130, said
    assert left_over(cluster) == []
    waiting = [pod for app in ("x", "y") for pod in pods_of(cluster, app)]
    assert len(waiting) == 2
    assert [pod["status"].get("nominatedNodeName") for pod in waiting] == [None, None]
