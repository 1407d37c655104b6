"""Which rights the chart binds: what mode and guidance need, as docs/rights.md lists it, and no more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import yaml

from tests.chart import CHART, Manifest, Values, of_kind, render
from tests.chart_matrix import FORMS, matrix

DEPLOY = CHART.parents[1]
READING = {"get", "list", "watch"}
LOOKING = {"observe", "ledger-reader"}
KEEPING = {"observe", "execute", "ledger", "nominate", "events", "hold"}
WRITE_GUARDS = {f"rescheduler-{name}-guard" for name in ("pod", "job", "room", "record")}
GUARDS = {*WRITE_GUARDS, "rescheduler-eviction-guard"}
HEARING = {"autoscaler-observe", "autoscaler-status"}


def parts(objects: Iterable[Manifest]) -> set[str]:
    """The parts whose roles are bound."""
    bindings = of_kind(list(objects), "RoleBinding", "ClusterRoleBinding")
    return {item["roleRef"]["name"].removeprefix("rescheduler-") for item in bindings}


def writes(objects: Iterable[Manifest]) -> set[tuple[str, str]]:
    """Verb and resource of everything that some role lets us write; what people may ask us for is no object."""
    return {
        (verb, resource)
        for role in of_kind(list(objects), "Role", "ClusterRole")
        for rule in role["rules"] if rule["apiGroups"] != ["rescheduler.dev"]
        for resource in rule["resources"] for verb in rule["verbs"] if verb not in READING
    }  # fmt: skip


@pytest.mark.parametrize("kind", FORMS["kind"])
@pytest.mark.parametrize("guidance", FORMS["guidance"])
def test_a_dry_run_may_write_nothing(kind: str, guidance: str) -> None:
    """No role has a write verb, whatever else the values ask for."""
    everything = {"replicas": 2, "leaderElection": {"enabled": True}, "executeNamespaces": ["shop"]}
    found = render({"kind": kind, "mode": "DryRun", "guidance": guidance, **everything})
    assert writes(found) == set()
    assert "execute" not in parts(found)


@pytest.mark.parametrize("values", [pytest.param(values, id=name) for name, values in matrix()])
def test_no_role_in_any_form_grants_what_is_never_needed(values: Values) -> None:
    """No secrets, no wildcards, no deletion of pods outside of the hold namespace, no impersonation."""
    found = render(values)
    holds = values.get("holds", {}).get("namespace", "rescheduler-holds")
    for role in of_kind(found, "Role", "ClusterRole"):
        for rule in role["rules"]:
            assert not {"secrets", "*", "pods/exec", "serviceaccounts/token"} & set(rule["resources"]), role
            assert not {"*", "impersonate", "bind", "escalate", "deletecollection"} & set(rule["verbs"]), role
            assert "*" not in rule["apiGroups"], role
            if "pods" in rule["resources"] and {"delete", "create"} & set(rule["verbs"]):
                assert role["metadata"].get("namespace") == holds, role
            if "nodes" in rule["resources"]:
                assert not {"delete", "update", "create"} & set(rule["verbs"]), role
    if values["mode"] == "DryRun":
        assert writes(found) == set()


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({"mode": "DryRun"}, LOOKING),
        ({"mode": "DryRun", "guidance": "Guide"}, LOOKING),
        ({"mode": "Execute", "guidance": "Predict"}, {*LOOKING, "execute"}),
        ({"mode": "Execute", "guidance": "Predict", "replicas": 2}, {*LOOKING, "execute", "lease"}),
        ({"mode": "Execute"}, {*KEEPING, "lease"}),
        ({"mode": "Approve"}, {*KEEPING, "lease"}),
        ({"mode": "Execute", "guidance": "Guide"}, {*KEEPING, "lease", "guide", "guide-policy"}),
        ({"mode": "Execute", "guidance": "Taint"}, {*KEEPING, "lease", "taint"}),
        ({"mode": "Execute", "leaderElection": {"enabled": False}}, KEEPING),
        ({"mode": "Execute", "kind": "CronJob"}, {*KEEPING, "lease"}),
        ({"mode": "DryRun", "kind": "Job"}, LOOKING),
        (
            {"mode": "Execute", "autoscaler": {"scaleUp": "CapacityBuffer", "scaleDown": "Taint"}},
            {*KEEPING, "lease", "capacity-buffer", "mark-nodes"},
        ),
        ({"mode": "Execute", "autoscaler": {"scaleUp": "Placeholders"}}, {*KEEPING, "lease"}),
        ({"mode": "DryRun", "autoscaler": {"scaleUp": "ProvisioningRequest", "scaleDown": "Taint"}}, LOOKING),
        ({"mode": "DryRun", "api": {"enabled": True}}, {*LOOKING, "system:auth-delegator"}),
    ],
)
def test_each_mode_has_its_parts(values: Values, wanted: set[str]) -> None:
    """As docs/rights.md lists them; a lease for a daemon that writes, the reviews for one with an API."""
    assert parts(render(values)) - HEARING == wanted


def of_people(objects: list[Manifest]) -> dict[str, list[Manifest]]:
    """Whom the roles for people are bound to, by role."""
    roles = ("rescheduler-viewer", "rescheduler-approver")
    bindings = of_kind(objects, "ClusterRoleBinding")
    return {item["roleRef"]["name"]: item["subjects"] for item in bindings if item["roleRef"]["name"] in roles}


def test_people_look_and_approve_by_roles_that_are_bound_to_nobody_else() -> None:
    """The roles are those of deploy/api.yaml; without an API there are none, and by default nobody has them."""
    group = {"kind": "Group", "name": "on-call", "apiGroup": "rbac.authorization.k8s.io"}
    user = {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
    found = render({"api": {"enabled": True, "viewers": [group], "approvers": [user]}})
    assert of_people(found) == {"rescheduler-viewer": [group], "rescheduler-approver": [user]}
    shipped = {
        item["metadata"]["name"]: item["rules"]
        for item in yaml.safe_load_all((DEPLOY / "api.yaml").read_text()) if item["kind"] == "ClusterRole"
    }  # fmt: skip
    roles = {role["metadata"]["name"]: role["rules"] for role in of_kind(found, "ClusterRole")}
    assert shipped.items() <= roles.items()
    assert of_people(render({"api": {"enabled": True}})) == {}
    for off in ({"api": {"viewers": [group]}}, {"rbac": {"create": False}, "api": {"enabled": True}}):
        assert not shipped.keys() & {role["metadata"]["name"] for role in of_kind(render(off), "ClusterRole")}


def test_the_account_of_the_page_may_look_and_nothing_else() -> None:
    """By the name that ``rescheduler ui`` asks for, in chart and deploy/viewer.yaml; without a token in any pod."""
    account = {"kind": "ServiceAccount", "name": "rescheduler-viewer", "namespace": "rescheduler-system"}
    values = {"api": {"enabled": True, "viewerAccount": {"create": True}}}
    for objects in (render(values), list(yaml.safe_load_all((DEPLOY / "viewer.yaml").read_text()))):
        assert of_people(objects) == {"rescheduler-viewer": [account]}
        [made] = [one for one in of_kind(objects, "ServiceAccount") if one["metadata"]["name"] == account["name"]]
        assert made["metadata"]["namespace"] == account["namespace"]
        assert made["automountServiceAccountToken"] is False
        bound = [one for one in of_kind(objects, "RoleBinding", "ClusterRoleBinding") if account in one["subjects"]]
        assert [one["roleRef"]["name"] for one in bound] == ["rescheduler-viewer"]


@pytest.mark.parametrize("subject", [{"kind": "Robot", "name": "x"}, {"kind": "User"}, {"name": "x"}, "jane"])
def test_a_subject_that_is_none_is_refused(subject: Any) -> None:
    """Before the API server would."""
    with pytest.raises(ValueError, match="api"):
        render({"api": {"enabled": True, "viewers": [subject]}})


def test_an_autoscaler_is_heard_unless_that_is_switched_off() -> None:
    """By the daemon, which alone listens; and no right to hear is one to write."""
    assert parts(render({})) >= HEARING
    assert not parts(render({"autoscaler": {"watch": False}})) & HEARING
    assert not parts(render({"kind": "CronJob"})) & HEARING


def test_placeholders_for_an_autoscaler_have_their_priority_class() -> None:
    """With the name that the program asks for, whatever the release is called."""
    values = {"mode": "Execute", "fullnameOverride": "mover", "autoscaler": {"scaleUp": "Placeholders"}}
    [found] = of_kind(render(values), "PriorityClass")
    assert (found["metadata"]["name"], found["value"]) == ("rescheduler-placeholder", -10)
    assert of_kind(render({"mode": "Execute"}), "PriorityClass") == []


def test_rules_are_those_of_the_files() -> None:
    """Each role of the chart has the rules of the role in deploy/ that has its name."""
    known = {
        (item["kind"], item["metadata"]["name"]): item["rules"]
        for file in (CHART / "files").glob("*.yaml")
        for item in yaml.safe_load_all(file.read_text())
        if item and item.get("kind") in ("Role", "ClusterRole")
    }
    for guidance in FORMS["guidance"]:
        for role in of_kind(render({"mode": "Execute", "guidance": guidance}), "Role", "ClusterRole"):
            assert role["rules"] == known[role["kind"], role["metadata"]["name"]]


def test_renamed_objects_are_renamed_in_the_rules() -> None:
    """Ledger and lease are named in the roles that may change them; another name moves the right along."""
    values = {"mode": "Execute", "ledgerName": "book", "fullnameOverride": "mover", "holds": {"namespace": "rooms"}}
    found = {role["metadata"]["name"]: role for role in of_kind(render(values), "Role")}
    shards = [f"book-{slot:02x}" for slot in range(256)]
    assert found["mover-ledger"]["rules"][1]["resourceNames"] == ["book", *shards]
    assert found["mover-lease"]["rules"][1]["resourceNames"] == ["mover"]
    assert found["mover-hold"]["metadata"]["namespace"] == "rooms"


@pytest.mark.parametrize("guidance", FORMS["guidance"])
def test_rights_to_pods_may_be_bound_to_namespaces(guidance: str) -> None:
    """A RoleBinding in each of executeNamespaces for whatever writes to pods, and none for the cluster."""
    found = render({"mode": "Execute", "guidance": guidance, "executeNamespaces": ["shop", "web"]})
    wide = {item["roleRef"]["name"] for item in of_kind(found, "ClusterRoleBinding")}
    rules = {role["metadata"]["name"]: role["rules"] for role in of_kind(found, "ClusterRole")}
    written = {verb for name in wide & rules.keys() for rule in rules[name] for verb in rule["verbs"]
               if any(resource.startswith(("pods", "events")) for resource in rule["resources"])}  # fmt: skip
    assert written <= READING
    bound: dict[str, list[str]] = {}
    for item in of_kind(found, "RoleBinding"):
        if item["roleRef"]["kind"] == "ClusterRole":
            bound.setdefault(item["roleRef"]["name"], []).append(item["metadata"]["namespace"])
    wanted = {"rescheduler-execute": ["shop", "web"]}
    if guidance != "Predict":
        wanted |= {"rescheduler-nominate": ["shop", "web"], "rescheduler-events": ["shop", "web", "rescheduler-system"]}
    if guidance == "Guide":
        wanted["rescheduler-guide"] = ["shop", "web"]
    assert bound == wanted


def test_guards_are_about_the_names_of_the_release() -> None:
    """Account, hold namespace, ledger and Lease; nothing of the manifests' own names is left."""
    values = {"mode": "Execute", "ledgerName": "book", "fullnameOverride": "mover", "holds": {"namespace": "rooms"}}
    found = of_kind(render(values, namespace="tools"), "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    assert {item["metadata"]["name"] for item in found} == {name.replace("rescheduler", "mover") for name in GUARDS}
    told: dict[str, str] = {}
    for item in of_kind(found, "ValidatingAdmissionPolicy"):
        [condition] = item["spec"]["matchConditions"]
        assert condition["expression"] == 'request.userInfo.username == "system:serviceaccount:tools:mover"'
        told |= {variable["name"]: variable["expression"] for variable in item["spec"].get("variables", ())}
        assert "rescheduler-" not in str(item["spec"]).replace("rescheduler-guide", "").replace(
            "rescheduler-placeholder", ""
        )
    assert (told["holds"], told["ledger"], told["lease"]) == ('"rooms"', '"book"', '"tools/mover"')


def test_into_the_hold_namespace_comes_no_pod_with_any_privilege() -> None:
    """By its label, wherever the chart makes it; and so it is in the manifests."""
    for name in ("rescheduler-holds", "rooms"):
        [found] = of_kind(render({"mode": "Execute", "holds": {"namespace": name}}), "Namespace")
        assert found["metadata"]["name"] == name
        assert found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    manifests = yaml.safe_load_all((DEPLOY / "reading.yaml").read_text())
    [ours] = [item for item in manifests if item["kind"] == "Namespace" and "holds" in item["metadata"]["name"]]
    assert ours["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_rights_for_what_a_policy_reads_follow_the_policy() -> None:
    """Metrics APIs and schedulers' ConfigMaps that it names, and none else."""
    policy: dict[str, Any] = {
        "usage": {"providers": [{"name": "MetricsServer"}, {"name": "CustomMetrics", "args": {"nodeCpu": "busy"}}]},
        "schedulers": [{"configMap": "kube-system/a"}, {"configMap": "volcano/b"}, {"file": "c"}],
    }
    found = render({"policy": policy})
    rules = {role["metadata"]["name"]: role for role in of_kind(found, "Role", "ClusterRole")}
    assert "rescheduler-metrics" in rules
    metrics = rules["rescheduler-custom-metrics"]["rules"][0]["resources"]
    assert metrics == ["nodes/busy", "nodes/node_memory_usage_avg"]
    read = [(rules[name]["metadata"]["namespace"], rules[name]["rules"][0]["resourceNames"])
            for name in ("rescheduler-scheduler-0", "rescheduler-scheduler-1")]  # fmt: skip
    assert read == [("kube-system", ["a"]), ("volcano", ["b"])]
    assert not {"metrics", "custom-metrics"} & parts(render({}))


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({}, set()),
        ({"mode": "Approve"}, GUARDS),
        ({"mode": "Execute"}, GUARDS),
        ({"mode": "Execute", "guidance": "Predict"}, GUARDS),
        ({"mode": "Execute", "guidance": "Guide"}, {*GUARDS, "rescheduler-guide"}),
        ({"mode": "Execute", "guidance": "Taint"}, {*GUARDS, "rescheduler-node-guard"}),
        ({"mode": "Execute", "autoscaler": {"scaleDown": "Taint"}}, {*GUARDS, "rescheduler-node-guard"}),
        ({"mode": "Execute", "autoscaler": {"scaleDown": "Hold"}}, GUARDS),
        (
            {
                "mode": "Execute",
                "guidance": "Taint",
                "evictionGuard": {"create": False},
                "writeGuard": {"create": False},
            },
            {"rescheduler-node-guard"},
        ),
    ],
)
def test_guards_come_with_what_they_guard(values: Values, wanted: set[str]) -> None:
    """The admission policies of deploy/, each with its binding."""
    found = render(values)
    policies = of_kind(found, "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
    bindings = of_kind(found, "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding")
    assert {item["metadata"]["name"] for item in policies} == wanted
    assert {item["spec"]["policyName"] for item in bindings} == wanted
