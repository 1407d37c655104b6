"""The roles in deploy/rbac.yaml are enough for what they are for, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from .api import Api, ApiError
from .cluster import Cluster
from .scenes import fragmented
from .shapes import deployment
from .tool import Tool

RBAC = Path(__file__).parents[2] / "deploy" / "rbac.yaml"
SYSTEM = "rescheduler-system"


@pytest.fixture
def installed(cluster: Cluster) -> Cluster:
    """A cluster in which deploy/rbac.yaml was applied."""
    cluster.control_plane.apply_files(RBAC)
    return cluster


def tool_of(cluster: Cluster, account: str, folder: Path) -> Tool:
    """The rescheduler under one of its service accounts."""
    tool = Tool(cluster, folder)
    tool.kubeconfig = cluster.control_plane.service_account_kubeconfig(account, SYSTEM)
    tool.user = f"system:serviceaccount:{SYSTEM}:{account}"
    return tool


def test_the_executing_account_can_carry_out_a_plan(installed: Cluster, tmp_path: Path) -> None:
    """Holds included: no warning about missing rights, and nothing was forbidden."""
    fragmented(installed)
    tool = tool_of(installed, "rescheduler", tmp_path)
    answer = tool.run("apply", "--yes", "-o", "json")
    assert answer.document["placements"][0]["outcome"] == "Landed"
    assert answer.document["warnings"] == []
    found = tool.writes()
    assert any(write.resource == "jobs" and write.verb == "create" for write in found)
    assert [write for write in found if write.code == 403] == []
    tool.assert_nothing_left()


def test_the_observing_account_can_plan_and_cannot_evict(installed: Cluster, tmp_path: Path) -> None:
    """It proposes the same moves; carried out, the first request is forbidden and the user is told what to grant."""
    fragmented(installed)
    tool = tool_of(installed, "rescheduler-observer", tmp_path)
    assert len(tool.run("plan", "-o", "json").document["moves"]) == 2
    answer = tool.run("apply", "--yes", "-o", "json", code=1)
    assert "forbid" in answer.errors
    assert [write.name for write in tool.writes() if write.code < 300 and write.resource == "pods"] == []


def test_without_the_right_to_hold_the_reason_is_told(installed: Cluster, tmp_path: Path) -> None:
    """The run falls back to Predict and says which right is missing."""
    installed.api.delete("rolebindings", "rescheduler-hold", "rescheduler-holds")
    fragmented(installed)
    tool = tool_of(installed, "rescheduler", tmp_path)
    answer = tool.run("apply", "--yes", "-o", "json", "--timeout", "20s", code=None)
    assert any("create jobs" in warning and "Predict" in warning for warning in answer.document["warnings"])
    allowed = ("eviction", "")
    assert {write.subresource for write in tool.writes()} <= set(allowed)


def test_a_user_with_no_rights_is_told_so(cluster: Cluster, tmp_path: Path) -> None:
    """One paragraph that names what is missing; exit 1."""
    cluster.add_nodes(1)
    tool = Tool(cluster, tmp_path)
    tool.kubeconfig = cluster.control_plane.user_kubeconfig("nobody")
    answer = tool.run("plan", code=1)
    assert "403" in answer.errors
    assert "rbac.yaml" in answer.errors


def test_the_job_is_accepted_as_it_stands(installed: Cluster) -> None:
    """deploy/job.yaml plans under the account that cannot write, and breaks no rule of a restricted namespace."""
    installed.api.patch(
        "namespaces", SYSTEM, {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    )
    job = yaml.safe_load((RBAC.parent / "job.yaml").read_text())
    installed.api.create(job, dry_run=True)
    spec = job["spec"]["template"]["spec"]
    assert (spec["serviceAccountName"], spec["containers"][0]["args"][0]) == ("rescheduler-observer", "plan")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "try", "namespace": SYSTEM}, "spec": spec}
    installed.api.create(pod, dry_run=True)


def test_the_accounts_can_do_nothing_else(installed: Cluster) -> None:
    """No deletion of pods elsewhere, no write to nodes or workloads."""
    installed.create(deployment("web"))
    for account in ("rescheduler", "rescheduler-observer"):
        api = Api.from_kubeconfig(installed.control_plane.service_account_kubeconfig(account, SYSTEM))
        try:
            for resource, name in (("deployments", "web"), ("poddisruptionbudgets", "any"), ("pods", "any")):
                with pytest.raises(ApiError) as refused:
                    api.delete(resource, name, "default")
                assert refused.value.code == 403
            with pytest.raises(ApiError) as refused:
                api.patch("nodes", "any", {"spec": {"unschedulable": True}})
            assert refused.value.code == 403
        finally:
            api.close()
