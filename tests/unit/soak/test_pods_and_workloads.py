"""Which pods are left alone: by what they are, by their marks, by what happens to their workload, by earlier moves."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.model.objects.constraints import Volume
from rescheduler.model.objects.pod import OwnerReference
from tests.builders import NOW, pod, workload
from tests.soak.invariants.eligibility import Eligibility
from tests.soak.invariants.ping_pong import PingPong
from tests.soak.invariants.quiet import CanBeRecreated, OrderedSets, QuietWorkload
from tests.unit.soak.scenes import a_world
from tests.unit.soak.story import Story

QUIET = "disruption: {unsettled: Deny}"
OWNED = OwnerReference("ReplicaSet", "web", "uid-default-web")


def test_an_ordinary_pod_may_go() -> None:
    """Nothing is found, and it was looked at."""
    story = Story(Eligibility)
    story.send("web-0")
    assert story.found == []
    assert story.guard == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"annotations": {"kubernetes.io/config.mirror": "x"}},
        {"owners": (OwnerReference("DaemonSet", "web", "u"),)},
        {"owners": (OwnerReference("Job", "web", "u"),)},
        {"owners": ()},
        {"owners": (structs.replace(OWNED, group="example.com"),)},
        {"owners": (OwnerReference("PyTorchJob", "train", "u", group="kubeflow.org"),)},
        {"owners": (OwnerReference("Pod", "other", "u"),)},
        {"labels": {"app": "other"}},
        {"labels": {"app": "web", "app.kubernetes.io/part-of": "rescheduler"}},
        {"spec": pod("x", restart_policy="OnFailure").spec},
        {"is_ready": False},
        {"owners": (OWNED, OwnerReference("ReplicaSet", "other", "u"))},
        {"phase": "Succeeded"},
        {"node_name": None},
        {"deletion_at": NOW + 9},
        {"labels": {"app.kubernetes.io/managed-by": "rescheduler"}},
        {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}},
        {"annotations": {"karpenter.sh/do-not-disrupt": "true"}},
        {"annotations": {"karpenter.sh/do-not-disrupt": "48h"}},
        {"annotations": {"karpenter.sh/do-not-disrupt": "for a while"}},
        {"annotations": {"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""}},
        {"annotations": {"rescheduler.dev/do-not-evict": "true"}},
        {"volumes": (Volume("EmptyDir"),)},
        {"volumes": (Volume("PersistentVolumeClaim", claim="c"),)},
        {"spec": pod("x", priority=2_000_000_000).spec},
        {"spec": pod("x", scheduler_name="mine").spec},
        {"spec": pod("x", unmodelled=("claims",)).spec},
    ],
    ids=str,
)
def test_pods_that_are_never_moved(fields: dict[str, Any]) -> None:
    """Each by what it is right before the eviction."""
    story = Story(Eligibility)
    story.set_pod("web-0", **fields)
    story.send("web-0")
    assert len(story.found) >= 1


@pytest.mark.parametrize(
    "fields",
    [
        {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}, "volumes": (Volume("EmptyDir"),)},
        {"annotations": {"karpenter.sh/do-not-disrupt": "false"}},
        {"annotations": {"karpenter.sh/do-not-disrupt": "1h"}},
        {"annotations": {"rescheduler.dev/do-not-evict": "false"}},
    ],
    ids=str,
)
def test_marks_that_protect_nothing(fields: dict[str, Any]) -> None:
    """Their neighbours do."""
    story = Story(Eligibility)
    story.set_pod("web-0", **fields)
    story.send("web-0")
    assert story.found == []


@pytest.mark.parametrize(
    "policy",
    [
        "scope: {namespaces: {exclude: [default]}}",
        "scope: {namespaces: {include: [other]}}",
        "scope: {labelSelector: {matchLabels: {app: other}}}",
        "scope: {labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}}",
        "scope: {nodeSelector: {kubernetes.io/hostname: n2}}",
        "scope: {priorityBelow: -1}",
        "scope: {minimumAge: 48h}",
    ],
)
def test_the_scope_can_only_narrow(policy: str) -> None:
    """Whatever the plan says."""
    story = Story(Eligibility, policy=policy)
    story.send("web-0")
    assert len(story.found) == 1


@pytest.mark.parametrize(
    ("policy", "fields"),
    [
        ("disruption: {notReady: Allow}", {"is_ready": False}),
        ("disruption: {ownerKinds: [{group: example.com, kind: Set}]}",
         {"owners": (OwnerReference("Set", "x", "u", group="example.com"),)}),
        ("disruption: {persistentVolumes: Allow}", {"volumes": (Volume("PersistentVolumeClaim", claim="c"),)}),
    ],
)  # fmt: skip
def test_what_the_policy_in_force_allows_may_go(policy: str, fields: dict[str, Any]) -> None:
    """The same pods are found without it."""
    for by, is_right in ((policy, True), ("", False)):
        story = Story(Eligibility, policy=by).set_pod("web-0", **fields)
        story.send("web-0")
        others = [found for found in story.found if "single replica" not in found]
        assert (others == []) is is_right


@pytest.mark.parametrize(("seconds", "is_right"), [(5, True), (12, False)])
def test_pods_on_a_node_that_is_not_ready_stay(seconds: float, is_right: bool) -> None:
    """What a snapshot could not show yet is no reproach; the policy may allow them."""
    story = Story(Eligibility).sleep(60).node("n0", is_ready=False).sleep(seconds)
    story.send("web-0")
    assert (story.found == []) is is_right
    allowed = Story(Eligibility, policy="disruption: {notReady: Allow}").sleep(60).node("n0", is_ready=False).sleep(60)
    allowed.send("web-0")
    assert allowed.found == []


def test_what_only_claims_to_belong_to_a_workload_does_not_count_for_it() -> None:
    """Neither among its members nor as ready; its own pods do."""
    story = Story(Eligibility)
    story.come("fake-0", "n1").set_pod("fake-0", owners=(OWNED,), labels={"app": "other"})
    story.store.put_pod(pod("fake-1", node="n1", owners=(OWNED,), namespace="other", labels={"app": "web"}))
    assert story.truth.ready("uid-default-web") == len(story.truth.members("uid-default-web")) == 4
    assert {pod.name for pod in story.store.pods.values() if story.truth.forged(pod)} == {"fake-0", "fake-1"}


def test_pods_of_an_owner_that_is_not_there_stay() -> None:
    """It replaces nothing; one that a snapshot still showed is no reproach, nor one that the cluster never shows."""
    story = Story(Eligibility)
    gone = structs.replace(OWNED, name="gone", uid="uid-gone")
    for name in ("left-0", "left-1"):
        story.come(name, "n1").set_pod(name, owners=(gone,))
    story.send("left-0")
    assert story.found == ["default/left-0 was evicted though it names ReplicaSet gone, which is not there"]
    allowed = Story(Eligibility, policy="disruption: {ownerKinds: [{group: example.com, kind: ReplicaSet}]}")
    allowed.come("own-0", "n1").set_pod("own-0", owners=(structs.replace(gone, group="example.com"),))
    allowed.come("own-1", "n1").set_pod("own-1", owners=(structs.replace(gone, group="example.com"),))
    allowed.send("own-0")
    assert allowed.found == []


def test_single_replicas_stay() -> None:
    """Unless they were scaled down a moment ago."""
    story = Story(Eligibility, a_world(1))
    story.send("web-0")
    assert story.found == ["default/web-0 was evicted though it is a single replica"]
    scaled = Story(Eligibility, a_world(2))
    scaled.read().happen("x").scale("web", 1)
    scaled.send("web-0", without=["read"])
    assert scaled.found == []


@pytest.mark.parametrize(
    "fields",
    [{"generation": 2}, {"updated_replicas": 2}, {"is_paused": True}, {"is_terminating": True}],
    ids=str,
)
def test_a_workload_that_changes_is_left_alone(fields: dict[str, Any]) -> None:
    """Where the policy denies unsettled ones, and the snapshot showed it."""
    for policy, is_right in ((QUIET, False), ("", True)):
        story = Story(QuietWorkload, policy=policy)
        story.store.put_workload(structs.replace(story.store.workloads["uid-default-web"], **fields))
        story.send("web-0")
        assert (story.found == []) is is_right


@pytest.mark.parametrize(("seconds", "is_right"), [(200, False), (320, True)])
def test_after_a_change_of_scale_it_is_quiet(seconds: float, is_right: bool) -> None:
    """Five minutes, whoever changed it."""
    story = Story(QuietWorkload, policy=QUIET)
    story.happen("x").scale("web", 3).sleep(seconds)
    story.send("web-0")
    assert (story.found == []) is is_right


def the_set(**fields: Any) -> Story:
    """A StatefulSet of three."""
    pods = [pod(f"db-{number}", node=f"n{number}", kind="StatefulSet", owner="db") for number in range(3)]
    return Story(OrderedSets, a_world(4, 4, *pods, workload("db", 3, kind="StatefulSet")), QUIET)


def test_a_set_moves_from_its_highest_ordinal_down() -> None:
    """One after the other, each replaced before the next."""
    story = the_set()
    story.send("db-2")
    story.go("db-2").come("db-2", "n3", kind="StatefulSet", owner="db").sleep(31).read()
    story.send("db-1")
    assert story.found == []
    assert story.guard == 2


def test_a_set_moves_one_at_a_time_and_in_order() -> None:
    """A lower ordinal first, and both at once."""
    story = the_set()
    story.send("db-1")
    story.send("db-2")
    assert any("2 pods of its StatefulSet" in message for message in story.found)
    assert any("lower ordinal" in message for message in story.found)


def test_a_set_with_a_hole_is_left_alone() -> None:
    """All ordinals have to be ready."""
    story = the_set().set_pod("db-0", is_ready=False).sleep(30)
    story.send("db-2")
    assert any("1 ordinals" in message for message in story.found)


def test_a_crashing_sibling_keeps_the_others() -> None:
    """The next one of that revision would crash too."""
    story = Story(CanBeRecreated, policy=QUIET).set_pod("web-3", is_ready=False, restart_count=5).sleep(30)
    story.send("web-0")
    assert len(story.found) == 1
    healed = Story(CanBeRecreated, policy=QUIET).set_pod("web-3", restart_count=5).sleep(30)
    healed.send("web-0")
    assert healed.found == []


@pytest.mark.parametrize(("hours", "is_right"), [(5.9, False), (6.1, True)])
def test_a_replacement_rests(hours: float, is_right: bool) -> None:
    """Six hours by default."""
    story = Story(PingPong)
    story.send("web-0")
    story.repay("web-0", new="web-9").sleep(hours * 3600)
    story.send("web-9", "n1")
    assert (story.found == []) is is_right
    assert story.guard == 1


def test_what_took_the_place_of_a_replacement_is_none_itself() -> None:
    """Somebody else evicted our replacement before the debt was closed."""
    story = Story(PingPong)
    story.send("web-0")
    story.go("web-0").come("web-8", "n1").go("web-8")
    story.repay("web-0", new="web-9").sleep(3600)
    story.send("web-9", "n1")
    assert story.found == []


@pytest.mark.parametrize(("landed", "hours", "is_right"), [("n0", 0.9, False), ("n0", 1.1, True), ("n3", 0.9, True)])
def test_what_came_to_nothing_waits(landed: str, hours: float, is_right: bool) -> None:
    """Moves of the same workload away from the same node."""
    story = Story(PingPong, a_world(8))
    story.send("web-0")
    story.repay("web-0", landed, new="web-9").sleep(hours * 3600)
    story.send("web-4")
    assert (story.found == []) is is_right


def test_moves_of_one_pod_in_a_day_are_counted() -> None:
    """Two by default; the third is found."""
    story = Story(PingPong, policy="disruption: {backOff: {rest: 1h}}")
    name = "web-0"
    for number, to in enumerate(("n3", "n2", "n1")):
        story.send(name, to)
        story.repay(name, to, new=f"new-{number}").sleep(7200)
        name = f"new-{number}"
    assert len(story.found) == 1
    assert "3th time" in story.found[0]
