"""Alerts over a real Prometheus: a fault on the real cluster fires each, and what its runbook says mends it."""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from tests.cluster.alerting import AGES, RULES, Prometheus, hurried, seconds, watching
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, SHORT_LEASE, STRAYS, daemon
from tests.cluster.kwok import NOT_READY, USED_CPU, USED_MEMORY, resource_metrics_path
from tests.cluster.metrics_server import RESOURCE_METRICS_PATH, metrics_server
from tests.cluster.ports import free_port
from tests.cluster.rest_client import ask
from tests.cluster.scenes import fragmented
from tests.cluster.shapes import deployment, node, pod
from tests.cluster.test_approval import proposed
from tests.cluster.test_dashboard import approve
from tests.cluster.test_ledger import NAME
from tests.cluster.tool import HOLDS, LEASES, Tool

NOW = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
PENDING = "{name: PendingPods, args: {olderThan: 1s, debounce: 1s}}"
EVERY_TWO = "{name: Schedule, args: {every: 2s}}"
pytestmark = pytest.mark.timeout(400)
slow = pytest.mark.skipif("EVERY_ALERT" not in os.environ, reason="minutes: make alerts runs it")


@pytest.fixture
def prometheus(cluster: Cluster, tmp_path: Path) -> Iterator[Prometheus]:
    """Over a daemon that is not there yet."""
    with watching(cluster.control_plane, tmp_path / "watching") as found:
        yield found


def policy(tool: Tool, prometheus: Prometheus, *more: str, mode: str = "Execute", triggers: str = PENDING) -> str:
    """A policy file whose daemon is scraped."""
    telemetry = f"telemetry: {{address: '{prometheus.daemon}'}}"
    return tool.policy("\n".join([f"mode: {mode}", f"triggers: [{triggers}]", telemetry, SHORT_LEASE, *more]))


def test_hurried_rules_differ_in_times_alone() -> None:
    """Names, labels, texts and thresholds of counts are those that are shipped."""
    shipped, quick = yaml.safe_load(RULES.read_text()), yaml.safe_load(hurried(RULES.read_text()))
    for before, after in zip(shipped["groups"], quick["groups"], strict=True):
        for old, new in zip(before["rules"], after["rules"], strict=True):
            assert {**old, "expr": "", "for": ""} == {**new, "expr": "", "for": ""}
            assert without_times(old["expr"]) == without_times(new["expr"])
            assert seconds(new.get("for", "0s")) <= seconds(old.get("for", "0s"))


def without_times(expression: str) -> str:
    """An expression with the ages that tests wait for, and without its ranges."""
    for age, shorter in AGES.items():
        expression = re.sub(rf"{age}\b", shorter, expression)
    return re.sub(r"\[\d+[smh]\]", "[]", expression)


def test_nobody_there_then_nobody_leads(cluster: Cluster, tool: Tool, prometheus: Prometheus) -> None:
    """No daemon is scraped; one is started whose lease somebody holds who is gone; the lease is deleted."""
    cluster.add_nodes(1)
    prometheus.wait_firing("ReschedulerAbsent")
    cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LEASES}})
    lost = {
        "holderIdentity": "gone", "leaseDurationSeconds": 3600, "leaseTransitions": 1,
        "acquireTime": NOW, "renewTime": NOW,
    }  # fmt: skip
    metadata = {"name": "rescheduler", "namespace": LEASES}
    cluster.api.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": lost})
    with daemon(tool, "--policy", policy(tool, prometheus, AT_ONCE)) as process:
        prometheus.wait_over("ReschedulerAbsent")
        prometheus.wait_firing("ReschedulerNoLeader")
        cluster.api.delete("leases", "rescheduler", LEASES)
        prometheus.wait_over("ReschedulerNoLeader")
        assert process.stop() == 0


@slow
def test_a_cluster_that_cannot_be_seen(cluster: Cluster, tool: Tool, prometheus: Prometheus) -> None:
    """The API server is away for longer than a restart takes, and comes back."""
    cluster.add_nodes(1)
    with daemon(tool, "--policy", policy(tool, prometheus, AT_ONCE)) as process:
        process.wait_for("leading", is_leader=True)
        cluster.control_plane.kill("kube-apiserver")
        prometheus.wait_firing("ReschedulerWatchStale")
        cluster.control_plane.restart("kube-apiserver")
        prometheus.wait_over("ReschedulerWatchStale", timeout_seconds=150)
        assert process.stop() == 0


@slow
def test_a_policy_that_cannot_be_used_and_one_that_reaches_further(
    cluster: Cluster, tool: Tool, prometheus: Prometheus
) -> None:
    """Mended in its file; acknowledged by its digest."""
    cluster.add_nodes(1)
    with daemon(tool, "--policy", policy(tool, prometheus, AT_ONCE, mode="DryRun")) as process:
        process.wait_for("policy loaded")
        policy(tool, prometheus, AT_ONCE, "limits: {maxEvictons: 3}")
        prometheus.wait_firing("ReschedulerPolicyInvalid")
        policy(tool, prometheus, AT_ONCE)
        prometheus.wait_over("ReschedulerPolicyInvalid")
        held = prometheus.wait_firing("ReschedulerPolicyHeld")
        assert held["labels"]["severity"] == "warning"
        digest = process.wait_for("policy held")["held_id"]
        policy(tool, prometheus, AT_ONCE, f'metadata: {{acknowledged: "{digest}"}}')
        prometheus.wait_over("ReschedulerPolicyHeld")
        assert process.stop() == 0


@slow
def test_a_plan_that_waits_for_a_person(cluster: Cluster, tool: Tool, prometheus: Prometheus) -> None:
    """Approved by annotation."""
    fragmented(cluster)
    with daemon(tool, "--policy", policy(tool, prometheus, AT_ONCE, STRAYS, mode="Approve")) as process:
        number = proposed(process)
        prometheus.wait_firing("ReschedulerApprovalWaiting")
        approve(cluster, number)
        process.wait_for("round ended", outcome="done")
        prometheus.wait_over("ReschedulerApprovalWaiting")
        assert process.stop() == 0


@slow
def test_a_loop_that_hangs(cluster: Cluster, tool: Tool, prometheus: Prometheus) -> None:
    """Nobody reads its standard error, which is full at once; when somebody does, it goes on."""
    cluster.add_nodes(1)
    with daemon(tool, "--policy", policy(tool, prometheus, AT_ONCE, triggers=EVERY_TWO)) as process:
        process.wait_for("round ended", count=2)
        assert process.process.stderr is not None
        fcntl.fcntl(process.process.stderr, fcntl.F_SETPIPE_SZ, 4096)
        process.hears.clear()
        prometheus.wait_firing("ReschedulerLoopStuck", timeout_seconds=150)
        prometheus.wait_firing("ReschedulerRoundsStopped")
        process.hears.set()
        prometheus.wait_over("ReschedulerLoopStuck", "ReschedulerRoundsStopped")
        assert process.stop() == 0


@slow
def test_an_audit_log_that_cannot_be_written(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, tmp_path: Path
) -> None:
    """Its folder is gone when a plan is approved; it comes back, and the file says that lines are lacking."""
    fragmented(cluster)
    folder = tmp_path / "audit"
    folder.mkdir()
    audit = f"audit: {{file: '{folder}/audit.jsonl'}}"
    with daemon(tool, "--policy", policy(tool, prometheus, AT_ONCE, STRAYS, audit, mode="Approve")) as process:
        number = proposed(process)
        prometheus.wait_value('rescheduler_faults_total{part="audit"} == 0')
        folder.rename(tmp_path / "gone")
        approve(cluster, number)
        prometheus.wait_firing("ReschedulerAuditLacking")
        folder.mkdir()
        process.wait_for("eviction repaid")
        prometheus.wait_over("ReschedulerAuditLacking")
        assert process.stop() == 0
    assert '"what":"lines are lacking"' in (folder / "audit.jsonl").read_text()


@slow
def test_a_pause_that_somebody_forgot(cluster: Cluster, tool: Tool, prometheus: Prometheus, approver: str) -> None:
    """Paused over REST, and resumed."""
    cluster.add_nodes(1)
    url = f"http://127.0.0.1:{free_port()}"
    api = f"api: {{address: '{url.removeprefix('http://')}'}}"
    with daemon(tool, "--policy", policy(tool, prometheus, AT_ONCE, api)) as process:
        process.wait_for("leading", is_leader=True)
        assert ask(url, "/v1/pause", approver, "POST", {"reason": "lunch"}).status == 200
        prometheus.wait_firing("ReschedulerPaused")
        assert ask(url, "/v1/resume", approver, "POST").status == 200
        prometheus.wait_over("ReschedulerPaused")
        assert process.stop() == 0


@slow
def test_metrics_are_gone(cluster: Cluster, tool: Tool, prometheus: Prometheus) -> None:
    """metrics-server stops, and comes back."""
    cluster.create(node("hot-1", annotations={RESOURCE_METRICS_PATH: resource_metrics_path("hot-1")}))
    cluster.wait_nodes_ready()
    cluster.create(pod("busy", annotations={USED_CPU: "1", USED_MEMORY: "1Gi"}))
    usage = "usage: {providers: [{name: MetricsServer}], interval: 5s, windows: [30s]}"
    with daemon(tool, "--policy", policy(tool, prometheus, AT_ONCE, usage)) as process:
        with metrics_server(cluster.control_plane):
            process.wait_for("leading")
            prometheus.wait_value("rescheduler_usage_age_seconds < 30")
        prometheus.wait_firing("ReschedulerUsageStale")
        with metrics_server(cluster.control_plane):
            prometheus.wait_over("ReschedulerUsageStale", timeout_seconds=150)
        assert process.stop() == 0


@slow
def test_a_freeze_that_lasts(cluster: Cluster, tool: Tool, prometheus: Prometheus) -> None:
    """Three of eight nodes are not ready; they are mended, and it is calm again."""
    names = cluster.add_nodes(8)
    health = "health: {settle: 0s, headRoom: 0%, calm: 5s, pendingRising: 0s, apiLatency: 0s}"
    with daemon(tool, "--policy", policy(tool, prometheus, health)) as process:
        process.wait_for("leading")
        prometheus.wait_value("rescheduler_frozen == 0")
        for name in names[:3]:
            cluster.api.patch("nodes", name, {"metadata": {"annotations": {NOT_READY: "true"}}})
        prometheus.wait_firing("ReschedulerFrozen", timeout_seconds=120)
        for name in names[:3]:
            cluster.api.patch("nodes", name, {"metadata": {"annotations": {NOT_READY: None}}})
        prometheus.wait_over("ReschedulerFrozen")
        assert process.stop() == 0


@slow
def test_a_ledger_that_is_lost(cluster: Cluster, tool: Tool, prometheus: Prometheus) -> None:
    """Rounds fail until a person accepts the loss; ``rescheduler ledger accept-loss`` is the runbook's command."""
    fragmented(cluster)
    file = policy(tool, prometheus, AT_ONCE, STRAYS, triggers=EVERY_TWO)
    with daemon(tool, "--policy", file) as process:
        process.wait_for("round ended", outcome="done")
        cluster.api.delete("configmaps", NAME, HOLDS)
        prometheus.wait_firing("ReschedulerRoundsFailing", timeout_seconds=150)
        tool.run("ledger", "accept-loss", "--yes", "--policy", file)
        prometheus.wait_over("ReschedulerRoundsFailing")
        assert process.stop() == 0


def evict_all(cluster: Cluster, names: list[str]) -> None:
    """One after another over a quarter of a minute, as somebody with an account that may evict."""
    for name in names:
        metadata = {"name": name, "namespace": "default"}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        cluster.api.request("POST", f"/api/v1/namespaces/default/pods/{name}/eviction", eviction)
        time.sleep(0.25)


@slow
def test_evictions_that_nobody_accounts_for(cluster: Cluster, tool: Tool, prometheus: Prometheus) -> None:
    """Somebody else evicts sixty pods; when he stops, it is over."""
    cluster.add_nodes(2)
    cluster.create(deployment("web", 60))
    pods = cluster.wait_pods_running(60)
    with daemon(tool, "--policy", policy(tool, prometheus, AT_ONCE)) as process:
        process.wait_for("leading")
        prometheus.wait_value('apiserver_request_total{resource="pods"} > 0')
        evict_all(cluster, [item["metadata"]["name"] for item in pods])
        fired = prometheus.wait_firing("ReschedulerEvictionsUnaccounted", timeout_seconds=30)
        assert fired["labels"]["severity"] == "critical"
        prometheus.wait_over("ReschedulerEvictionsUnaccounted")
        assert process.stop() == 0
