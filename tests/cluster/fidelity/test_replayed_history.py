"""A back-test told the truth: one history, as a replay foretells it and as ``run`` plays it on a real control plane.

It is played twice: recorded with nothing moved, then with a round of ``run --once`` at each step. Compared are numbers:
of evictions, of nodes in use and of pending pods. Which of several equal nodes a scheduler draws is chance, where the
replay takes the first by name; sizes are such that these numbers hang on no such draw.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.daemon_process import AT_ONCE, daemon
from tests.cluster.scenes import spread
from tests.cluster.shapes import deployment, disruption_budget
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

NODES = 8
STEPS: tuple[tuple[tuple[str, ...], tuple[Manifest, ...]], ...] = (
    ((), (deployment("web", 8, cpu="2"),)),  # half of each node: four evictions fill four and empty four
    ((), (deployment("guarded", 3, cpu="1"),)),  # on empty nodes; its budget lets nobody go
    (("guarded",), (deployment("api", 3, cpu="1"),)),  # on empty nodes too, to be put together by two evictions
    ((), (deployment("mid", 3, cpu="2"), deployment("big", cpu="3"))),  # waits
    (("api", "mid"), (deployment("job", 3, cpu="1"),)),  # two evictions were worth it, one is left of the hour's eight
    ((), (deployment("giant", 2, cpu="4"),)),  # a node is empty, and none is left for the other one
)
POLICY = f"""\
mode: Execute
objectives: [{{name: MakeRoom}}, {{name: EmptyNodes}}]
triggers: [{{name: OnDemand}}]
telemetry: {{address: '127.0.0.1:0'}}
disruption:
  singleReplicas: Allow
  workloads: {{maxUnavailable: 99%}}
  rampUp: unlimited
  rates: {{perHour: 8, perDay: unlimited, perWorkloadPerHour: unlimited}}
leaderElection: {{enabled: false}}
{AT_ONCE}
"""


class Seen(NamedTuple):
    """What is compared of a step."""

    evictions: int
    in_use: int
    pending_before: int
    pending_after: int


PLAYED = [Seen(4, 4, 0, 0), Seen(0, 7, 0, 0), Seen(2, 5, 0, 0), Seen(1, 8, 1, 0), Seen(1, 7, 0, 0), Seen(0, 8, 1, 1)]
UNMOVED = [Seen(0, 8, 0, 0), Seen(0, 8, 0, 0), Seen(0, 8, 0, 0), Seen(0, 8, 1, 1), Seen(0, 8, 1, 1), Seen(0, 8, 3, 3)]


@pytest.mark.timeout(900)
def test_what_a_replay_foretells_is_what_run_does(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Step by step; budgets, the hour's rate, and what earlier rounds did, bind in both."""
    cluster.add_nodes(NODES, cpu="4")
    cluster.create(disruption_budget("guarded", maxUnavailable=0))
    archive, policy = str(tmp_path / "archive"), tool.policy(POLICY)
    left_alone = [recorded(cluster, tool, archive, step) for step in range(len(STEPS))]
    for name in {app(pod) for pod in cluster.api.list("pods", "default")}:
        cluster.api.delete("deployments", name, "default")
    wait_until(lambda: not cluster.api.list("pods", "default"), "an empty cluster")
    tool.writes()
    done = [played(cluster, tool, policy, step) for step in range(len(STEPS))]
    assert replayed(archive, policy) == {policy: done, "none": left_alone}
    assert (done, left_alone) == (PLAYED, UNMOVED)


def recorded(cluster: Cluster, tool: Tool, archive: str, step: int) -> Seen:
    """A step with nothing moved, and its snapshot."""
    come_and_gone(cluster, step)
    tool.run("record", "--archive", archive)
    return Seen(0, in_use(cluster), waiting(cluster), waiting(cluster))


def played(cluster: Cluster, tool: Tool, policy: str, step: int) -> Seen:
    """A step with a round of the daemon."""
    come_and_gone(cluster, step)
    before = waiting(cluster)
    with daemon(tool, "--once", "--policy", policy) as process:
        process.wait_for("round ended")
        assert process.process.wait(60) == 0, process.told()
    settle(cluster, step)
    evicted = [write for write in tool.writes() if write.subresource == "eviction" and not write.is_dry_run]
    assert all(write.code < 300 for write in evicted), evicted
    return Seen(len(evicted), in_use(cluster), before, waiting(cluster))


def come_and_gone(cluster: Cluster, step: int) -> None:
    """Who leaves goes first; each workload that comes stands, or has been refused a node, before the next one.

    A scheduler's queue goes by times of creation, which are whole seconds: they have to differ.
    """
    gone, come = STEPS[step]
    for name in gone:
        cluster.api.delete("deployments", name, "default")
    wait_until(lambda: not set(gone) & {app(pod) for pod in cluster.api.list("pods", "default")}, f"{gone} to be gone")
    for manifest in come:
        if step:
            cluster.create(manifest)
        else:
            spread(cluster, manifest)
        wait_until(partial(stands, cluster, manifest), f"{manifest['metadata']['name']} to stand or wait")
        time.sleep(1)


def settle(cluster: Cluster, step: int) -> None:
    """Whoever is there by now stands, or has been refused a node."""
    there = {manifest["metadata"]["name"]: manifest for _, come in STEPS[: step + 1] for manifest in come}
    for gone, _ in STEPS[: step + 1]:
        for name in gone:
            del there[name]
    wait_until(lambda: all(stands(cluster, manifest) for manifest in there.values()), "everybody to stand or wait")


def stands(cluster: Cluster, manifest: Manifest) -> bool:
    """Whether all pods of a workload are there, each ready, or refused a node by the scheduler."""
    pods = cluster.api.list("pods", "default", labels=f"app={manifest['metadata']['name']}")
    decided = [
        condition(pod, "Ready") == "True" or condition(pod, "PodScheduled") == "False"
        for pod in pods
        if "deletionTimestamp" not in pod["metadata"]
    ]
    return len(decided) == len(pods) == manifest["spec"]["replicas"] and all(decided)


def app(pod: Manifest) -> str:
    """The workload of a pod."""
    name: str = pod["metadata"]["labels"]["app"]
    return name


def in_use(cluster: Cluster) -> int:
    """How many nodes have pods."""
    return len([name for name in cluster.pods_by_node("default") if name])


def waiting(cluster: Cluster) -> int:
    """How many pods have no node."""
    return len(cluster.pods_by_node("default").get("", []))


def replayed(archive: str, policy: str) -> dict[str, list[Seen]]:
    """The rows of a replay, by policy."""
    command = [sys.executable, "-m", "rescheduler", "backtest", "--archive", archive, "--policy", policy, "--replay"]
    command += ["--processes", "1", "-o", "json"]
    document: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert Counter(row["policy"] for row in document["rows"]) == {policy: len(STEPS), "none": len(STEPS)}
    found: dict[str, list[Seen]] = {}
    for row in document["rows"]:
        counted = (row["evictions"], row["nodesInUse"], row["pendingBefore"], row["pendingAfter"])
        found.setdefault(row["policy"], []).append(Seen(*counted))
    return found
