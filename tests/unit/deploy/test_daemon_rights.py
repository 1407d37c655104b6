"""What a daemon asks for at its start, and what the chart and deploy/ let it do, are the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from rescheduler.adapters.kubernetes.rights.daemon_rights import daemon_rights
from rescheduler.composition.live.standing_rights import checked_daemon_rights
from rescheduler.daemon.plugins import load_policy
from rescheduler.extension_points import ClusterError
from rescheduler.policy.fields.policy import Policy
from tests.chart import CHART, Manifest, Values, of_kind, pod_of, render
from tests.chart_matrix import matrix
from tests.unit.deploy.rbac import RbacServer
from tests.unit.policy.policies import policy

DEPLOY = CHART.parents[1]
WITH_RIGHTS = [
    pytest.param(values, id=name)
    for name, values in matrix()
    if values.get("rbac") is None and "existingPolicy" not in values
]
EXECUTE = "mode: Execute"
ACTING = ("reading.yaml", "acting.yaml", "overlays/execute/lease.yaml")


def policy_of(objects: list[Manifest], folder: Path) -> Policy:
    """What the ConfigMap of a release says."""
    [config] = [item for item in of_kind(objects, "ConfigMap") if "chart.yaml" in item["data"]]
    for name, text in config["data"].items():
        (folder / name).write_text(text)
    return load_policy([str(folder / name) for name in ("policy.yaml", "chart.yaml")])


@pytest.mark.parametrize("values", WITH_RIGHTS)
def test_a_release_has_the_rights_that_its_policy_needs_and_no_other(values: Values, tmp_path: Path) -> None:
    """Over the whole matrix: nothing is missing, nothing is too much."""
    found = render(values)
    account = pod_of(found)["spec"]["serviceAccountName"]
    asked = policy_of(found, tmp_path)
    assert daemon_rights(RbacServer(found, account), asked) == ((), ())  # type: ignore[arg-type]


def manifests(*names: str) -> list[Manifest]:
    """The objects in files of deploy/."""
    return [item for name in names for item in yaml.safe_load_all((DEPLOY / name).read_text()) if item]


@pytest.mark.parametrize(
    ("body", "files", "account"),
    [
        ("mode: DryRun", ["reading.yaml"], "rescheduler-observer"),
        (EXECUTE, [*ACTING], "rescheduler"),
        (
            f"{EXECUTE}\nguidance: Guide",
            [*ACTING, "guide-binding.yaml"],
            "rescheduler",
        ),
        (f"{EXECUTE}\nguidance: Taint", [*ACTING, "taint.yaml"], "rescheduler"),
        (
            f"{EXECUTE}\ndisruption: {{moveBy: [{{method: Surge}}]}}",
            [*ACTING, "surge.yaml", "surge-binding.yaml"],
            "rescheduler",
        ),
        (
            "schedulers: [{configMap: kube-system/my-scheduler-config}]",
            ["reading.yaml", "scheduler-configuration.yaml"],
            "rescheduler-observer",
        ),
    ],
)
def test_the_manifests_grant_what_their_policy_needs_and_no_more(body: str, files: list[str], account: str) -> None:
    """The same of the plain files, under their two accounts."""
    server = RbacServer(manifests(*files), account)
    assert daemon_rights(server, policy(body)) == ((), ())  # type: ignore[arg-type]


def test_the_parts_for_an_autoscaler_grant_what_each_choice_needs() -> None:
    """Nothing is missing; what is for another choice is told of, so that it can be deleted."""
    server = RbacServer(manifests(*ACTING, "autoscaler.yaml"), "rescheduler")
    asked = policy(f"{EXECUTE}\nautoscaler: {{scaleUp: CapacityBuffer, scaleDown: Taint}}")
    missing, excess = daemon_rights(server, asked)  # type: ignore[arg-type]
    assert missing == ()
    assert excess == ("create/delete provisioningrequests (autoscaling.x-k8s.io) in rescheduler-holds",)


def test_a_daemon_whose_policy_moves_pods_by_surge_refuses_to_begin_without_the_rights() -> None:
    """They are named; a dry run, which takes nothing out, begins."""
    server = RbacServer(manifests(*ACTING), "rescheduler")
    surging = "disruption: {moveBy: [{namespaces: [shop], method: Surge}]}"
    with pytest.raises(ClusterError) as refused:
        checked_daemon_rights(server, policy(f"{EXECUTE}\n{surging}"))  # type: ignore[arg-type]
    lines = str(refused.value).splitlines()
    assert "mode: Execute with guidance: Hold and moves by surge needs" in lines[0]
    assert any("networkpolicies" in line for line in lines)
    assert daemon_rights(server, policy(surging)).missing == ()  # type: ignore[arg-type]


def test_a_daemon_that_evicts_refuses_to_begin_without_its_rights() -> None:
    """A table of verb, resource and namespace, each line once."""
    server = RbacServer(manifests("reading.yaml"), "rescheduler-observer")
    with pytest.raises(ClusterError) as refused:
        checked_daemon_rights(server, policy(EXECUTE))  # type: ignore[arg-type]
    lines = str(refused.value).splitlines()
    assert "mode: Execute with guidance: Hold needs" in lines[0]
    assert "  create  pods/eviction  (all)" in lines
    assert "  update  leases         rescheduler-system" in lines
    assert len(lines) == len(set(lines))
    assert not any("events" in line for line in lines)


def test_a_daemon_that_only_shows_its_plans_begins_and_tells_what_it_may_not_see() -> None:
    """Watching says what fails; a crash loop would say less."""
    [warning] = checked_daemon_rights(RbacServer([], "nobody"), policy("mode: DryRun"))  # type: ignore[arg-type]
    assert "  watch  pods" in warning
    assert "create" not in warning


def test_what_can_be_done_without_is_a_warning() -> None:
    """Events are not worth a refusal."""
    found = [item for item in manifests(*ACTING)
             if item["metadata"]["name"] != "rescheduler-events"]  # fmt: skip
    [warning] = checked_daemon_rights(RbacServer(found, "rescheduler"), policy(EXECUTE))  # type: ignore[arg-type]
    assert "create  events" in warning


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("mode: DryRun", ["create pods/eviction", "patch pods/status", "create events (events.k8s.io)",
                          "create configmaps in rescheduler-holds", "update leases (coordination.k8s.io)"]),
        (f"{EXECUTE}\nguidance: Predict", ["patch pods/status", "create/patch/delete jobs (batch) in rescheduler"]),
    ],
)  # fmt: skip
def test_rights_that_the_mode_does_not_need_are_told(body: str, words: list[str]) -> None:
    """The executing account under a policy that executes less."""
    server = RbacServer(manifests(*ACTING), "rescheduler")
    excess = daemon_rights(server, policy(body)).excess  # type: ignore[arg-type]
    for word in words:
        assert any(word in text for text in excess), (word, excess)


def test_a_right_to_any_object_is_more_than_one_to_a_single_object() -> None:
    """Updating every ConfigMap of the hold namespace is too much, though updating the ledger is needed."""
    found = manifests(*ACTING)
    ledger = next(item for item in found if item["kind"] == "Role" and item["metadata"]["name"] == "rescheduler-ledger")
    del ledger["rules"][1]["resourceNames"]
    excess = daemon_rights(RbacServer(found, "rescheduler"), policy(EXECUTE)).excess  # type: ignore[arg-type]
    assert excess == ("update configmaps in rescheduler-holds",)


def test_secrets_are_never_harmless() -> None:
    """Reading is not told of, but for what is secret."""
    rule = {"apiGroups": ["", "apps"], "resources": ["secrets", "deployments"], "verbs": ["get", "list"]}
    role = {"kind": "ClusterRole", "metadata": {"name": "more"}, "rules": [rule]}
    bound = {"kind": "ClusterRoleBinding", "metadata": {"name": "more"}, "subjects": [{"name": "rescheduler-observer"}],
             "roleRef": {"kind": "ClusterRole", "name": "more"}}  # fmt: skip
    server = RbacServer([*manifests("reading.yaml"), role, bound], "rescheduler-observer")
    excess = daemon_rights(server, policy("mode: DryRun")).excess  # type: ignore[arg-type]
    assert excess[0] == "get/list secrets"


SECRET = {"kind": "Role", "metadata": {"name": "prometheus", "namespace": "rescheduler-system"}, "rules": [
    {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["prometheus"], "verbs": ["get"]},
]}  # fmt: skip
READS_SECRET = {"kind": "RoleBinding", "metadata": {"name": "prometheus", "namespace": "rescheduler-system"},
                "roleRef": {"kind": "Role", "name": "prometheus"},
                "subjects": [{"name": "rescheduler-observer"}]}  # fmt: skip
NAMES_SECRET = (
    "usage: {providers: [{name: Prometheus, args: {address: 'https://p:9090', "
    "bearerToken: {secret: rescheduler-system/prometheus/token}}}]}"
)


def test_a_secret_that_the_policy_names_is_needed_by_its_name() -> None:
    """Missing without the user's own Role, nothing more to say with it; a right to all Secrets is told of."""
    bare = manifests("reading.yaml")
    missing, excess = daemon_rights(RbacServer(bare, "rescheduler-observer"), policy(NAMES_SECRET))  # type: ignore[arg-type]
    assert [(need.right.text, need.right.object_name, need.namespace) for need in missing] == [
        ("get secrets", "prometheus", "rescheduler-system")
    ]
    assert excess == ()
    server = RbacServer([*bare, SECRET, READS_SECRET], "rescheduler-observer")
    asked = policy(f"{NAMES_SECRET}\nleaderElection: {{namespace: rescheduler-system}}")
    assert daemon_rights(server, asked) == ((), ())  # type: ignore[arg-type]
    wide = {**SECRET, "rules": [{**SECRET["rules"][0], "resourceNames": []}]}  # type: ignore[index, dict-item]
    server = RbacServer([*bare, wide, READS_SECRET], "rescheduler-observer")
    assert daemon_rights(server, asked).excess == ("get secrets in rescheduler-system",)  # type: ignore[arg-type]


def test_rights_in_single_namespaces_are_enough_for_a_policy_of_these() -> None:
    """With the bindings of the manifests replaced by RoleBindings in the namespaces of scope.namespaces.include."""
    moved = ("rescheduler-execute", "rescheduler-nominate", "rescheduler-events", "rescheduler-guide")
    found = manifests(*ACTING, "guide-binding.yaml")
    wide = [item for item in found if item["kind"] == "ClusterRoleBinding" and item["metadata"]["name"] in moved]
    local = [{**item, "kind": "RoleBinding", "metadata": {**item["metadata"], "namespace": "shop"}} for item in wide]
    told = [{**item, "metadata": {**item["metadata"], "namespace": "rescheduler-system"}}
            for item in local if item["metadata"]["name"] == "rescheduler-events"]  # fmt: skip
    server = RbacServer([*(item for item in found if item not in wide), *local, *told], "rescheduler")
    asked = policy(f"{EXECUTE}\nguidance: Guide\nscope: {{namespaces: {{include: [shop]}}}}")
    assert daemon_rights(server, asked) == ((), ())  # type: ignore[arg-type]
    beyond = policy(f"{EXECUTE}\nguidance: Guide\nscope: {{namespaces: {{include: [shop, web]}}}}")
    missing = {(need.right.text, need.namespace) for need in daemon_rights(server, beyond).missing}  # type: ignore[arg-type]
    assert missing == {(f"{verb} {what}", "web") for verb, what in (
        ("create", "pods/eviction"), ("patch", "pods/status"), ("create", "events"), ("patch", "pods"))}  # fmt: skip
