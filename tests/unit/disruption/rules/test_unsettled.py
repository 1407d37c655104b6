"""Tests of workloads in motion, and of pods that might not come back, under ``unsettled: Deny``."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.workload import PodAutoscaler, ResourceQuota, Workload
from rescheduler.model.plan.plan import Refusal
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import entry, ledger

DENY = policy(disruption={"unsettled": "Deny", "workloads": {"maxUnavailable": "50%"}})
ALLOW = policy(disruption={"workloads": {"maxUnavailable": "50%"}})
UP = OwnerReference("Deployment", "web", "uid-deployment")


def deployment(**fields: Any) -> list[Workload]:
    """A Deployment of four over its ReplicaSet."""
    top = {"uid": "uid-deployment", "kind": "Deployment", "namespace": "default", "name": "web", "desired_replicas": 4}
    counts = {"ready_replicas": 4, "updated_replicas": 4, "current_replicas": 4}
    return [Workload(**{**top, **counts, **fields}), workload("web", 4, owner=UP)]  # type: ignore[arg-type]


def replicas(count: int = 4, **fields: Any) -> list[Pod]:
    """Its pods."""
    return [pod(f"web-{number}", node="n1", **fields) for number in range(count)]


def refusal(
    *objects: Any, by: Any = DENY, name: str = "web-0", quotas: Any = (), autoscalers: Any = (), **options: Any
) -> Refusal | None:
    """What is said against one pod."""
    seen = cluster(node("n1", cpu="64"), *objects, quotas=quotas, autoscalers=autoscalers)
    found = decide_eligibility(seen, by, **options)
    return next((item for item in found.refusals.values() if item.pod.name == name), None)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"is_terminating": True}, "is being deleted"),
        ({"is_paused": True}, "is paused"),
        ({"generation": 4, "observed_generation": 3}, "was changed (generation 4, observed 3)"),
        ({"updated_replicas": 3}, "is rolling out: 3 of 4 replicas are up to date"),
        ({"current_replicas": 5}, "has 5 replicas and wants 4"),
    ],
)
def test_a_workload_in_motion_is_left_alone(fields: dict[str, Any], reason: str) -> None:
    """Where the policy says so; the reason names the workload and the field."""
    found = refusal(*deployment(**fields), *replicas())
    assert found is not None
    assert (found.rule, found.message) == (
        "Rollout",
        f"default/web-0 belongs to Deployment default/web, which {reason} (policy: disruption.unsettled)",
    )
    assert refusal(*deployment(**fields), *replicas(), by=ALLOW) is None


def test_a_workload_at_rest_may_be_moved() -> None:
    """Whole, complete, observed; one whose status says nothing too."""
    assert refusal(*deployment(generation=3, observed_generation=3), *replicas()) is None
    silent = {"updated_replicas": None, "current_replicas": None, "desired_replicas": None}
    assert refusal(*deployment(**silent), *replicas()) is None
    assert refusal(*replicas()) is None


def test_the_owner_below_counts_too() -> None:
    """A ReplicaSet that is being scaled, under a Deployment that says nothing of it."""
    top, below = deployment()
    found = refusal(top, structs.replace(below, current_replicas=6), *replicas())
    assert found is not None
    assert "ReplicaSet default/web, which has 6 replicas and wants 4" in found.message


def test_two_revisions_alive_are_a_rollout() -> None:
    """Old pods on their way out, and finished ones, are no second revision."""
    other = workload("old", 1, owner=UP)
    found = refusal(*deployment(), other, *replicas(), pod("old-0", node="n1"))
    assert found is not None
    assert "of which two revisions are alive" in found.message
    assert refusal(*deployment(), other, *replicas(), pod("old-0", node="n1", deletion_at=NOW)) is None
    assert refusal(*deployment(), other, *replicas(), pod("old-0", node="n1", phase="Failed")) is None


def test_what_we_evicted_ourselves_is_no_rollout() -> None:
    """Debts, this plan's own evictions, and pods that are leaving explain missing replicas; one more does not."""
    moving = [*deployment(updated_replicas=3), *replicas()]
    debt = entry(ago=5.0, state=EntryState.OPEN, workload="uid-deployment")
    assert refusal(*moving) is not None
    assert refusal(*moving, ledger=ledger(debt)) is None
    assert refusal(*moving, sent={"uid-deployment": 1}) is None
    assert refusal(*moving, pod("web-9", node="n1", deletion_at=NOW)) is None
    assert refusal(*deployment(updated_replicas=2), *replicas(), ledger=ledger(debt)) is not None
    assert refusal(*moving, ledger=ledger(entry(ago=5.0, workload="uid-deployment"))) is not None


def test_a_pod_that_is_gone_is_missed_by_its_own_workload() -> None:
    """The debt of another one explains nothing."""
    moving = [*deployment(updated_replicas=3), *replicas(3)]
    for workload_uid, rule in (("uid-deployment", None), ("uid-of-another", "Rollout")):
        found = refusal(*moving, ledger=ledger(entry(9, ago=5.0, state=EntryState.OPEN, workload=workload_uid)))
        assert (None if found is None else found.rule) == rule


def test_a_workload_that_was_just_scaled_is_quiet_for_a_while() -> None:
    """As far as somebody remembers; a change of unknown time is none."""
    known = {"uid-deployment": Wanted(4, NOW - 60)}
    found = refusal(*deployment(), *replicas(), wanted=known)
    assert found is not None
    assert (found.rule, "just scaled; quiet for another 4m (policy: disruption.quiet)" in found.message) == (
        "Rescaled",
        True,
    )
    assert refusal(*deployment(), *replicas(), wanted={"uid-deployment": Wanted(4, NOW - 300)}) is None
    assert refusal(*deployment(), *replicas(), wanted={"uid-deployment": Wanted(4, NOW - 299.5)}) is not None
    assert refusal(*deployment(), *replicas(), wanted={"uid-deployment": Wanted(4)}) is None
    assert refusal(*deployment(), *replicas(), wanted=known, by=ALLOW) is None
    assert refusal(pod("alone", node="n1", owner=None), name="other", wanted=known) is None


class TestStatefulSets:
    """Members know each other: one at a time, and only when all are there."""

    def members(self, unready: int = 0, **fields: Any) -> list[Any]:
        """Four members."""
        pods = [
            pod(f"db-{number}", node="n1", kind="StatefulSet", is_ready=number >= unready, **fields)
            for number in range(4)
        ]
        return [workload("db", 4, kind="StatefulSet"), *pods]

    def test_all_members_have_to_be_ready(self) -> None:
        """With one missing the others stay."""
        found = refusal(*self.members(unready=1), name="db-3")
        assert found is not None
        assert (found.rule, "only 3 of 4 replicas are ready" in found.message) == ("StatefulSet", True)
        assert refusal(*self.members(), name="db-3") is None
        assert refusal(*self.members(unready=1), name="db-3", by=ALLOW) is None
        assert refusal(*deployment(), *replicas(3), pod("web-3", node="n1", is_ready=False)) is None

    def test_one_of_them_is_moved_in_one_plan(self) -> None:
        """None once the plan has sent one."""
        seen = cluster(node("n1", cpu="64"), *self.members())
        for sent, left in (({}, 1), ({"uid-default-db": 1}, 0), ({"uid-default-db": 2}, 0)):
            groups = decide_eligibility(seen, DENY, sent=sent).groups
            (found,) = (group for group in groups if group.rule == "StatefulSet")
            assert (found.name, found.allowed_per_wave, found.allowed_in_plan, len(found.pods)) == (
                "StatefulSet default/db", left, left, 4,
            )  # fmt: skip
        assert not [group for group in decide_eligibility(seen, ALLOW).groups if group.rule == "StatefulSet"]


class TestDoubt:
    """A pod that would not be made again, or would not run again, stays."""

    def test_an_owner_that_cannot_make_pods(self) -> None:
        """Its condition says why, on either level."""
        for objects in (
            deployment(failure="FailedCreate"),
            [deployment()[0], workload("web", 4, owner=UP, failure="X")],
        ):
            found = refusal(*objects, *replicas())
            assert found is not None
            assert (found.rule, "which cannot make pods now: " in found.message) == ("ReplacementInDoubt", True)
        assert refusal(*deployment(failure="FailedCreate"), *replicas(), by=ALLOW) is None

    def test_a_sibling_that_cannot_run(self) -> None:
        """Of the same revision; one of another workload says nothing."""
        broken = pod("web-7", node="n1", is_ready=False, trouble="ImagePullBackOff")
        found = refusal(*deployment(), *replicas(), broken)
        assert found is not None
        assert "of which web-7 cannot run: ImagePullBackOff" in found.message
        assert refusal(*deployment(), *replicas(), pod("db-1", node="n1", is_ready=False, trouble="X")) is None
        assert refusal(*deployment(), *replicas(), broken, by=ALLOW) is None

    @pytest.mark.parametrize(
        ("hard", "used", "scopes", "is_full"),
        [
            ({"pods": 5}, {"pods": 4}, (), False),
            ({"pods": 4}, {"pods": 4}, (), True),
            ({"count/pods": 4}, {"count/pods": 4}, (), True),
            ({"count/pods": 5}, {"count/pods": 4}, (), False),
            ({"pods": 1}, {}, (), False),
            ({"requests.cpu": 5000}, {"requests.cpu": 4000}, (), False),
            ({"requests.cpu": 4999}, {"requests.cpu": 4000}, (), True),
            ({"cpu": 4999}, {"cpu": 4000}, (), True),
            ({"requests.nvidia.com/gpu": 0}, {}, (), False),
            ({"pods": 4}, {"pods": 4}, ("NotTerminating",), True),
            ({"pods": 4}, {"pods": 4}, ("Terminating",), False),
            ({"pods": 4}, {"pods": 4}, ("BestEffort",), False),
        ],
    )
    def test_a_quota_without_room(self, hard: Any, used: Any, scopes: tuple[str, ...], is_full: bool) -> None:
        """The old pod counts until it is gone, so there must be room for both."""
        quota = ResourceQuota("default", "team", tuple(hard.items()), tuple(used.items()), scopes)
        found = refusal(*deployment(), *replicas(), quotas=(quota,))
        assert (found is not None) is is_full
        if found is not None:
            assert found.message.startswith("default/web-0 might not be made again: ResourceQuota default/team")
        elsewhere = ResourceQuota("other", "team", tuple(hard.items()), tuple(used.items()), scopes)
        assert refusal(*deployment(), *replicas(), quotas=(elsewhere,)) is None
        assert refusal(*deployment(), *replicas(), quotas=(quota,), by=ALLOW) is None


def autoscaler(**fields: Any) -> PodAutoscaler:
    """A HorizontalPodAutoscaler of the Deployment."""
    return PodAutoscaler("default", "web-hpa", **{"target_kind": "Deployment", "target_name": "web", **fields})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"current_replicas": 4, "desired_replicas": 6}, "is scaling from 4 to 6 (policy: disruption.unsettled)"),
        ({"last_scale_at": NOW - 100}, "has just scaled; quiet for another 200s (policy: disruption.quiet)"),
        ({"current_replicas": 4, "desired_replicas": 0, "last_scale_at": NOW - 9000},
         "is scaling from 4 to 0 (policy: disruption.unsettled)"),
    ],
)  # fmt: skip
def test_a_workload_that_an_autoscaler_scales_is_left_alone(fields: dict[str, Any], reason: str) -> None:
    """While the numbers differ, and for a while after the last change."""
    found = refusal(*deployment(), *replicas(), autoscalers=(autoscaler(**fields),))
    assert found is not None
    assert (found.rule, found.message) == (
        "Autoscaled",
        f"default/web-0 belongs to Deployment default/web, which HorizontalPodAutoscaler web-hpa {reason}",
    )
    assert refusal(*deployment(), *replicas(), autoscalers=(autoscaler(**fields),), by=ALLOW) is None


def test_an_autoscaler_of_another_groups_kind_hides_none_and_is_none() -> None:
    """A custom kind may be called Deployment too; of several autoscalers of one workload each counts."""
    busy = {"current_replicas": 4, "desired_replicas": 6}
    foreign = structs.replace(autoscaler(**busy), name="a", target_group="example.com")
    assert refusal(*deployment(), *replicas(), autoscalers=(foreign,)) is None
    quiet = structs.replace(foreign, target_group=None, current_replicas=6)
    for earlier in (foreign, quiet):
        found = refusal(*deployment(), *replicas(), autoscalers=(earlier, autoscaler(**busy)))
        assert found is not None
        assert "HorizontalPodAutoscaler web-hpa is scaling" in found.message


@pytest.mark.parametrize(
    "fields",
    [
        {"current_replicas": 4, "desired_replicas": 4, "last_scale_at": NOW - 301},
        {"current_replicas": 4, "desired_replicas": 0},
        {"current_replicas": None, "desired_replicas": 5},
        {"current_replicas": 4, "desired_replicas": 6, "target_name": "other"},
        {"current_replicas": 4, "desired_replicas": 6, "target_kind": "StatefulSet"},
    ],
    ids=["at rest", "never came to a number", "says no number", "of another", "of another kind"],
)
def test_an_autoscaler_at_rest_forbids_nothing(fields: dict[str, Any]) -> None:
    """Nor does one of another workload, or one that has not come to any number yet."""
    assert refusal(*deployment(), *replicas(), autoscalers=(autoscaler(**fields),)) is None


def test_the_quiet_after_a_scaling_ends_at_the_very_second() -> None:
    """Not before."""
    for ago, rule in ((300.0, None), (299.5, "Autoscaled")):
        found = refusal(*deployment(), *replicas(), autoscalers=(autoscaler(last_scale_at=NOW - ago),))
        assert (None if found is None else found.rule) == rule


def test_an_autoscaler_that_never_scaled_has_not_just_done_so() -> None:
    """Nor where it is not known when the cluster was recorded."""
    still = autoscaler(current_replicas=4, desired_replicas=4)
    seen = cluster(node("n1", cpu="64"), *deployment(), *replicas(), autoscalers=(still,), taken_at=0.0)
    assert decide_eligibility(seen, DENY).refusals == {}


def test_a_replica_set_that_is_scaled_by_itself_is_found_too() -> None:
    """An autoscaler may scale the owner rather than what is above it."""
    found = autoscaler(target_kind="ReplicaSet", current_replicas=4, desired_replicas=6)
    told = refusal(workload("web", 4), *replicas(), autoscalers=(found,))
    assert told is not None
    assert "ReplicaSet default/web, which HorizontalPodAutoscaler web-hpa is scaling" in told.message


def test_a_daemon_leaves_workloads_in_motion_alone_whatever_the_policy_says() -> None:
    """Nobody watches; the words do not blame the policy for it."""
    moving = autoscaler(current_replicas=4, desired_replicas=6)
    told = refusal(*deployment(), *replicas(), by=ALLOW, autoscalers=(moving,), is_daemon=True)
    assert told is not None
    assert told.message.endswith("is scaling from 4 to 6 (run leaves it alone)")
    rolling = refusal(*deployment(updated_replicas=3), *replicas(), by=ALLOW, is_daemon=True)
    assert rolling is not None
    assert rolling.rule == "Rollout"
    assert refusal(*deployment(), *replicas(), by=ALLOW, is_daemon=True) is None
