"""``mode: Approve`` on a real cluster: plans wait for a person, and are carried out once he has said yes."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, SHORT_LEASE, STRAYS, DaemonProcess, daemon
from tests.cluster.plane.ports import free_port
from tests.cluster.rest_client import Answer, ask
from tests.cluster.scenes import cramped, fragmented
from tests.cluster.tool import HOLDS, Tool

POLICY = f"""
mode: Approve
triggers: [{{name: PendingPods, args: {{olderThan: 1s, debounce: 1s}}}}, {{name: OnDemand}}]
telemetry: {{address: '127.0.0.1:0'}}
{SHORT_LEASE}
{AT_ONCE}
{STRAYS}
"""


def evictions(tool: Tool) -> list[str]:
    """Pods evicted in earnest since the last call."""
    return [write.name for write in tool.writes() if write.subresource == "eviction" and not write.is_dry_run]


def proposed(process: DaemonProcess) -> str:
    """The number of the plan that waits."""
    number: str = process.wait_for("approval wanted")["plan"]
    return number


def test_an_annotation_lets_a_plan_be_carried_out(cluster: Cluster, tool: Tool) -> None:
    """Without any API: nothing is evicted before it is there, and everything after."""
    cramped(cluster)
    tool.writes()
    with daemon(tool, "--policy", tool.policy(POLICY)) as process:
        number = proposed(process)
        assert evictions(tool) == []
        cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOLDS}})
        mark = {"rescheduler.dev/approved": number}
        metadata = {"name": "rescheduler-ledger", "namespace": HOLDS, "annotations": mark}
        cluster.api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
        given = process.wait_for("approval given")
        assert (given["plan"], given["who"], given["how"]) == (number, "annotation", "annotation")
        assert process.wait_for("round ended", outcome="done")["plan"] == number
        cluster.wait_pods_running(7)
        assert len(evictions(tool)) == 1
        assert process.stop() == 0
    tool.assert_nothing_left()


def test_a_person_looks_pauses_and_approves_over_rest(
    cluster: Cluster, tool: Tool, approver: str, tmp_path: Path
) -> None:
    """Paused, a yes is refused; then it is taken, once, and who said it stands in round and audit log."""
    fragmented(cluster, nodes=3)
    tool.writes()
    url, audit = f"http://127.0.0.1:{free_port()}", tmp_path / "audit.jsonl"
    api = f"api: {{address: '{url.removeprefix('http://')}'}}\naudit: {{file: '{audit}'}}"
    who = "system:serviceaccount:default:approver"

    def call(target: str, method: str = "GET", body: object = None) -> Answer:
        return ask(url, target, approver, method, body)

    with daemon(tool, "--policy", tool.policy(POLICY + api)) as process:
        number = proposed(process)
        approve = f"/v1/plans/{number}/approve"
        assert call("/v1/state").document["waiting"] == number
        assert len(call(f"/v1/plans/{number}").document["plan"]["moves"]) == 2
        pending = call("/v1/plans").document["items"][0]
        assert (pending["id"], pending["status"]) == (number, "Waiting")
        assert call("/v1/pause", "POST", {"reason": "lunch"}).status == 200
        refused = call(approve, "POST")
        assert (refused.status, refused.document["message"]) == (409, f"paused by {who}: lunch")
        assert call("/v1/resume", "POST").status == 200
        approved = call(approve, "POST")
        assert (approved.status, approved.document.get("who")) == (200, who), approved.document
        assert process.wait_for("round ended", outcome="done")["plan"] == number
        assert call(f"/v1/plans/{number}").document["status"] == "CarriedOut"
        (carried_out,) = [item for item in call("/v1/rounds").document["items"] if item["approvedBy"]]
        assert (carried_out["approvedBy"], carried_out["planId"]) == (who, number)
        cluster.wait_pods_running(10)
        pod = cluster.api.list("pods", "default")[0]["metadata"]["name"]
        assert call(f"/v1/explain/pods/default/{pod}").document["kind"] == "Explanation"
        assert len(evictions(tool)) == 2
        assert process.stop() == 0
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    said = [line["what"] for line in lines if line["who"] == who]
    assert said == ["paused", "resumed", "approval given", "plan carried out"]


def test_a_trigger_over_rest_runs_a_round(cluster: Cluster, tool: Tool, approver: str) -> None:
    """Though no other trigger fires; it names who asked and why."""
    cluster.add_nodes(2)
    url = f"http://127.0.0.1:{free_port()}"
    api = f"api: {{address: '{url.removeprefix('http://')}'}}"
    with daemon(tool, "--policy", tool.policy(POLICY + api)) as process:
        process.wait_for("leading")
        time.sleep(1)
        before = len(process.events("round ended"))
        answer = ask(url, "/v1/trigger", approver, "POST", {"reason": "after the upgrade"})
        assert answer.status == 202
        process.wait_for("round ended", count=before + 1)
        (occasion,) = ask(url, "/v1/rounds", approver).document["items"][0]["occasions"]
        assert occasion["trigger"] == "OnDemand"
        assert "system:serviceaccount:default:approver" in occasion["reason"]
        assert "after the upgrade" in occasion["reason"]
