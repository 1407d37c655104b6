"""Tests of the rules about what a pod is and who would replace it."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.plan.disruption import OwnIdentity, Selection
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.disruption.cases import UNREADY_TOO, policy, rule_against, verdict

WEB = OwnerReference("ReplicaSet", "web", "uid-default-web")


def test_a_replica_of_a_healthy_workload_may_be_moved() -> None:
    """Nothing speaks against a plain replica."""
    assert verdict(pod("web-0", node="n1")) is None


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("MirrorPod", {"annotations": {"kubernetes.io/config.mirror": "abc"}}),
        ("MirrorPod", {"annotations": {"kubernetes.io/config.mirror": ""}}),
        ("MirrorPod", {"annotations": {"kubernetes.io/config.source": "file"}}),
        ("MirrorPod", {"owners": (OwnerReference("Node", "n1", "uid-n1"),)}),
        ("DaemonSet", {"kind": "DaemonSet"}),
        ("DaemonSet", {"owners": (OwnerReference("DaemonSet", "d", "u", is_controller=False), WEB)}),
        ("Job", {"kind": "Job"}),
        ("Finished", {"phase": "Succeeded"}),
        ("Finished", {"phase": "Failed"}),
        ("Terminating", {"deletion_at": NOW + 30}),
        ("CriticalPriority", {"priority": 2_000_000_000}),
        ("CriticalPriority", {"priority": 2_000_001_000}),
        ("Ownerless", {"owner": None}),
        ("Ownerless", {"owners": (OwnerReference("ReplicaSet", "web", "u", is_controller=False),)}),
        ("SeveralControllers", {"owners": (WEB, OwnerReference("ReplicaSet", "api", "uid-default-api"))}),
        ("OwnerUnknown", {"owners": (OwnerReference("ReplicaSet", "web", ""),)}),
        ("OwnerUnknown", {"owners": (OwnerReference("StatefulSet", "web", "uid-default-web"),)}),
        ("OwnerUnknown", {"owners": (OwnerReference("ReplicaSet", "web", "uid-default-web", group="example.com"),)}),
        ("Job", {"restart_policy": "Never"}),
        ("Job", {"restart_policy": "OnFailure"}),
        ("Job", {"owner": None, "restart_policy": "Never"}),
        ("NotReady", {"is_ready": False}),
        ("NotReady", {"is_ready": False, "phase": "Pending"}),
        ("OwnPod", {"labels": {"app": "web", "app.kubernetes.io/name": "rescheduler"}}),
        ("OwnPod", {"labels": {"app": "web", "app.kubernetes.io/part-of": "rescheduler"}}),
        ("Placeholder", {"labels": {"app.kubernetes.io/managed-by": "rescheduler"}}),
    ],
)
def test_pods_that_must_stay_are_refused_by_name(rule: str, fields: dict[str, Any]) -> None:
    """Each kind of pod that must stay is refused by its own rule, with the pod in the message."""
    found = verdict(pod("web-0", node="n1", **fields))
    assert found is not None
    assert found.rule == rule
    assert found.message.startswith("default/web-0 ")


@pytest.mark.parametrize(
    "fields",
    [
        {"priority": 1_999_999_999},
        {"annotations": {"kubernetes.io/config.source": "api"}},
        {"labels": {"app": "web", "app.kubernetes.io/managed-by": "Helm"}},
        {"owners": (WEB, OwnerReference("Something", "x", "u", is_controller=False))},
        {"phase": "Running"},
    ],
)
def test_near_misses_are_not_refused(fields: dict[str, Any]) -> None:
    """What only looks like a protected pod may be moved."""
    assert rule_against(pod("web-0", node="n1", **fields)) is None


def test_ownerless_pods_move_when_the_policy_says_so() -> None:
    """disruption.ownerless: Allow lifts the rule, and no workload's budget holds the pod."""
    assert rule_against(pod("x", node="n1", owner=None), policy=policy(disruption={"ownerless": "Allow"})) is None


def test_two_controllers_are_refused_even_when_ownerless_pods_may_move() -> None:
    """An unclear owner is not the same as none."""
    subject = pod("x", node="n1", owners=(WEB, OwnerReference("ReplicaSet", "b", "u")))
    assert rule_against(subject, policy=policy(disruption={"ownerless": "Allow"})) == "SeveralControllers"


def test_a_pod_whose_owner_is_being_deleted_has_nobody_to_replace_it() -> None:
    """An owner on its way out counts as none."""
    found = verdict(pod("old-0", node="n1"), workload("old", 5, is_terminating=True))
    assert found is not None
    assert found.rule == "Ownerless"
    assert "being deleted" in found.message


def test_finished_and_terminating_pods_without_a_node_are_named_too() -> None:
    """No pod of the snapshot is left without a verdict."""
    assert rule_against(pod("web-0", phase="Failed")) == "Finished"
    assert rule_against(pod("web-0", deletion_at=NOW)) == "Terminating"


CUSTOM = [
    ("kubeflow.org", "PyTorchJob"),
    ("argoproj.io", "Workflow"),
    ("tekton.dev", "TaskRun"),
    ("sparkoperator.k8s.io", "SparkApplication"),
    ("ray.io", "RayCluster"),
    ("postgresql.cnpg.io", "Cluster"),
    ("kubevirt.io", "VirtualMachineInstance"),
    ("apps.kruise.io", "CloneSet"),
    ("example.com", "ReplicaSet"),
    ("batch.volcano.sh", "Job"),
]


def replicas_of(kind: str, group: str | None, **fields: Any) -> list[Pod]:
    """Ten ready pods of a controller that is not in the snapshot."""
    owner = OwnerReference(kind, "train", "uid-default-train", group=group)
    return [pod(f"train-{number}", node="n1", owners=(owner,), **fields) for number in range(10)]


@pytest.mark.parametrize(("group", "kind"), CUSTOM)
def test_pods_of_custom_controllers_stay_unless_the_policy_names_the_kind(group: str, kind: str) -> None:
    """Nobody knows whether such a controller replaces a pod; the message says what a policy would have to name."""
    subject, *others = replicas_of(kind, group)
    found = verdict(subject, pods=others)
    assert found is not None
    assert found.rule == "CustomController"
    assert f"belongs to {kind} train ({group})" in found.message
    assert f"disruption.ownerKinds; kind {kind}, group {group}" in found.message
    listed = policy(disruption={"ownerKinds": [{"group": group, "kind": kind}]})
    assert rule_against(subject, pods=others, policy=listed) is None
    other_group = policy(disruption={"ownerKinds": [{"group": f"x.{group}", "kind": kind}]})
    assert rule_against(subject, pods=others, policy=other_group) == "CustomController"


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "ReplicationController"])
def test_kubernetes_own_controllers_replace_their_pods(kind: str) -> None:
    """Those three, of the groups that Kubernetes has them in, need no word of the policy."""
    subject, *others = replicas_of(kind, None)
    owner = workload("train", 10, kind=kind)
    assert rule_against(subject, owner, pods=others) is None
    assert rule_against(subject, pods=others, absent_kinds=frozenset({kind})) is None


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "ReplicationController"])
def test_an_owner_that_is_not_there_replaces_nothing(kind: str) -> None:
    """A snapshot holds all of Kubernetes' own owners: what it does not hold is gone, or never was."""
    subject, *others = replicas_of(kind, None)
    found = verdict(subject, pods=others, absent_kinds=frozenset())
    assert found is not None
    assert found.rule == "OwnerUnknown"
    assert f"names {kind} train as its owner, which is not there" in found.message
    assert rule_against(subject, pods=others, absent_kinds=frozenset({"Deployment"})) == "OwnerUnknown"
    assert rule_against(subject, pods=others, absent_kinds=frozenset(), is_recording=True) is None


def test_a_replica_set_whose_deployment_is_not_there_replaces_nothing() -> None:
    """The garbage collector is about to take both; of another group's owner above nothing is known."""
    above = OwnerReference("Deployment", "web", "uid-of-a-deployment")
    pods = [pod(f"web-{number}", node="n1") for number in range(10)]

    def rules(**fields: Any) -> set[str]:
        owner = workload("web", 10, owner=fields.pop("owner", above))
        found = decide_eligibility(cluster(node("n1", cpu="64"), owner, *pods, **fields), policy())
        return {refusal.rule for refusal in found.refusals.values()}

    assert rules() == {"OwnerUnknown"}
    assert rules(absent_kinds=frozenset({"Deployment"})) == set()
    assert rules(owner=OwnerReference("Rollout", "web", "uid-of-a-rollout", group="argoproj.io")) == set()


def test_a_reference_with_another_name_than_its_owner_has_is_not_believed() -> None:
    """The uid of one ReplicaSet, the name of another: the garbage collector takes such a pod for an orphan."""
    subject = pod("web-0", node="n1", owners=(OwnerReference("ReplicaSet", "api", "uid-default-web"),))
    found = verdict(subject)
    assert found is not None
    assert found.rule == "OwnerUnknown"
    assert "with the uid of ReplicaSet default/web" in found.message


@pytest.mark.parametrize(("group", "kind"), [(None, "Pod"), (None, "Deployment"), (None, "Unheard")])
def test_no_other_kind_is_taken_to_replace_pods(group: str | None, kind: str) -> None:
    """Pods that name a pod, or a kind without a group that nothing is known of, as their controller."""
    subject, *others = replicas_of(kind, group)
    assert rule_against(subject, workload("train", 10, kind=kind), pods=others) == "CustomController"


@pytest.mark.parametrize("restart", ["Never", "OnFailure", "whatever"])
def test_a_restart_policy_binds_whatever_the_policy_says_of_the_owner(restart: str) -> None:
    """disruption.ownerKinds and ownerless: Allow do not make a pod movable that runs to its end."""
    listed = policy(disruption={"ownerKinds": [{"group": "kubeflow.org", "kind": "PyTorchJob"}], "ownerless": "Allow"})
    subject, *others = replicas_of("PyTorchJob", "kubeflow.org", restart_policy=restart)
    assert rule_against(subject, pods=others, policy=listed) == "Job"
    assert rule_against(pod("x", node="n1", owner=None, restart_policy=restart), policy=listed) == "Job"


def test_owners_in_a_circle_replace_nothing() -> None:
    """A ReplicaSet that owns itself, or two things that own each other, are no chain that ends anywhere."""
    itself = workload("web", 10, owner=WEB)
    up = OwnerReference("Deployment", "shop", "uid-default-shop")
    below, above = workload("web", 10, owner=up), workload("shop", 10, kind="Deployment", owner=WEB, selector=None)
    pods = [pod(f"web-{number}", node="n1") for number in range(10)]
    for owners in ((itself,), (below, above)):
        found = decide_eligibility(cluster(node("n1", cpu="64"), *owners, *pods), policy())
        assert not found.movable
        assert {refusal.rule for refusal in found.refusals.values()} == {"OwnerUnknown"}
        assert "own each other or themselves" in found.refusals[0].message


def test_a_pod_that_names_a_pod_as_its_replica_set_stays() -> None:
    """Its own uid, or that of another pod, is no owner's."""
    subject = pod("x-0", node="n1", owners=(OwnerReference("ReplicaSet", "x", "uid-default-x-0"),))
    assert rule_against(subject) == "OwnerUnknown"
    other = pod("x-0", node="n1", owners=(OwnerReference("ReplicaSet", "x", "uid-default-web-1"),))
    assert rule_against(other) == "OwnerUnknown"


def test_pods_that_are_not_ready_move_when_the_policy_says_so() -> None:
    """disruption.notReady: Allow lifts the rule; by default they are a matter of repair."""
    assert rule_against(pod("web-0", node="n1", is_ready=False), policy=UNREADY_TOO) is None


def test_the_daemon_moves_neither_itself_nor_those_that_stand_by() -> None:
    """Known by its pod's name and by the controller of that; also where system namespaces may be moved."""
    own = Selection(own=OwnIdentity("tools", "mover-0"))
    allow = policy(scope={"systemNamespaces": "Allow"})
    pods = [pod(f"mover-{number}", node="n1", namespace="tools") for number in range(3)]
    others = [pod(f"other-{number}", node="n1", namespace="tools") for number in range(10)]
    owners = [workload("mover", 3, namespace="tools"), workload("other", 10, namespace="tools")]
    for subject in pods:
        rest = [*(item for item in pods if item is not subject), *others]
        assert rule_against(subject, *owners, pods=rest, selection=own, policy=allow) == "OwnPod"
        assert rule_against(subject, *owners, pods=rest, selection=own) == "SystemNamespace"
    assert rule_against(others[0], *owners, pods=[*pods, *others[1:]], selection=own, policy=allow) is None
    alone = pod("mover-0", node="n1", owner=None, namespace="tools")
    twin = pod("mover-1", node="n1", owner=None, namespace="tools")
    may = policy(scope={"systemNamespaces": "Allow"}, disruption={"ownerless": "Allow"})
    assert rule_against(alone, pods=[twin], selection=own, policy=may) == "OwnPod"
    assert rule_against(twin, pods=[alone], selection=own, policy=may) is None


def test_a_pod_of_the_same_name_in_another_namespace_is_not_the_daemons() -> None:
    """Names count within a namespace alone: nobody's pods stay because a daemon elsewhere is called so."""
    own = Selection(own=OwnIdentity("tools", "web-0"))
    mine = pod("web-0", node="n1", namespace="tools")
    assert rule_against(pod("web-0", node="n1"), mine, workload("web", 1, namespace="tools"), selection=own) is None
