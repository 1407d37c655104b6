"""The roles in deploy/reading.yaml and deploy/acting.yaml are enough for what they are for, and for nothing else."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
import yaml

from rescheduler.policy.fields.policy import Guidance
from tests.cluster.api import Api, ApiError
from tests.cluster.applying.test_empty_nodes import hand_made
from tests.cluster.cluster import Cluster
from tests.cluster.plane.kwok import GONE_AFTER
from tests.cluster.rights.thief_scene import job
from tests.cluster.scenes import fragmented, spread
from tests.cluster.shapes import deployment
from tests.cluster.tool import Tool
from tests.paths import DEPLOY

RIGHTS = ("reading.yaml", "acting.yaml")
GUARDS = ("guards.yaml", "eviction-guard.yaml")
SYSTEM = "rescheduler-system"
HOLDS = "rescheduler-holds"
WRITING = {"create", "update", "patch", "delete", "deletecollection"}
ALWAYS = ("rescheduler-observe", "rescheduler-execute")
KEEPING = (*ALWAYS, "rescheduler-ledger", "rescheduler-nominate", "rescheduler-events", "rescheduler-hold")
ROLES = {
    "Predict": ALWAYS,
    "Hold": KEEPING,
    "Taint": (*KEEPING, "rescheduler-taint"),
    "Guide": (*KEEPING, "rescheduler-guide", "rescheduler-guide-policy"),
}
"""The roles of each mode, as docs/rights.md lists them."""
MORE_FILES = {"Taint": ("taint.yaml",), "Guide": ("guide.yaml", "guide-binding.yaml")}


@pytest.fixture
def installed(cluster: Cluster) -> Cluster:
    """A cluster in which the files for reading and for acting were applied, and the guards of deploy/."""
    cluster.control_plane.apply_files(*(DEPLOY / name for name in (*RIGHTS, *GUARDS)))
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
    assert answer.warnings == []
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
    assert "create  pods/eviction  default" in answer.errors
    assert [write.name for write in tool.writes() if write.code < 300 and write.resource == "pods"] == []


def test_without_the_right_to_hold_the_reason_is_told(installed: Cluster, tmp_path: Path) -> None:
    """The run falls back to Predict and says which right is missing."""
    installed.api.delete("rolebindings", "rescheduler-hold", "rescheduler-holds")
    fragmented(installed)
    tool = tool_of(installed, "rescheduler", tmp_path)
    answer = tool.run("apply", "--yes", "-o", "json", "--timeout", "20s", code=None)
    assert any("create jobs" in warning and "Predict" in warning for warning in answer.warnings)
    allowed = ("eviction", "")
    assert {write.subresource for write in tool.writes()} <= set(allowed)


def test_a_user_with_no_rights_is_told_so(cluster: Cluster, tmp_path: Path) -> None:
    """One paragraph that names what is missing; exit 1."""
    cluster.add_nodes(1)
    tool = Tool(cluster, tmp_path)
    tool.kubeconfig = cluster.control_plane.user_kubeconfig("nobody")
    answer = tool.run("plan", code=1)
    assert "403" in answer.errors
    assert "reading.yaml" in answer.errors


def test_the_job_is_accepted_as_it_stands(installed: Cluster) -> None:
    """deploy/job.yaml plans under the account that cannot write, and breaks no rule of a restricted namespace."""
    installed.api.patch(
        "namespaces", SYSTEM, {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    )
    job = yaml.safe_load((DEPLOY / "job.yaml").read_text())
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


def documents(*names: str) -> list[dict[str, Any]]:
    """The objects in files of deploy/."""
    return [item for name in names for item in yaml.safe_load_all((DEPLOY / name).read_text()) if item]


def granted(roles: Collection[str]) -> set[tuple[str, str]]:
    """Verb and resource of every write that these roles allow."""
    return {
        (verb, resource)
        for role in documents(*RIGHTS, "guide-binding.yaml", "taint.yaml") if role["kind"] in ("Role", "ClusterRole")
        if role["metadata"]["name"] in roles
        for rule in role["rules"] for resource in rule["resources"] for verb in rule["verbs"] if verb in WRITING
    }  # fmt: skip


def bound_for(cluster: Cluster, mode: str) -> None:
    """Give our executing account exactly the roles of a mode."""
    files = (*RIGHTS, *GUARDS, *MORE_FILES.get(mode, ()))
    cluster.control_plane.apply_files(*(DEPLOY / name for name in files))
    for kind, namespace in (("clusterrolebindings", None), ("rolebindings", HOLDS)):
        for binding in cluster.api.list(kind, namespace):
            accounts = [subject.get("name") for subject in binding.get("subjects", [])]
            role = binding["roleRef"]["name"]
            if "rescheduler" in accounts and role.startswith("rescheduler-") and role not in ROLES[mode]:
                cluster.api.delete(kind, binding["metadata"]["name"], namespace)


def orphan(cluster: Cluster) -> None:
    """A placeholder pod whose Job is gone, which only `clean` removes."""
    template = job("old")["spec"]["template"]
    metadata = {**template["metadata"], "name": "old", "namespace": HOLDS}
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})


@pytest.mark.parametrize("mode", ROLES)
@pytest.mark.timeout(400)
def test_each_mode_needs_its_roles_and_no_other_right(cluster: Cluster, tmp_path: Path, mode: str) -> None:
    """Nothing is forbidden, nothing is missing, and by the audit log every right to write was used."""
    if mode not in [item.value for item in Guidance]:
        pytest.skip(f"this version has no guidance: {mode}")
    bound_for(cluster, mode)
    plan = moves_that_take_their_time(cluster, tmp_path, guided=mode != "Predict")
    tool = tool_of(cluster, "rescheduler", tmp_path)
    lines = f"guidance: {mode}\nhold: {{deadline: 10s}}\ndisruption: {{workloads: {{maxUnavailable: 99%}}}}"
    answer = tool.run("apply", "--plan", plan, "--policy", tool.policy(lines), "--yes", "-o", "json", timeout=200)
    assert answer.warnings == []
    if mode != "Predict":
        orphan(cluster)
        assert "Pod rescheduler-holds/old" in tool.run("clean", "--yes").output
    found = tool.writes()
    assert [write for write in found if write.code == 403] == []
    used = {(write.verb, "/".join(filter(None, (write.resource, write.subresource)))) for write in found}
    asked = {item for item in used if item[1].startswith("selfsubject")}
    assert used - asked == granted(ROLES[mode])
    tool.assert_nothing_left()


def moves_that_take_their_time(cluster: Cluster, folder: Path, *, guided: bool) -> str:
    """Four nodes of which one is emptied onto the emptiest, slowly enough for everything to be renewed.

    Not ``guided``: one pod that goes there by itself.
    """
    cluster.add_nodes(3, prefix="n", cpu="8")
    spread(cluster, deployment("web", replicas=6, cpu="1", annotations={GONE_AFTER: "6s"}))
    cluster.add_nodes(1, prefix="free", cpu="16")
    pods = cluster.pods_by_node("default")["n-2"]
    moves = [{"pod": pod, "to": "free-0", "wave": number + 1} for number, pod in enumerate(pods)]
    return hand_made(cluster, folder, moves if guided else moves[:1], "EmptyNodes" if guided else "SpreadLoad")


def test_the_observing_role_writes_nothing(installed: Cluster) -> None:
    """By its rules, and by what the API server says of every write that any of our roles allows."""
    assert granted(["rescheduler-observe", "rescheduler-ledger-reader"]) == set()
    api = Api.from_kubeconfig(installed.control_plane.service_account_kubeconfig("rescheduler-observer", SYSTEM))
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    resources = [item["name"] for item in documents_of_api(installed)]
    try:
        for resource, subresource in (name.partition("/")[::2] for name in resources):
            attributes = {"verb": "*", "group": "*", "resource": resource, "subresource": subresource}
            for verb in sorted(WRITING):
                review = {**kind, "spec": {"resourceAttributes": {**attributes, "verb": verb}}}
                assert not api.request("POST", path, review)["status"]["allowed"], (verb, resource, subresource)
    finally:
        api.close()


def documents_of_api(cluster: Cluster) -> list[dict[str, Any]]:
    """The resources that a write could be meant for."""
    groups = ("/api/v1", "/apis/apps/v1", "/apis/batch/v1", "/apis/policy/v1", "/apis/events.k8s.io/v1")
    return [item for group in groups for item in cluster.api.request("GET", group)["resources"]]


def test_missing_rights_are_a_table_before_anything_is_done(installed: Cluster, tmp_path: Path) -> None:
    """Bound in one namespace only: the other one is named, and no pod is touched; exit 1."""
    installed.api.delete("clusterrolebindings", "rescheduler-execute")
    binding = next(item for item in documents("acting.yaml") if item["metadata"]["name"] == "rescheduler-execute"
                   and item["kind"] == "ClusterRoleBinding")  # fmt: skip
    installed.create({**binding, "kind": "RoleBinding", "metadata": {"name": "evict", "namespace": "default"}})
    installed.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    installed.add_nodes(2, cpu="8")
    for namespace in ("default", "shop"):
        installed.create(deployment("web", replicas=2, namespace=namespace, cpu="1"))
        installed.wait_pods_running(2, namespace)
    tool = tool_of(installed, "rescheduler", tmp_path)
    policy = tool.policy("disruption: {singleReplicas: Allow, workloads: {maxUnavailable: 99%}}")
    arguments = ("apply", "--objective", "EmptyNodes", "--policy", policy, "--yes", "-o", "json")
    answer = tool.run(*arguments, code=1)
    assert "VERB    RESOURCE       NAMESPACE\n  create  pods/eviction  shop" in answer.errors
    assert [write for write in tool.writes() if not write.resource.startswith("selfsubject")] == []
    assert tool.run(*arguments, "-n", "default", code=None).code in (0, 1)
    assert [write for write in tool.writes() if write.code == 403] == []


def test_rights_beyond_all_need_are_a_warning_that_lists_them(installed: Cluster, tmp_path: Path) -> None:
    """A service account that is made for us should not be able to read secrets or delete pods; it acts all the same."""
    rules = [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]},
    ]
    group = "rbac.authorization.k8s.io"
    installed.create(
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "too-much"}, "rules": rules},
        {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "too-much"},
         "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "too-much"},
         "subjects": [{"kind": "ServiceAccount", "name": "rescheduler", "namespace": SYSTEM}]},
    )  # fmt: skip
    fragmented(installed)
    answer = tool_of(installed, "rescheduler", tmp_path).run("apply", "--yes", "-o", "json")
    assert len(answer.warnings) == 1, answer.warnings
    warning = answer.warnings[0]
    assert "delete pods" in warning
    assert "get/list secrets" in warning
    assert answer.document["placements"][0]["outcome"] == "Landed"
