"""Tests of the floor under every workload."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.disruption.budgets.workload_budgets import BereftWorkloads, WorkloadAvailability, workload_limit
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.plan.disruption import DisruptionGroup, Selection
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod, selector, workload
from tests.unit.disruption.cases import UNREADY_TOO, decided, policy, rule_against, siblings, verdict


@pytest.mark.parametrize(
    ("share", "desired", "limit"),
    [
        ("10%", 2, 1), ("10%", 10, 1), ("10%", 19, 1), ("10%", 20, 2), ("10%", 29, 2), ("99%", 2, 1),
        ("33%", 100, 33), ("0%", 100, 0), (0, 100, 0), (1, 100, 1), (3, 2, 3),
    ],
)  # fmt: skip
def test_the_limit_is_the_number_or_the_share_rounded_towards_fewer(share: int | str, desired: int, limit: int) -> None:
    """max(1, floor(share of desired)) for shares above 0, a number as it stands."""
    assert workload_limit(share, desired) == limit


@given(st.integers(1, 99), st.integers(1, 5000))
def test_a_share_never_lets_more_go_than_it_says_nor_fewer_than_one(percent: int, desired: int) -> None:
    """The limit is at least 1, and above 1 it is within the share."""
    limit = workload_limit(f"{percent}%", desired)
    assert limit == 1 or (limit >= 1 and limit * 100 <= desired * percent < (limit + 1) * 100)


def groups_of(*pods: Pod, replicas: int = 10, **fields: object) -> list[tuple[str, str, int, int]]:
    """Groups as (rule, name, allowed in a wave, number of pods)."""
    eligibility = decided(pods[0], pods=pods[1:], replicas=replicas, **fields)  # type: ignore[arg-type]
    return [(group.rule, group.name, group.allowed_per_wave, len(group.pods)) for group in eligibility.groups]


def test_the_ready_pods_of_a_workload_share_what_its_limit_leaves() -> None:
    """Ten of ten ready, 10%: one at a time; twenty of twenty: two."""
    assert groups_of(pod("web-0", node="n1"), *siblings(9)) == [("WorkloadBudget", "ReplicaSet default/web", 1, 10)]
    assert groups_of(pod("web-0", node="n1"), *siblings(19), replicas=20) == [
        ("WorkloadBudget", "ReplicaSet default/web", 2, 20)
    ]


def test_pods_unready_already_are_included_in_the_limit() -> None:
    """Of thirty, three may be unready and one is: two ready ones may go, and the unready one freely."""
    pods = [*siblings(28), pod("web-29", node="n1", is_ready=False)]
    eligibility = decided(pod("web-0", node="n1"), pods=pods, replicas=30, policy=UNREADY_TOO)
    (group,) = eligibility.groups
    assert group.allowed_per_wave == 2
    assert len(group.pods) == 29
    assert len(eligibility.movable) == 30


@pytest.mark.parametrize("lost", ["pending", "terminating", "missing", "finished", "unready"])
def test_every_way_of_not_being_ready_counts(lost: str) -> None:
    """At the limit no ready pod may go, whatever became of the other replica."""
    ways: dict[str, list[Pod]] = {
        "pending": [pod("web-9")],
        "terminating": [pod("web-9", node="n1", deletion_at=NOW)],
        "missing": [],
        "finished": [pod("web-9", node="n1", phase="Failed")],
        "unready": [pod("web-9", node="n1", is_ready=False)],
    }
    found = verdict(pod("web-0", node="n1"), pods=[*siblings(8), *ways[lost]])
    assert found is not None
    assert found.rule == "WorkloadBudget"
    assert "1 of 10 replicas may be unready at a time and 1 are already" in found.message


def test_a_pod_that_is_the_unready_one_may_go_at_the_limit_but_not_above() -> None:
    """Moving it takes nothing more away; with a second one unready nothing moves at all."""
    subject = pod("web-0", node="n1", is_ready=False)
    assert rule_against(subject, policy=UNREADY_TOO) is None
    two = [*siblings(8), pod("web-9", node="n1", is_ready=False)]
    assert rule_against(subject, pods=two, policy=UNREADY_TOO) == "WorkloadBudget"


def test_no_pod_moves_under_a_limit_of_nothing() -> None:
    """0 and 0% refuse every pod that has a workload, unready ones too."""
    for nothing in (0, "0%"):
        strict = policy(disruption={"workloads": {"maxUnavailable": nothing}, "notReady": "Allow"})
        assert rule_against(pod("web-0", node="n1"), policy=strict) == "WorkloadBudget"
        assert rule_against(pod("web-0", node="n1", is_ready=False), policy=strict) == "WorkloadBudget"
        surplus = pod("web-0", node="n1", is_ready=False)
        assert rule_against(surplus, pods=siblings(10), policy=strict) == "WorkloadBudget"


def test_single_replicas_stay_unless_the_policy_allows_them() -> None:
    """Denied by default; allowed, one may be gone for a while."""
    alone = pod("web-0", node="n1")
    found = verdict(alone, pods=[], replicas=1)
    assert found is not None
    assert found.rule == "SingleReplica"
    assert "ReplicaSet default/web" in found.message
    allow = policy(disruption={"singleReplicas": "Allow"})
    assert rule_against(alone, pods=[], replicas=1, policy=allow) is None
    assert groups_of(alone, replicas=1, policy=allow) == [("WorkloadBudget", "ReplicaSet default/web", 1, 1)]
    nothing = policy(disruption={"singleReplicas": "Allow", "workloads": {"maxUnavailable": 0}})
    assert rule_against(alone, pods=[], replicas=1, policy=nothing) == "WorkloadBudget"


def test_a_workload_of_two_with_one_pod_left_is_no_single_replica() -> None:
    """Desired replicas count, not pods: the last one of two is held by the budget."""
    assert rule_against(pod("web-0", node="n1"), pods=[], replicas=2) == "WorkloadBudget"


def test_a_workload_scaled_to_nothing_would_not_replace_its_pods() -> None:
    """Zero desired replicas refuse."""
    found = verdict(pod("web-0", node="n1"), pods=[], replicas=0)
    assert found is not None
    assert found.rule == "WorkloadBudget"
    assert "wants no replicas" in found.message


def test_the_deployment_counts_not_its_replica_sets() -> None:
    """Pods of two ReplicaSets of one Deployment share one budget, named after the Deployment."""
    owner = OwnerReference("Deployment", "shop", "uid-default-shop")
    sets = [workload(name, 10, owner=owner, selector=selector(app="shop", hash=name)) for name in ("old", "new")]
    labels = {name: {"app": "shop", "hash": name} for name in ("old", "new")}
    pods = [pod(f"{name}-{number}", node="n1", labels=labels[name]) for name in labels for number in range(10)]
    world = cluster(node("n1", cpu="64"), workload("shop", 20, kind="Deployment"), *sets, *pods)
    (group,) = decide_eligibility(world, Policy(), Selection()).groups
    assert group == DisruptionGroup("WorkloadBudget", "Deployment default/shop", 2, tuple(range(20)))


def test_an_owner_that_is_not_in_the_snapshot_wants_as_many_as_it_has_pods() -> None:
    """Without the ReplicaSet its pods are counted; one alone is a single replica."""
    pods = [pod(f"web-{number}", node="n1") for number in range(4)]
    (group,) = decide_eligibility(cluster(node("n1", cpu="64"), *pods), Policy(), Selection()).groups
    assert (group.allowed_per_wave, len(group.pods)) == (1, 4)
    alone = decide_eligibility(cluster(node("n1"), pods[0]), Policy(), Selection())
    assert alone.refusals[0].rule == "SingleReplica"


def test_remembered_replicas_stand_in_for_an_owner_known_by_its_pods_alone() -> None:
    """While one of four is being replaced, the other three stay."""
    pods = [pod(f"web-{number}", node="n1") for number in range(3)]
    world = cluster(node("n1", cpu="64"), *pods)
    remembered = {"uid-default-web": 4}
    eligibility = decide_eligibility(world, Policy(), Selection(), remembered_replicas=remembered)
    assert not eligibility.movable
    known = cluster(node("n1", cpu="64"), workload("web", 3), *pods)
    assert len(decide_eligibility(known, Policy(), Selection(), remembered_replicas=remembered).movable) == 3


def test_a_workload_that_does_not_say_how_many_it_wants_wants_its_pods() -> None:
    """Desired None is read as the number of pods."""
    world = cluster(
        node("n1", cpu="64"),
        workload("web", 0, desired_replicas=None),
        *(pod(f"web-{number}", node="n1") for number in range(20)),
    )
    (group,) = decide_eligibility(world, Policy(), Selection()).groups
    assert (group.allowed_per_wave, len(group.pods)) == (2, 20)


@pytest.mark.parametrize(("ready", "unready", "allowed"), [(20, 0, 2), (19, 1, 1), (18, 2, 0), (5, 15, 0), (23, 0, 2)])
def test_a_wave_may_take_what_the_unready_leave_of_the_limit(ready: int, unready: int, allowed: int) -> None:
    """Neither number is ever negative, whether pods are missing or in surplus."""
    status = WorkloadAvailability(workload("web", 20), desired=20, ready=ready, limit=2)
    assert (status.unready, status.allowed) == (unready, allowed)


@given(
    desired=st.integers(0, 40),
    states=st.lists(st.sampled_from(["ready", "unready", "pending", "terminating"]), max_size=40),
    share=st.one_of(st.integers(0, 5), st.integers(0, 99).map(lambda percent: f"{percent}%")),
)
def test_no_wave_takes_a_workload_below_its_floor(desired: int, states: list[str], share: int | str) -> None:
    """Whatever one wave may move, the pods still ready are at least desired minus the limit, or none is moved."""
    fields = {
        "ready": {"node": "n1"},
        "unready": {"node": "n1", "is_ready": False},
        "pending": {},
        "terminating": {"node": "n1", "deletion_at": NOW},
    }
    pods = [pod(f"web-{number}", **fields[state]) for number, state in enumerate(states)]  # type: ignore[arg-type]
    allowed = {"singleReplicas": "Allow", "notReady": "Allow"}
    rules = policy(disruption={"workloads": {"maxUnavailable": share}, **allowed})
    world = cluster(node("n1", cpu="64"), workload("web", desired), *pods)
    eligibility = decide_eligibility(world, rules, Selection())
    ready = {
        index for index, item in enumerate(world.pods) if item.node_name and item.is_ready and not item.deletion_at
    }
    if not eligibility.movable:
        return
    assert desired > 0
    taken = sum(min(group.allowed_per_wave, len(group.pods)) for group in eligibility.groups)
    limit = share if isinstance(share, int) else max(1, desired * int(share[:-1]) // 100)
    assert limit > 0
    assert max(0, desired - (len(ready) - taken)) <= limit or taken == 0
    assert desired - len(ready) <= limit
    grouped = {index for group in eligibility.groups for index in group.pods}
    assert grouped == set(eligibility.movable) & ready


def test_a_workload_is_bereft_when_it_wants_replicas_and_none_is_ready() -> None:
    """One that wants none misses none, and of one that is not known nothing is said."""
    pods = [pod("web-0", node="n1"), pod("web-1", node="n1", is_ready=False), pod("db-0", node="n1", is_ready=False)]
    owners = [workload("web", 2), workload("db", 1), workload("idle", 0)]
    bereft = BereftWorkloads(cluster(node("n1"), *owners, *pods))
    assert [name for name in ("web", "db", "idle", "unheard") if f"uid-default-{name}" in bereft] == ["db"]


@pytest.mark.parametrize("forged", [{"namespace": "evil"}, {"labels": {"app": "other"}}])
def test_pods_that_only_claim_to_belong_to_a_workload_hide_no_missing_replica(forged: dict[str, Any]) -> None:
    """Nine of ten replicas are ready. A pod of another namespace, or one that the selector does not match, is no tenth.

    Whoever may create pods may write the uid of any ReplicaSet into their references.
    """
    own = OwnerReference("ReplicaSet", "web", "uid-default-web")
    forgeries = [pod(f"fake-{number}", node="n1", owners=(own,), **forged) for number in range(5)]
    subject = pod("web-0", node="n1")
    assert rule_against(subject, pods=siblings(8)) == "WorkloadBudget"
    assert rule_against(subject, pods=[*siblings(8), *forgeries]) == "WorkloadBudget"
    assert rule_against(forgeries[0], pods=[subject, *siblings(9)]) == "OwnerUnknown"


def test_a_replica_set_that_only_claims_to_belong_to_a_deployment_hides_no_missing_replica() -> None:
    """Nor do pods of a ReplicaSet of another namespace, which names the Deployment as its owner, count for it."""
    top = OwnerReference("Deployment", "shop", "uid-default-shop")
    real = workload("web", 10, owner=top)
    fake = workload("fake", 3, owner=top, namespace="evil")
    lent = [pod(f"fake-{number}", node="n1", owner="fake", namespace="evil") for number in range(3)]
    deployment = workload("shop", 10, kind="Deployment", selector=selector(app="web"))
    nine = [pod(f"web-{number}", node="n1") for number in range(9)]
    found = decide_eligibility(cluster(node("n1", cpu="64"), deployment, real, fake, *nine, *lent), Policy())
    assert not found.movable
    assert {refusal.rule for refusal in found.refusals.values()} == {"WorkloadBudget", "OwnerUnknown"}


def test_an_owner_that_is_not_known_counts_pods_of_one_namespace_alone() -> None:
    """Where pods of two namespaces name it, nobody can say whose it is: all of them stay."""
    mine = [pod(f"web-{number}", node="n1") for number in range(10)]
    assert len(decide_eligibility(cluster(node("n1", cpu="64"), *mine), Policy()).movable) == 10
    fake = pod("fake-0", node="n1", namespace="evil", owners=mine[0].owners)
    found = decide_eligibility(cluster(node("n1", cpu="64"), *mine, fake), Policy())
    assert {refusal.rule for refusal in found.refusals.values()} == {"OwnerUnknown"}
    assert len(found.refusals) == 11
