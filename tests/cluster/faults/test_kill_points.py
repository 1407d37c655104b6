"""Killed with SIGKILL before, during or after any request: budgets hold, nobody is evicted twice, nothing stays.

``KILL_POINTS`` in the environment says how many points are tried (3 without it; ``make kill-points`` tries 51).
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections import Counter
from typing import NamedTuple

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import LOST, Answered, Asked, FaultProxy, Forward
from tests.cluster.faults.floor_watch import floor_watch
from tests.cluster.faults.test_faults_of_components import ONE_AT_A_TIME, REPLICAS, accepted, assert_left_clean
from tests.cluster.plane.kwok import READY_AFTER
from tests.cluster.scenes import add_pending, empty, spread
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool

PHASES = ("before", "during", "after")
POINTS = int(os.environ.get("KILL_POINTS", "3"))


class KillPoint(NamedTuple):
    """The request (counted from the first one that may change something) at which the process dies, and when."""

    number: int
    phase: str


def begin(cluster: Cluster) -> None:
    """A workload of twelve on four full nodes, and a pending pod for which two must leave, one after the other."""
    spread(cluster, deployment("web", replicas=REPLICAS, cpu="1", annotations={READY_AFTER: "500ms"}))
    add_pending(cluster, deployment("big", cpu="2500m"))


def first_write(proxy: FaultProxy) -> int:
    """The number of the first request that may have changed something."""
    return next(asked.number for asked in proxy.asked if asked.is_write)


def killing(process: list[subprocess.Popen[str]], point: KillPoint, proxy: FaultProxy) -> threading.Event:
    """Make the proxy kill the process at a point; the event tells that it has."""
    done = threading.Event()
    lock = threading.Lock()
    numbers: list[int] = []

    def meddle(asked: Asked, forward: Forward) -> Answered:
        with lock:
            if asked.is_write or numbers:
                numbers.append(asked.number)
            is_due = len(numbers) == point.number + 1 and not done.is_set()
            if is_due:
                done.set()
        if not is_due:
            return forward()
        answer = forward() if point.phase == "after" else LOST
        process[0].kill()
        if point.phase == "during":  # it was on the wire when the process died: it takes effect all the same
            forward()
        return answer

    proxy.meddle = meddle
    return done


@pytest.mark.timeout(3600)
def test_kill_9_at_any_request(cluster: Cluster, tool: Tool, proxy: FaultProxy) -> None:
    """A second run ends well after each kill: never is more than one replica missing, and no pod is evicted twice."""
    cluster.add_nodes(4, cpu="4")
    policy = tool.policy(ONE_AT_A_TIME)
    direct, through = tool.kubeconfig, proxy.kubeconfig
    begin(cluster)
    tool.kubeconfig = through
    tool.run("apply", "--yes", "--policy", policy, timeout=200)
    requests = len(proxy.asked) - first_write(proxy)
    assert requests > 20
    empty(cluster)
    points = [KillPoint(at * requests // POINTS, PHASES[at % 3]) for at in range(POINTS)]
    killed = 0
    for point in points:
        begin(cluster)
        accepted(tool)
        with floor_watch(cluster.api, "app=web") as watch:
            tool.kubeconfig = through
            process: list[subprocess.Popen[str]] = []
            done = killing(process, point, proxy)
            process.append(tool.start("apply", "--yes", "--policy", policy))
            process[0].communicate(timeout=200)
            killed += done.is_set()
            proxy.meddle = lambda _, forward: forward()
            tool.kubeconfig = direct
            tool.run("apply", "--yes", "--policy", policy, code=None, timeout=250)
            cluster.wait_pods_running(REPLICAS, labels="app=web")
        names = Counter(accepted(tool))
        assert max(names.values(), default=0) <= 1, (point, names)
        assert sum(names.values()) <= 4, (point, names)
        assert watch.fewest >= REPLICAS - 1, point
        assert_left_clean(cluster, tool)
        empty(cluster)
    assert killed >= POINTS * 3 // 4
