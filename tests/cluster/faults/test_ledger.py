"""The ledger in the cluster: written before each eviction, by one plan at a time, and read by whoever comes next."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.ledger.ledger_objects import ConfigMaps
from rescheduler.adapters.kubernetes.ledger.ledger_text import read_head, unpack
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.model.daemon.ledger import Ledger
from tests.builders import NOW
from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import LOST, Answered, Asked, FaultProxy, Forward
from tests.cluster.scenes import fragmented
from tests.cluster.tool import HOLDS, Tool
from tests.unit.adapters.kubernetes.ledger.test_sharded_ledger import lifelike
from tests.unit.execution.entries import old_text

NAME = "rescheduler-ledger"
PREDICT = "guidance: Predict"


def config_map(cluster: Cluster) -> dict[str, Any]:
    """The ledger's object."""
    found: dict[str, Any] = cluster.api.get("configmaps", NAME, HOLDS)
    return found


def ledger(cluster: Cluster) -> dict[str, Any]:
    """What it holds, in all its objects."""
    main = config_map(cluster)
    head = json.loads(main["data"]["ledger.json"])
    names = [f"{NAME}-{mark.slot:02x}" for mark in read_head(main["data"]).marks]
    objects = [main, *(cluster.api.get("configmaps", name, HOLDS) for name in names)]
    packed = [base64.b64decode(found.get("binaryData", {}).get("entries", "")) for found in objects]
    entries = {entry.number: entry for part in packed for entry in unpack(part)}
    return {**head, "entries": [msgspec.to_builtins(entries[number]) for number in sorted(entries)]}


def fill(tool: Tool, entries: int) -> None:
    """Somebody has evicted so many pods today."""
    connection = connect(str(tool.kubeconfig), read_only=False)
    store = ShardedLedger(ConfigMaps(connection, HOLDS, keep_seconds=86_400.0), NAME, counted_seconds=86_400.0)
    shift = time.time() - NOW
    past = [structs.replace(item, at=round(item.at + shift, 3), closed_at=None) for item in lifelike(entries)]
    assert store.write(Ledger(plan=7, next_entry=entries + 1, entries=tuple(past)), store.read().version)


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
    """The plan that takes its number last goes on alone, and does what the other has not; the ledger's numbers are in
    order, whoever wrote them."""
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
@pytest.mark.campaign
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


def make_holds(cluster: Cluster) -> None:
    """The namespace of the ledger, where it is not there yet."""
    if not any(item["metadata"]["name"] == HOLDS for item in cluster.api.list("namespaces")):
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOLDS}})


def ledger_writes(proxy: FaultProxy) -> list[list[tuple[str, int]]]:
    """Name and bytes of each ConfigMap that was sent, one list for what came before each eviction."""
    found: list[list[tuple[str, int]]] = [[]]
    for asked in proxy.asked:
        if asked.is_eviction:
            found.append([])
        elif asked.is_write and "/configmaps" in asked.path:
            found[-1].append((asked.path.rpartition("/")[2], len(asked.body)))
    return found


@pytest.mark.timeout(600)
def test_an_eviction_writes_at_most_16_kb_beside_20000_others(cluster: Cluster, tool: Tool, proxy: FaultProxy) -> None:
    """By the bodies on the wire; all of them are read at the start, and go on counting."""
    fragmented(cluster)
    make_holds(cluster)
    fill(tool, 20_000)
    plan = tool.plan_file()
    tool.kubeconfig = proxy.kubeconfig
    tool.run("apply", "--yes", "--plan", plan, timeout=300)
    writes = ledger_writes(proxy)
    assert len(writes) == 3, "two evictions"
    assert all(each for each in writes)
    assert max(sum(size for _, size in each) for each in writes) <= 16_000, writes
    assert len(ledger(cluster)["entries"]) == 20_002


@pytest.mark.timeout(300)
def test_the_ledger_of_an_older_version_is_taken_over(cluster: Cluster, tool: Tool) -> None:
    """900 kB of it, whole; the object keeps its name and marks, and its form stops older versions."""
    fragmented(cluster)
    make_holds(cluster)
    old = Ledger(plan=7, next_entry=1_501, entries=lifelike(1_500))
    metadata = {"name": NAME, "namespace": HOLDS, "annotations": {"note": "mine"}}
    data = {"format": "1", "ledger.json": old_text(old)}
    assert len(data["ledger.json"]) > 800_000
    cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    tool.run("apply", "--yes", timeout=200)
    found = config_map(cluster)
    assert found["data"]["format"] == "2"
    assert found["metadata"]["annotations"]["note"] == "mine"
    entries = ledger(cluster)["entries"]
    assert [entry["number"] for entry in entries] == list(range(1, 1_503))
    assert {entry["plan"] for entry in entries[1_500:]} == {8}


@pytest.mark.timeout(300)
def test_a_ledger_that_was_deleted_stops_all_until_somebody_accepts_the_loss(cluster: Cluster, tool: Tool) -> None:
    """This machine has seen its plan; after ``accept-loss`` evictions go on."""
    fragmented(cluster)
    plan = tool.plan_file()
    make_holds(cluster)
    fill(tool, 300)
    tool.run("history", "-o", "json")
    tool.run("apply", "--yes", "--plan", plan, "--max-evictions", "1", code=None)
    cluster.api.delete("configmaps", NAME, HOLDS)
    tool.evictions()
    answer = tool.run("apply", "--yes", "--plan", plan, code=1)
    assert "rescheduler ledger accept-loss" in answer.errors
    assert tool.evictions() == []
    tool.run("ledger", "accept-loss", "--yes")
    tool.run("apply", "--yes", "--plan", plan, code=None, timeout=200)
    assert ledger(cluster)["plan"] >= 8


@pytest.mark.timeout(300)
def test_a_shard_that_was_deleted_stops_all_until_somebody_accepts_the_loss(cluster: Cluster, tool: Tool) -> None:
    """Its name and the remedy are told; what stands in the others goes on counting."""
    fragmented(cluster)
    plan = tool.plan_file()
    make_holds(cluster)
    fill(tool, 400)
    gone = f"{NAME}-{read_head(config_map(cluster)['data']).marks[1].slot:02x}"
    cluster.api.delete("configmaps", gone, HOLDS)
    answer = tool.run("apply", "--yes", "--plan", plan, code=1)
    assert f"{gone} is gone" in answer.errors
    assert tool.evictions() == []
    assert gone in tool.run("ledger", "accept-loss", "--yes").errors
    tool.run("apply", "--yes", "--plan", plan, timeout=200)
    assert len(tool.evictions()) == 2
    assert 250 < len(ledger(cluster)["entries"]) < 400
