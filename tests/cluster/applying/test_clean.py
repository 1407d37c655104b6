"""What a killed run left behind can be removed by hand, and nothing else is."""

from __future__ import annotations

import signal

from tests.cluster.cluster import Cluster
from tests.cluster.scenes import fragmented
from tests.cluster.shapes import job
from tests.cluster.tool import HOLDS, Tool
from tests.cluster.waiting import wait_until

LABEL = "app.kubernetes.io/managed-by=rescheduler"


def test_clean_removes_the_placeholders_of_a_killed_run(cluster: Cluster, tool: Tool) -> None:
    """They are named and gone at once, long before their deadline; a Job that only looks like ours stays."""
    fragmented(cluster)
    foreign = job("foreign")
    foreign["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "rescheduler"}
    cluster.create(foreign)
    cluster.control_plane.pause("kwok")
    process = tool.start("apply", "--yes")
    try:
        wait_until(lambda: bool(cluster.api.list("pods", HOLDS, labels=LABEL)), "a placeholder")
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        cluster.control_plane.resume("kwok")
    tool.run("clean", code=2)
    answer = tool.run("clean", "--yes")
    assert "hold-" in answer.output
    wait_until(
        lambda: not cluster.api.list("pods", HOLDS, labels=LABEL), "the end of the placeholders", timeout_seconds=5
    )
    assert [item["metadata"]["name"] for item in cluster.api.list("jobs")] == ["foreign"]
    assert "nothing" in tool.run("clean", "--yes").output


def test_stale_leaves_a_plan_that_runs_alone(cluster: Cluster, tool: Tool) -> None:
    """It asks nobody; placeholders that are renewed stay, and one that has run out goes."""
    fragmented(cluster)
    cluster.control_plane.pause("kwok")
    process = tool.start("apply", "--yes")
    try:
        wait_until(lambda: bool(cluster.api.list("pods", HOLDS, labels=LABEL)), "a placeholder")
        standing = {item["metadata"]["name"] for item in cluster.api.list("jobs", HOLDS)}
        old = job("hold-old")
        old["metadata"]["namespace"] = HOLDS
        old["metadata"]["labels"] = {
            "app.kubernetes.io/managed-by": "rescheduler", "rescheduler.dev/hold": "old", "rescheduler.dev/plan": "old",
        }  # fmt: skip
        old["metadata"]["annotations"] = {"rescheduler.dev/expires": "2020-01-01T00:00:00Z"}
        old["spec"]["suspend"] = True
        cluster.create(old)
        assert tool.run("clean", "--stale").output.strip() == f"removed Job {HOLDS}/hold-old"
        assert standing <= {item["metadata"]["name"] for item in cluster.api.list("jobs", HOLDS)}
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        cluster.control_plane.resume("kwok")
    tool.run("clean", "--yes")
