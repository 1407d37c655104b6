"""``run`` is killed between a pod's nomination and the eviction that was to make its room."""

from __future__ import annotations

import threading

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import DaemonProcess, daemon
from tests.cluster.faults.fault_proxy import LOST, Answered, Asked, FaultProxy, Forward
from tests.cluster.karpenter.first_try_scene import FIRST_TRY, HELPED
from tests.cluster.shapes import deployment, pod
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

ATTEMPTS = 5
"""On a busy machine a try may come too late, and then nobody is nominated."""


def killing_before_eviction(proxy: FaultProxy, process: list[DaemonProcess]) -> threading.Event:
    """Make the proxy kill the process when it first asks for an eviction, if only whether it might."""
    killed = threading.Event()

    def meddle(asked: Asked, forward: Forward) -> Answered:
        if "/eviction" not in asked.path or killed.is_set():
            return forward()
        process[0].process.kill()
        killed.set()
        return LOST

    proxy.meddle = meddle
    return killed


def nominated(cluster: Cluster) -> str | None:
    """Where the pod is nominated to."""
    (big,) = cluster.api.list("pods", "default", labels="app=big")
    node: str | None = big["status"].get("nominatedNodeName")
    return node


def crowd(cluster: Cluster) -> None:
    """Two nodes, and one small pod that has to leave the first for a larger one to have a place there."""
    cluster.add_nodes(2, cpu="3900m")
    for name, cpu, node in (("a", "2000m", "node-0"), ("b", "2600m", "node-1")):
        cluster.create(pod(f"anchor-{name}", cpu=cpu, spec={"nodeName": node}))
    cluster.api.patch("nodes", "node-1", {"spec": {"unschedulable": True}})
    cluster.create(deployment("small", cpu="1000m", spec={"terminationGracePeriodSeconds": 1}))
    cluster.wait_pods_running(3)
    cluster.api.patch("nodes", "node-1", {"spec": {"unschedulable": None}})


def try_until_killed(cluster: Cluster, process: DaemonProcess, killed: threading.Event) -> None:
    """Let the larger pod come, anew where a try for it was too late."""
    for attempt in range(1, ATTEMPTS + 1):
        cluster.create(deployment("big", cpu=HELPED))
        wait_until(
            lambda count=attempt: killed.is_set() or len(process.events("round ended")) >= count,  # type: ignore[misc]
            lambda: f"a first try: {process.told()}",
            timeout_seconds=60,
        )
        if killed.is_set():
            return
        cluster.api.delete("deployments", "big", "default")
        wait_until(lambda: not cluster.api.list("pods", "default", labels="app=big"), "the pod to go")
    raise AssertionError(f"no try was early enough: {process.told()}")


@pytest.mark.campaign
@pytest.mark.timeout(900, func_only=True)
def test_killed_before_the_eviction_the_nomination_is_taken_off(
    cluster: Cluster, tool: Tool, proxy: FaultProxy
) -> None:
    """By the process that outlives it; where that is killed too, by the next ``run``, once it has run out.

    It warns of the pod.
    """
    crowd(cluster)
    direct, tool.kubeconfig = tool.kubeconfig, proxy.kubeconfig
    processes: list[DaemonProcess] = []
    killed = killing_before_eviction(proxy, processes)
    with daemon(tool, "--policy", tool.policy(FIRST_TRY)) as process:
        processes.append(process)
        process.wait_for("policy loaded")
        try_until_killed(cluster, process, killed)
    wait_until(lambda: nominated(cluster) is None, "the guardian to take the nomination off", timeout_seconds=60)

    (big,) = cluster.api.list("pods", "default", labels="app=big")
    name = big["metadata"]["name"]
    cluster.api.patch("pods", name, {"status": {"nominatedNodeName": "node-0"}}, "default", subresource="status")
    assert nominated(cluster) == "node-0"
    tool.kubeconfig = direct
    with daemon(tool, "--policy", tool.policy(FIRST_TRY)) as process:
        process.wait_for("nominated without a plan")
        wait_until(lambda: nominated(cluster) is None, "the nomination to run out", timeout_seconds=150)
        assert process.stop() == 0, process.told()
    tool.assert_nothing_left()
