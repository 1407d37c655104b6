"""Alerts over a real Prometheus: a fault on the real cluster fires each, and what its runbook says mends it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.daemon.test_approval import proposed
from tests.cluster.daemon_process import AT_ONCE, STRAYS, daemon
from tests.cluster.faults.test_ledger import NAME
from tests.cluster.plane.kwok import NOT_READY
from tests.cluster.plane.ports import free_port
from tests.cluster.rest_client import ask
from tests.cluster.scenes import fragmented
from tests.cluster.shapes import namespace
from tests.cluster.telemetry.alerting import AGES, EVERY_TWO, RULES, Prometheus, hurried, policy, seconds, slow
from tests.cluster.telemetry.runbooks import DAEMON, Operator
from tests.cluster.telemetry.test_dashboard import approve
from tests.cluster.tool import HOLDS, LEASES, Tool

NOW = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
REFUSED = {
    "apiGroups": ["coordination.k8s.io"],
    "apiVersions": ["v1"],
    "operations": ["UPDATE"],
    "resources": ["leases"],
}
REFUSING_LEASES: list[Manifest] = [
    {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no-leases"},
        "spec": {
            "matchConstraints": {"resourceRules": [REFUSED]},
            "validations": [
                {
                    "expression": "object.metadata.name != 'rescheduler'",
                    "messageExpression": "'not now, at ' + string(object.spec.renewTime)",
                }
            ],
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no-leases"}, "spec": {"policyName": "no-leases", "validationActions": ["Deny"]},
    },
]  # fmt: skip
pytestmark = pytest.mark.timeout(400)


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


def file_of(tool: Tool, prometheus: Prometheus, *more: str, **fields: str) -> str:
    """A policy file whose daemon is scraped."""
    return tool.policy(policy(prometheus, *more, **fields))


def put_in_force(operator: Operator, cluster: Cluster, alert: str, text: str, file: str) -> None:
    """Carry a runbook out that brings a mended policy to the cluster; its ConfigMap goes to where it is mounted."""
    operator.write("deploy/daemon/policy.yaml", f"apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n{text}\n")
    operator.carry_out(alert)
    mounted = cluster.api.get("configmaps", "rescheduler-policy", LEASES)["data"]["policy.yaml"]
    Path(file).write_text(mounted)


def test_nobody_there_then_nobody_leads(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator
) -> None:
    """No daemon is scraped; one is deployed, whose lease somebody holds who is gone."""
    cluster.add_nodes(1)
    prometheus.wait_firing("ReschedulerAbsent")
    operator.carry_out("ReschedulerAbsent")
    cluster.wait_pods_running(1, LEASES, labels=DAEMON)
    lost = {
        "holderIdentity": "gone", "leaseDurationSeconds": 3600, "leaseTransitions": 1,
        "acquireTime": NOW, "renewTime": NOW,
    }  # fmt: skip
    metadata = {"name": "rescheduler", "namespace": LEASES}
    cluster.api.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": lost})
    with daemon(tool, "--policy", file_of(tool, prometheus, AT_ONCE)) as process:
        prometheus.wait_over("ReschedulerAbsent")
        prometheus.wait_firing("ReschedulerNoLeader")
        assert "holderIdentity: gone" in operator.carry_out("ReschedulerNoLeader")
        prometheus.wait_over("ReschedulerNoLeader")
        assert process.stop() == 0


@slow
def test_a_cluster_that_cannot_be_seen(cluster: Cluster, tool: Tool, prometheus: Prometheus) -> None:
    """The API server is away for longer than a restart takes, and comes back, which needs nobody."""
    cluster.add_nodes(1)
    with daemon(tool, "--policy", file_of(tool, prometheus, AT_ONCE)) as process:
        process.wait_for("leading", is_leader=True)
        cluster.control_plane.kill("kube-apiserver")
        prometheus.wait_firing("ReschedulerWatchStale")
        cluster.control_plane.restart("kube-apiserver")
        prometheus.wait_over("ReschedulerWatchStale", timeout_seconds=150)
        assert process.stop() == 0


@slow
def test_a_policy_that_cannot_be_used_and_one_that_reaches_further(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator, approver: str
) -> None:
    """Mended in its file and brought to the cluster; acknowledged over REST."""
    cluster.add_nodes(1)
    cluster.create(namespace(LEASES))
    url = f"http://127.0.0.1:{free_port()}"
    api = f"api: {{address: '{url.removeprefix('http://')}'}}"
    file = file_of(tool, prometheus, AT_ONCE, api, mode="DryRun")
    with daemon(tool, "--policy", file) as process:
        process.wait_for("policy loaded")
        file_of(tool, prometheus, AT_ONCE, api, "limits: {maxEvictons: 3}")
        prometheus.wait_firing("ReschedulerPolicyInvalid")
        put_in_force(operator, cluster, "ReschedulerPolicyInvalid", policy(prometheus, AT_ONCE, api), file)
        prometheus.wait_over("ReschedulerPolicyInvalid")
        held = prometheus.wait_firing("ReschedulerPolicyHeld")
        assert held["labels"]["severity"] == "warning"
        digest = process.wait_for("policy held")["held_id"]
        operator.carry_out("ReschedulerPolicyHeld", API=url, TOKEN=approver, HELD=digest)
        prometheus.wait_over("ReschedulerPolicyHeld")
        assert process.stop() == 0


@slow
def test_a_plan_that_waits_for_a_person(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator
) -> None:
    """Approved by annotation."""
    fragmented(cluster)
    cluster.create(namespace(HOLDS))
    with daemon(tool, "--policy", file_of(tool, prometheus, AT_ONCE, STRAYS, mode="Approve")) as process:
        number = proposed(process)
        prometheus.wait_firing("ReschedulerApprovalWaiting")
        operator.carry_out("ReschedulerApprovalWaiting", PLAN=number)
        process.wait_for("round ended", outcome="done")
        prometheus.wait_over("ReschedulerApprovalWaiting")
        assert process.stop() == 0


@slow
def test_an_audit_log_that_cannot_be_written(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator, tmp_path: Path
) -> None:
    """Its folder is gone when a plan is approved; the policy names another file, which says that lines are lacking."""
    fragmented(cluster)
    cluster.create(namespace(LEASES))
    folder, other = tmp_path / "audit", tmp_path / "other.jsonl"
    folder.mkdir()

    def said(path: Path) -> str:
        return policy(prometheus, AT_ONCE, STRAYS, f"audit: {{file: '{path}'}}", mode="Approve")

    file = tool.policy(said(folder / "audit.jsonl"))
    with daemon(tool, "--policy", file) as process:
        number = proposed(process)
        prometheus.wait_value('rescheduler_faults_total{part="audit"} == 0')
        folder.rename(tmp_path / "gone")
        approve(cluster, number)
        prometheus.wait_firing("ReschedulerAuditLacking")
        put_in_force(operator, cluster, "ReschedulerAuditLacking", said(other), file)
        process.wait_for("policy loaded", count=2)
        prometheus.wait_over("ReschedulerAuditLacking")
        assert process.stop() == 0
    assert '"what":"lines are lacking"' in other.read_text()


@slow
def test_a_pause_that_somebody_forgot(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator, approver: str
) -> None:
    """Paused over REST, and resumed."""
    cluster.add_nodes(1)
    url = f"http://127.0.0.1:{free_port()}"
    api = f"api: {{address: '{url.removeprefix('http://')}'}}"
    with daemon(tool, "--policy", file_of(tool, prometheus, AT_ONCE, api)) as process:
        process.wait_for("leading", is_leader=True)
        assert ask(url, "/v1/pause", approver, "POST", {"reason": "lunch"}).status == 200
        prometheus.wait_firing("ReschedulerPaused")
        assert "lunch" in operator.carry_out("ReschedulerPaused", API=url, TOKEN=approver)
        prometheus.wait_over("ReschedulerPaused")
        assert process.stop() == 0


@slow
def test_a_freeze_that_lasts(cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator) -> None:
    """Three of eight nodes are not ready; they do not come back and are deleted, and it is calm again."""
    names = cluster.add_nodes(8)
    health = "health: {settle: 0s, headRoom: 0%, calm: 5s, pendingRising: 0s, apiLatency: 0s}"
    with daemon(tool, "--policy", file_of(tool, prometheus, health)) as process:
        process.wait_for("leading")
        prometheus.wait_value("rescheduler_frozen == 0")
        for name in names[:3]:
            cluster.api.patch("nodes", name, {"metadata": {"annotations": {NOT_READY: "true"}}})
        prometheus.wait_firing("ReschedulerFrozen", timeout_seconds=120)
        operator.carry_out("ReschedulerFrozen", NODES=" ".join(names[:3]))
        prometheus.wait_over("ReschedulerFrozen")
        assert process.stop() == 0


@slow
def test_a_ledger_that_is_lost(cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator) -> None:
    """Rounds fail until a person accepts the loss."""
    fragmented(cluster)
    with daemon(tool, "--policy", file_of(tool, prometheus, AT_ONCE, STRAYS, triggers=EVERY_TWO)) as process:
        process.wait_for("round ended", outcome="done")
        cluster.api.delete("configmaps", NAME, HOLDS)
        prometheus.wait_firing("ReschedulerRoundsFailing", timeout_seconds=150)
        operator.carry_out("ReschedulerRoundsFailing")
        prometheus.wait_over("ReschedulerRoundsFailing")
        assert process.stop() == 0


@slow
def test_a_lease_that_an_admission_policy_refuses(
    cluster: Cluster, tool: Tool, prometheus: Prometheus, operator: Operator
) -> None:
    """In other words each time: a fault each time; its binding is deleted."""
    cluster.add_nodes(1)
    with daemon(tool, "--policy", file_of(tool, prometheus, AT_ONCE)) as process:
        process.wait_for("leading", is_leader=True)
        prometheus.wait_value('rescheduler_faults_total{part="leader election"} == 0')
        cluster.create(*REFUSING_LEASES)
        fired = prometheus.wait_firing("ReschedulerFaults", timeout_seconds=120)
        assert fired["labels"]["part"] == "leader election"
        assert "not now" in process.wait_for("fault")["message"]
        operator.carry_out("ReschedulerFaults", BINDING="no-leases")
        prometheus.wait_over("ReschedulerFaults")
        process.wait_for("leading", is_leader=True, count=2)
        assert process.stop() == 0
