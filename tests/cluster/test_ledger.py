"""The ledger in the cluster: written before each eviction, by one plan at a time, and read by whoever comes next."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.fault_proxy import LOST, Answered, Asked, FaultProxy, Forward
from tests.cluster.scenes import fragmented
from tests.cluster.tool import HOLDS, Tool

NAME = "rescheduler-ledger"
PREDICT = "guidance: Predict"


def config_map(cluster: Cluster) -> dict[str, Any]:
    """The ledger's object."""
    found: dict[str, Any] = cluster.api.get("configmaps", NAME, HOLDS)
    return found


def ledger(cluster: Cluster) -> dict[str, Any]:
    """What it holds."""
    found: dict[str, Any] = json.loads(config_map(cluster)["data"]["ledger.json"])
    return found


def history(tool: Tool, *arguments: str) -> list[dict[str, Any]]:
    """Entries of ``history -o json``."""
    found: list[dict[str, Any]] = tool.run("history", "-o", "json", *arguments).document["entries"]
    return found


def test_each_eviction_stands_in_the_ledger_and_in_the_history(cluster: Cluster, tool: Tool) -> None:
    """One write for the plan and one for each eviction, one at the end; the history tells where pods landed and why."""
    fragmented(cluster)
    result = tool.run("apply", "--yes", "-o", "json").document
    writes = [write.verb for write in tool.writes() if write.resource == "configmaps"]
    assert writes.count("update") == len(result["moves"]) + 1
    found = config_map(cluster)
    assert found["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "rescheduler"
    assert found["metadata"]["annotations"]["rescheduler.dev/plan"] == "1"
    assert "rescheduler.dev/expires" in found["metadata"]["annotations"]
    moved = {move["pod"]["uid"]: move for move in result["moves"]}
    assert {entry["pod"]["uid"] for entry in ledger(cluster)["entries"]} == set(moved)
    for entry in history(tool):
        move = moved[entry["pod"]["uid"]]
        assert [entry[name] for name in ("fromNode", "toNode", "landedOn", "outcome", "objective", "reason")] == [
            move[name] for name in ("fromNode", "toNode", "landedOn", "outcome", "objective", "reason")
        ]
        assert entry["plan"] == 1
    assert len(history(tool, "--since", "1h", "--namespace", "default")) == len(moved)
    assert history(tool, "--namespace", "elsewhere") == []


def test_a_debt_is_closed_once_its_replacement_has_worked_for_a_while(cluster: Cluster, tool: Tool) -> None:
    """At the end of apply it is open still; half a minute later whoever reads sees that it is repaid."""
    fragmented(cluster)
    tool.run("apply", "--yes")
    assert {entry["state"] for entry in ledger(cluster)["entries"]} == {"Open"}
    time.sleep(32)
    assert {entry["state"] for entry in history(tool)} == {"Repaid"}


def test_the_mark_on_the_ledger_stops_every_eviction(cluster: Cluster, tool: Tool) -> None:
    """Somebody may make the object just for that; the reason is told, and nothing is evicted."""
    fragmented(cluster)
    if not any(item["metadata"]["name"] == HOLDS for item in cluster.api.list("namespaces")):
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOLDS}})
    plan = tool.plan_file()
    marks = {"rescheduler.dev/stop": "maintenance of rack 7"}
    metadata = {"name": NAME, "namespace": HOLDS, "annotations": marks}
    cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    answer = tool.run("apply", "--yes", "--plan", plan, code=1)
    assert "maintenance of rack 7" in answer.errors
    assert tool.evictions() == []


def test_under_predict_the_ledger_is_on_this_machine_alone(cluster: Cluster, tool: Tool) -> None:
    """Nothing is written on the cluster but evictions, and the history knows them all the same."""
    fragmented(cluster)
    tool.run("apply", "--yes", "--policy", tool.policy(PREDICT), code=None)  # pods may come back, unguided as they are
    writes = {(write.resource, write.subresource) for write in tool.writes() if not write.resource.endswith("reviews")}
    assert writes == {("pods", "eviction")}
    assert [entry["state"] for entry in history(tool, "--policy", tool.policy(PREDICT))][:1] == ["Open"]


def test_two_applies_at_once_evict_nobody_twice(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """The plan that takes its number last goes on alone; the ledger's numbers are in order, whoever wrote them."""
    fragmented(cluster)
    plan = tool.plan_file()
    other = Tool(cluster, tmp_path / "other")
    (tmp_path / "other").mkdir()
    processes = [each.start("apply", "--yes", "--plan", plan) for each in (tool, other)]
    told = [process.communicate(timeout=250) for process in processes]
    assert all("Traceback" not in errors for _, errors in told), told
    assert any(process.returncode == 0 for process in processes), told
    evicted = Counter(tool.evictions())
    assert max(evicted.values()) == 1
    assert sum(evicted.values()) == 2
    numbers = [entry["number"] for entry in ledger(cluster)["entries"]]
    assert numbers == sorted(set(numbers))


@pytest.mark.timeout(400)
def test_kill_9_between_the_intent_and_the_eviction(cluster: Cluster, tool: Tool, proxy: FaultProxy) -> None:
    """The next run finds a pod of which nobody knows whether it was evicted: it is not asked again for 90 seconds."""
    fragmented(cluster)
    plan = tool.plan_file()
    process: list[subprocess.Popen[str]] = []

    def meddle(asked: Asked, forward: Forward) -> Answered:
        if not asked.is_eviction:
            return forward()
        process[0].kill()
        return LOST

    proxy.meddle = meddle
    direct = tool.kubeconfig
    tool.kubeconfig = proxy.kubeconfig
    process.append(tool.start("apply", "--yes", "--plan", plan))
    process[0].communicate(timeout=100)
    killed_at = time.monotonic()
    tool.kubeconfig = direct
    [entry] = ledger(cluster)["entries"]
    assert "state" not in entry, "Intended, which is the default and left out"
    tool.evictions()
    answer = tool.run("apply", "--yes", "--plan", plan, "--timeout", "20s", code=1)
    assert tool.evictions() == [], answer
    tool.run("apply", "--yes", "--plan", plan, timeout=300)
    assert time.monotonic() - killed_at > 90
    assert len(tool.evictions()) == 2
    assert Counter(entry["state"] for entry in history(tool))["NotEvicted"] == 1
