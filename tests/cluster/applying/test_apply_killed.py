"""Killed or interrupted in the middle: what was written is gone soon, and the plan can be taken up again."""

from __future__ import annotations

import signal
import time

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.plane.kwok import GONE_AFTER
from tests.cluster.scenes import add_pending, spread
from tests.cluster.shapes import deployment
from tests.cluster.tool import HOLDS, Tool
from tests.cluster.waiting import wait_until

DEADLINE_SECONDS = 6
LABEL = "app.kubernetes.io/managed-by=rescheduler"


def scene(cluster: Cluster, *, gone_after: str) -> str:
    """The fragmented cluster, with pods that take their time to go; returns the pending pod."""
    cluster.add_nodes(4, cpu="4")
    annotations = {GONE_AFTER: gone_after}
    spread(cluster, deployment("web", replicas=12, cpu="1", annotations=annotations))
    return add_pending(cluster, deployment("big", cpu="2500m"))


def placeholders(cluster: Cluster) -> list[str]:
    """Jobs and pods of ours."""
    return [
        item["metadata"]["name"] for kind in ("jobs", "pods") for item in cluster.api.list(kind, HOLDS, labels=LABEL)
    ]


def leaving(cluster: Cluster) -> list[str]:
    """Pods on their way out."""
    pods = cluster.api.list("pods", "default")
    return [pod["metadata"]["name"] for pod in pods if "deletionTimestamp" in pod["metadata"]]


def test_kill_9_leaves_no_placeholder_beyond_its_deadline_and_five_seconds(cluster: Cluster, tool: Tool) -> None:
    """While it runs the placeholder outlives its deadline; killed, it is gone in time, and the plan can go on."""
    big = scene(cluster, gone_after="20s")
    policy = tool.policy(f"hold: {{deadline: {DEADLINE_SECONDS}s}}\ndisruption: {{workloads: {{maxUnavailable: 99%}}}}")
    plan = tool.plan_file("--policy", policy)
    process = tool.start("apply", "--yes", "--plan", plan, "--policy", policy)
    try:
        wait_until(lambda: bool(leaving(cluster)), "the first eviction")
        time.sleep(DEADLINE_SECONDS + 3)
        assert placeholders(cluster), "the living process keeps its placeholder beyond the first deadline"
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    killed_at = time.monotonic()
    wait_until(lambda: not placeholders(cluster), "the placeholders to be gone", timeout_seconds=DEADLINE_SECONDS + 5)
    assert time.monotonic() - killed_at <= DEADLINE_SECONDS + 5
    before = len(tool.evictions())
    other = tool.run("apply", "--yes", "--resume", "99", "--policy", policy, code=1)
    assert "plan 99: not among the plans of this cluster that this machine keeps (it has 1)" in other.errors
    tool.run("apply", "--yes", "--resume", "1", "--policy", policy, code=None, timeout=200)
    assert before + len(tool.evictions()) <= 2
    assert cluster.node_of(big)
    tool.assert_nothing_left()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_removes_the_placeholders_at_once(cluster: Cluster, tool: Tool, number: signal.Signals) -> None:
    """Exit 130, no eviction later than a second after the signal, nothing of ours left."""
    scene(cluster, gone_after="30s")
    process = tool.start("apply", "--yes", "-o", "json")
    try:
        wait_until(lambda: bool(leaving(cluster)), "the first eviction")
        tool.writes()
        process.send_signal(number)
        output, errors = process.communicate(timeout=10)
    finally:
        process.kill()
    assert process.returncode == 130, (output, errors)
    assert "Traceback" not in errors
    assert tool.evictions() in ([], *([[name]] for name in leaving(cluster)))
    assert '"outcome"' in output
    tool.assert_nothing_left()
