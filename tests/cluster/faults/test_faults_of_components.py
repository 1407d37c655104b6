"""The control plane fails in the middle of a plan: no floor and no budget is broken, and nothing of ours stays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import Answered, Asked, FaultProxy, Forward
from tests.cluster.faults.floor_watch import floor_watch
from tests.cluster.plane.kwok import READY_AFTER
from tests.cluster.scenes import add_pending, spread
from tests.cluster.shapes import deployment, disruption_budget
from tests.cluster.tool import HOLDS, Tool
from tests.cluster.waiting import wait_until

REPLICAS = 12
DEADLINE_SECONDS = 6
ONE_AT_A_TIME = f"hold: {{deadline: {DEADLINE_SECONDS}s}}"
"""The default floor: of twelve replicas one may be missing, so two evictions are two waves."""


def scene(cluster: Cluster) -> str:
    """Four full nodes, and a pending pod for which two pods must leave; replacements are ready after a second."""
    cluster.add_nodes(4, cpu="4")
    spread(cluster, deployment("web", replicas=REPLICAS, cpu="1", annotations={READY_AFTER: "1s"}))
    return add_pending(cluster, deployment("big", cpu="2500m"))


def after_first_eviction(act: Callable[[], None]) -> Callable[[Asked, Forward], Answered]:
    """Let something happen right after the first eviction was answered, before anything else is asked."""
    lock, done = threading.Lock(), []

    def meddle(asked: Asked, forward: Forward) -> Answered:
        answer = forward()
        with lock:
            if asked.is_eviction and answer.status == 201 and not done:
                done.append(True)
                act()
        return answer

    return meddle


def before_first_eviction(act: Callable[[], None]) -> Callable[[Asked, Forward], Answered]:
    """Let something happen before the API server hears of the first eviction, so that nothing follows it unseen."""
    lock, done = threading.Lock(), []

    def meddle(asked: Asked, forward: Forward) -> Answered:
        with lock:
            if asked.is_eviction and not done:
                done.append(True)
                act()
        return forward()

    return meddle


def accepted(tool: Tool) -> list[str]:
    """Names of the pods whose eviction the API server granted since the last call."""
    return [
        write.name
        for write in tool.writes()
        if write.subresource == "eviction" and not write.is_dry_run and write.code == 201
    ]


def assert_left_clean(cluster: Cluster, tool: Tool) -> None:
    """Placeholders go at their deadline at the latest, and every workload is complete again."""
    label = "app.kubernetes.io/managed-by=rescheduler"
    wait_until(
        lambda: not [item for kind in ("jobs", "pods") for item in cluster.api.list(kind, HOLDS, labels=label)],
        "no placeholder", timeout_seconds=DEADLINE_SECONDS + 10,
    )  # fmt: skip
    tool.assert_nothing_left()


def test_the_api_server_is_killed_and_comes_back(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """Killed right after an eviction and back five seconds later: the floor holds and the plan can be taken up."""
    scene(cluster)
    plane = cluster.control_plane
    plan = tool.plan_file("--policy", tool.policy(ONE_AT_A_TIME))

    def kill() -> None:
        plane.kill("kube-apiserver")

    proxied.meddle = after_first_eviction(kill)
    with floor_watch(cluster.api, "app=web") as watch:
        process = tool.start("apply", "--yes", "--plan", plan, "--policy", tool.policy(ONE_AT_A_TIME))
        try:
            wait_until(lambda: any(asked.is_eviction for asked in proxied.asked), "the first eviction")
            time.sleep(5)
            plane.restart("kube-apiserver")
            _, errors = process.communicate(timeout=150)
        finally:
            process.kill()
        assert "Traceback" not in errors
        cluster.wait_pods_running(REPLICAS, labels="app=web", timeout_seconds=60)
        proxied.meddle = lambda _, forward: forward()
        tool.run("apply", "--yes", "--plan", plan, "--policy", tool.policy(ONE_AT_A_TIME), code=None, timeout=200)
    assert watch.looks > 10
    assert watch.fewest >= REPLICAS - 1
    assert len(accepted(tool)) <= 2
    assert_left_clean(cluster, tool)


def test_a_paused_scheduler_stops_the_plan_after_one_pod(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """The replacement finds no node: nothing more is evicted, exit 1 says which pod waits."""
    scene(cluster)
    plane = cluster.control_plane
    proxied.meddle = before_first_eviction(lambda: plane.pause("kube-scheduler"))
    answer = tool.run("apply", "--yes", "--policy", tool.policy(ONE_AT_A_TIME), code=1, timeout=250)
    assert len(accepted(tool)) == 1
    assert "waits for a node" in answer.errors
    plane.resume("kube-scheduler")
    cluster.wait_pods_running(REPLICAS, labels="app=web", timeout_seconds=60)
    assert_left_clean(cluster, tool)


@pytest.mark.campaign
def test_a_stopped_disruption_controller_is_not_believed(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """Its count stands still at one allowed: our own count of ready pods says none, and no second pod leaves."""
    cluster.create(disruption_budget("web", maxUnavailable=1))
    scene(cluster)
    plane = cluster.control_plane
    policy = tool.policy(f"{ONE_AT_A_TIME}\ndisruption: {{workloads: {{maxUnavailable: 99%}}}}")
    wait_until(
        lambda: cluster.api.get("poddisruptionbudgets", "web", "default")["status"]["disruptionsAllowed"] == 1,
        "the budget's first count",
    )
    proxied.meddle = after_first_eviction(lambda: plane.pause("kube-controller-manager"))
    with floor_watch(cluster.api, "app=web") as watch:
        tool.run("apply", "--yes", "--policy", policy, code=1, timeout=250)
    assert len(accepted(tool)) == 1
    assert watch.fewest == REPLICAS - 1
    plane.resume("kube-controller-manager")
    cluster.wait_pods_running(REPLICAS, labels="app=web", timeout_seconds=60)
    assert_left_clean(cluster, tool)


def test_a_budget_tightened_in_the_middle_binds(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """After the first eviction the budget allows nothing any more: the second one is never granted."""
    cluster.create(disruption_budget("web", maxUnavailable=2))
    scene(cluster)
    policy = tool.policy(f"{ONE_AT_A_TIME}\ndisruption: {{workloads: {{maxUnavailable: 99%}}}}")

    def tighten() -> None:
        cluster.api.patch("poddisruptionbudgets", "web", {"spec": {"maxUnavailable": 0}}, "default")

    proxied.meddle = after_first_eviction(tighten)
    answer = tool.run("apply", "--yes", "--policy", policy, code=1, timeout=250)
    assert len(accepted(tool)) == 1
    assert "PodDisruptionBudget" in answer.errors
    cluster.wait_pods_running(REPLICAS, labels="app=web", timeout_seconds=60)
    assert_left_clean(cluster, tool)


def test_a_budget_made_in_the_middle_binds(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """A second budget over the same pods appears: they are not movable any more, and the plan stops by itself."""
    cluster.create(disruption_budget("web", maxUnavailable=2))
    scene(cluster)

    def add() -> None:
        cluster.create(disruption_budget("web-too", app="web", maxUnavailable=2))

    proxied.meddle = after_first_eviction(add)
    answer = tool.run("apply", "--yes", "--policy", tool.policy(ONE_AT_A_TIME), code=1, timeout=250)
    assert len(accepted(tool)) == 1
    assert "web-too" in answer.errors
    cluster.wait_pods_running(REPLICAS, labels="app=web", timeout_seconds=60)
    assert_left_clean(cluster, tool)


def test_a_destination_removed_in_the_middle(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """Nodes that later moves go to vanish: what is left is proven anew, and no pod is left without a place by us."""
    scene(cluster)
    plan = tool.plan_file("--policy", tool.policy(ONE_AT_A_TIME))
    moves = tool.run("plan", "-o", "json", "--policy", tool.policy(ONE_AT_A_TIME)).document["moves"]
    assert len(moves) == 2
    lost = moves[1]["toNode"]

    def remove() -> None:
        for pod in cluster.api.list("pods", "default"):
            if pod["spec"].get("nodeName") == lost:
                cluster.api.delete("pods", pod["metadata"]["name"], "default", grace_seconds=0)
        cluster.api.delete("nodes", lost)

    proxied.meddle = after_first_eviction(remove)
    tool.run("apply", "--yes", "--plan", plan, "--policy", tool.policy(ONE_AT_A_TIME), code=1, timeout=250)
    assert len(accepted(tool)) == 1
    assert_left_clean(cluster, tool)
