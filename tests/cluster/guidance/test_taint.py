"""Guidance by our own taint on the real control plane: nodes are emptied, and only our taint comes and goes."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.api import ApiError
from tests.cluster.applying.test_empty_nodes import hand_made, in_use, spread_out
from tests.cluster.cluster import Cluster
from tests.cluster.plane.kwok import GONE_AFTER
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool, is_known
from tests.cluster.waiting import wait_until

LEAVING = "rescheduler.dev/leaving"
EXPIRY_SECONDS = 6


def taints(cluster: Cluster, key: str = LEAVING) -> dict[str, str]:
    """The value of a taint by the node that carries it."""
    return {
        node["metadata"]["name"]: taint.get("value", "")
        for node in cluster.api.list("nodes") for taint in node["spec"].get("taints", []) if taint["key"] == key
    }  # fmt: skip


def put_taint(cluster: Cluster, node: str, key: str, value: str = "") -> None:
    """Somebody else's change of a node's taints, careful of others' as ours are."""
    while True:
        found = cluster.api.get("nodes", node)
        kept = [taint for taint in found["spec"].get("taints", []) if taint["key"] != key]
        metadata = {"resourceVersion": found["metadata"]["resourceVersion"]}
        wanted = [*kept, {"key": key, "value": value, "effect": "NoSchedule"}]
        try:
            cluster.api.patch("nodes", node, {"metadata": metadata, "spec": {"taints": wanted}})
        except ApiError as error:
            if error.code != 409:
                raise
        else:
            return


def slow(cluster: Cluster, tmp_path: Path) -> tuple[str, str]:
    """Twelve nodes with two pods each that take a second to go, and a plan by hand that empties six of them."""
    cluster.add_nodes(12, prefix="n", cpu="4")
    spec = {"tolerations": [{"key": "example.com/soft", "operator": "Exists"}]}
    cluster.create(deployment("web", replicas=24, cpu="1", annotations={GONE_AFTER: "1s"}, spec=spec))
    cluster.wait_pods_running(24)
    standing = cluster.pods_by_node("default")
    leaving = [pod for node in sorted(standing)[6:] for pod in standing[node]]
    moves: list[dict[str, Any]] = [
        {"pod": pod, "to": sorted(standing)[number // 2], "wave": number // 2 + 1} for number, pod in enumerate(leaving)
    ]
    return hand_made(cluster, tmp_path, moves, "EmptyNodes"), sorted(standing)[11]


def slow_policy(tool: Tool, expiry_seconds: int = EXPIRY_SECONDS) -> str:
    """Taints that run out soon."""
    return tool.policy(
        f"guidance: Taint\nhold: {{deadline: {expiry_seconds}s}}\ndisruption: {{workloads: {{maxUnavailable: 99%}}}}"
    )


@pytest.mark.timeout(600)
def test_nodes_are_emptied_and_no_taint_is_left(cluster: Cluster, tool: Tool) -> None:
    """As many evictions as planned, no pod back; somebody else's taint stands as it did; no placeholder for a node."""
    pods = spread_out(cluster, 12, (8, 9, 6, 7, 5, 4))
    put_taint(cluster, "n-0", "example.com/keep", "mine")
    before = in_use(cluster)
    tool.writes()
    answer = tool.run(
        "apply", "--objective", "EmptyNodes", "--max-evictions", "60", "--policy", tool.policy("guidance: Taint"),
        "--yes", "-o", "json", timeout=400,
    )  # fmt: skip
    promised = answer.document["objectives"][0]["value"]
    assert promised >= 4
    assert {move["outcome"] for move in answer.document["moves"]} == {"Landed"}, answer.errors
    assert (answer.document["message"], answer.warnings) == ("", [])
    cluster.wait_pods_running(pods)
    assert len(before) - len(in_use(cluster)) == promised
    found = tool.writes()
    assert any(write.resource == "nodes" and write.verb == "patch" for write in found)
    assert all(is_known(write) or (write.resource, write.verb) == ("nodes", "patch") for write in found)
    assert taints(cluster) == {}
    assert taints(cluster, "example.com/keep") == {"n-0": "mine"}
    assert not any(node["spec"].get("unschedulable") for node in cluster.api.list("nodes"))
    tool.assert_nothing_left()


class Meddler(threading.Thread):
    """Somebody who changes a taint of his own on all nodes, all the while; ``last``: his last word on each node."""

    def __init__(self, cluster: Cluster, nodes: list[str]) -> None:
        super().__init__()
        self.last: dict[str, str] = {}
        self.is_over = threading.Event()
        self._cluster = cluster
        self._nodes = nodes

    def run(self) -> None:
        """Write until told to stop."""
        number = 0
        while not self.is_over.is_set():
            node = self._nodes[number % len(self._nodes)]
            put_taint(self._cluster, node, "example.com/soft", str(number))
            self.last[node] = str(number)
            number += 1


def test_others_who_write_taints_at_the_same_time_lose_nothing(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """His last word stands on every node, although we wrote to the same field again and again, and ours is gone."""
    plan, _ = slow(cluster, tmp_path)
    meddler = Meddler(cluster, [f"n-{number}" for number in range(12)])
    meddler.start()
    try:
        tool.run("apply", "--plan", plan, "--policy", slow_policy(tool, 20), "--yes", "-o", "json", timeout=200)
    finally:
        meddler.is_over.set()
        meddler.join()
    assert taints(cluster) == {}
    assert taints(cluster, "example.com/soft") == meddler.last
    assert len(in_use(cluster)) == 6


def killed_amid(cluster: Cluster, tool: Tool, tmp_path: Path) -> str:
    """Kill a run when it has emptied a first node; its plan. What may guard it is stopped too, for the worst case."""
    plan, _ = slow(cluster, tmp_path)
    process = tool.start("apply", "--plan", plan, "--policy", slow_policy(tool), "--yes")
    try:
        wait_until(lambda: len(in_use(cluster)) < 12, "the first node to be empty")
        assert len(taints(cluster)) == 6
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    return plan


def test_killed_amid_moves_clean_removes_the_taints(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """At once, whatever is left of them; somebody else's taint stays."""
    put = {"key": "example.com/keep", "value": "mine", "effect": "NoSchedule"}
    killed_amid(cluster, tool, tmp_path)
    node = cluster.api.get("nodes", "n-11")
    kept = [*node["spec"].get("taints", []), put]
    cluster.api.patch("nodes", "n-11", {"spec": {"taints": kept}})
    answer = tool.run("clean", "--yes")
    assert "removed" in answer.output or "nothing was left" in answer.output
    assert taints(cluster) == {}
    assert taints(cluster, "example.com/keep") == {"n-11": "mine"}
    cluster.wait_pods_running(24)


def test_killed_amid_moves_the_next_run_goes_on_and_leaves_nothing(
    cluster: Cluster, tool: Tool, tmp_path: Path
) -> None:
    """Its own taints are not somebody else's to it: the rest of the plan still holds."""
    plan = killed_amid(cluster, tool, tmp_path)
    answer = tool.run(
        "apply", "--plan", plan, "--policy", slow_policy(tool), "--yes", "-o", "json", timeout=200, code=None
    )
    cluster.wait_pods_running(24)
    assert len(in_use(cluster)) == 6, answer.errors
    assert taints(cluster) == {}
    tool.assert_nothing_left()


def test_a_taint_that_ran_out_is_removed_by_the_next_run_of_any_plan(
    cluster: Cluster, tool: Tool, tmp_path: Path
) -> None:
    """Under Hold too; one that still holds makes it wait, and is told if it goes on holding."""
    cluster.add_nodes(3, prefix="n", cpu="4")
    cluster.create(deployment("web", replicas=3, cpu="1"))
    cluster.wait_pods_running(3)
    put_taint(cluster, "n-0", LEAVING, f"{int(time.time()) - 30}.gone")
    put_taint(cluster, "n-1", LEAVING, f"{int(time.time()) + 3600}.alive")
    policy = tool.policy("hold: {deadline: 2s}\ndisruption: {workloads: {maxUnavailable: 99%}}")
    pods = cluster.pods_by_node("default")
    plan = hand_made(cluster, tmp_path, [{"pod": pods["n-2"][0], "to": "n-0", "wave": 1}], "Defragment")
    answer = tool.run("apply", "--plan", plan, "--policy", policy, "--yes", "-o", "json", code=1)
    assert "plan alive" in answer.document["message"]
    assert set(taints(cluster)) == {"n-1"}
    assert [write.name for write in tool.writes() if write.subresource == "eviction" and not write.is_dry_run] == []
