"""Requests are refused, delayed or lost on the way: every answer that is no clear yes counts against us."""

from __future__ import annotations

import json
import threading
from collections import Counter

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import LOST, Answered, Asked, FaultProxy, Forward, overloaded
from tests.cluster.faults.floor_watch import floor_watch
from tests.cluster.faults.test_faults_of_components import ONE_AT_A_TIME, REPLICAS, accepted, assert_left_clean, scene
from tests.cluster.tool import Tool


def evictions_asked(proxied: FaultProxy) -> Counter[str]:
    """How often each pod's eviction was asked for in earnest."""
    return Counter(asked.path for asked in proxied.asked if asked.is_eviction)


def test_an_overloaded_server_is_not_stormed(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """Each eviction is answered 429 by overload: at most three tries a pod, half a minute apart, and nothing moves."""
    scene(cluster)

    def storm(asked: Asked, forward: Forward) -> Answered:
        return overloaded() if "/eviction" in asked.path else forward()

    proxied.meddle = storm
    answer = tool.run("apply", "--yes", "--policy", tool.policy(ONE_AT_A_TIME), code=1, timeout=200)
    tries = Counter(asked.path for asked in proxied.asked if "/eviction" in asked.path)
    assert sum(tries.values()) <= 3
    assert accepted(tool) == []
    assert "overloaded" in answer.errors
    assert_left_clean(cluster, tool)


@pytest.mark.campaign
def test_a_short_storm_is_sat_out(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """Two refusals by overload, then answers again: the plan waits as asked and ends well.

    It keeps its room for longer than other plans here: what is shown is the waiting, not who renews how fast.
    """
    scene(cluster)
    refused: list[str] = []
    lock = threading.Lock()

    def storm(asked: Asked, forward: Forward) -> Answered:
        with lock:
            if "/eviction" in asked.path and len(refused) < 2:
                refused.append(asked.path)
                return overloaded()
        return forward()

    proxied.meddle = storm
    tool.run("apply", "--yes", "--policy", tool.policy("hold: {deadline: 60s}"), timeout=250)
    assert len(accepted(tool)) == 2
    cluster.wait_pods_running(REPLICAS + 1)
    assert_left_clean(cluster, tool)


@pytest.mark.parametrize("form", ["reset", "504", "500"])
def test_a_lost_answer_after_the_effect_is_no_reason_to_evict_twice(
    cluster: Cluster, tool: Tool, proxied: FaultProxy, form: str
) -> None:
    """The eviction took effect and its answer is lost: the pod itself tells, and it is asked for only once."""
    scene(cluster)
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "lost on the way", "reason": ""}

    def lose(asked: Asked, forward: Forward) -> Answered:
        answer = forward()
        if not asked.is_eviction:
            return answer
        return LOST if form == "reset" else Answered(int(form), json.dumps({**status, "code": int(form)}).encode())

    proxied.meddle = lose
    with floor_watch(cluster.api, "app=web") as watch:
        answer = tool.run("apply", "--yes", "--policy", tool.policy(ONE_AT_A_TIME), code=None, timeout=250)
    assert watch.fewest >= REPLICAS - 1
    assert set(evictions_asked(proxied).values()) == {1}, answer
    assert len(accepted(tool)) <= 2
    assert_left_clean(cluster, tool)


def test_a_lost_answer_before_the_effect_stops_the_plan(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """Nobody knows whether the eviction will still come: the plan stops, and its outcome is Unknown."""
    scene(cluster)

    def swallow(asked: Asked, forward: Forward) -> Answered:
        return LOST if asked.is_eviction else forward()

    proxied.meddle = swallow
    answer = tool.run("apply", "--yes", "-o", "json", "--policy", tool.policy(ONE_AT_A_TIME), code=1, timeout=200)
    assert sorted(move["outcome"] for move in answer.document["moves"]) == ["NotAttempted", "Unknown"]
    assert sum(evictions_asked(proxied).values()) == 1
    assert accepted(tool) == []
    assert_left_clean(cluster, tool)


def test_a_stale_list_does_not_break_the_floor(cluster: Cluster, tool: Tool, proxied: FaultProxy) -> None:
    """Lists of pods are served as they were before the plan began; single reads are true, and the floor holds."""
    scene(cluster)
    kept: dict[str, Answered] = {}
    begun = threading.Event()

    def remember(asked: Asked, forward: Forward) -> Answered:
        if asked.is_eviction:
            begun.set()
        is_list = asked.method == "GET" and asked.path.startswith("/api/v1/pods")
        if is_list and begun.is_set() and asked.path in kept:
            return kept[asked.path]
        answer = forward()
        if is_list:
            kept[asked.path] = answer
        return answer

    proxied.meddle = remember
    with floor_watch(cluster.api, "app=web") as watch:
        answer = tool.run("apply", "--yes", "--policy", tool.policy(ONE_AT_A_TIME), code=None, timeout=250)
    assert watch.fewest >= REPLICAS - 1
    assert set(evictions_asked(proxied).values()) == {1}, answer
    assert_left_clean(cluster, tool)
