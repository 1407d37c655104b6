"""Which pods can be moved by surge, and what speaks against the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.methods.surges import surge_allowance
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.constraints import (
    LabelSelector,
    PodAffinityTerm,
    Requirement,
    TopologySpreadConstraint,
    Volume,
)
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.storage import PersistentVolumeClaim
from rescheduler.model.objects.workload import NetworkPolicy, ResourceQuota, Service
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.policy import Policy
from tests.builders import budget, cluster, node, pod, selector, workload
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import entry, ledger
from tests.unit.disruption.surge_cases import HASH, changed, deployment, surging, taken_out, tight_budget

HASHED = LabelSelector((Requirement(HASH, "In", ("h1",)),))
NAMES_IT = PodAffinityTerm("kubernetes.io/hostname", HASHED)


def decided(*objects: Any, by: Policy | None = None, **fields: Any) -> Eligibility:
    """Eligibility on one large node."""
    return decide_eligibility(cluster(node("n1", cpu="64"), node("n2"), *objects, **fields), by or surging())


def against(objects: list[Any], by: Policy | None = None, **fields: Any) -> tuple[str, str] | None:
    """Rule and message against the first pod of the Deployment ``web``; None: it may be moved."""
    found = decided(*objects, by=by, **fields)
    told = [refusal for refusal in found.refusals.values() if refusal.pod.name == "web-h1-0"]  # type: ignore[union-attr]
    return (told[0].rule, told[0].message) if told else None


def test_a_single_replica_under_a_budget_that_allows_nothing_moves_by_surge() -> None:
    """Nobody becomes unavailable, so neither rule binds, nor does the floor under the workload."""
    objects = [*deployment("web", ["n1"]), tight_budget("web", 1)]
    found = decided(*objects, by=surging(workloads={"maxUnavailable": 0}))
    assert [found.method_of(index) for index in found.movable] == [MoveMethod.SURGE]
    assert [(group.rule, group.allowed_per_wave) for group in found.groups] == [("Surge", 1)]


def test_without_a_rule_the_same_pod_stays() -> None:
    """As ever."""
    objects = [*deployment("web", ["n1"]), tight_budget("web", 1)]
    assert against(objects, by=policy())[0] == "PodDisruptionBudget"  # type: ignore[index]
    assert decided(*objects, by=policy()).methods == {}


def test_budgets_that_count_the_unavailable_do_not_bind_and_others_do() -> None:
    """A freeze, a rate, and pods on the move count surges as they count evictions."""
    objects = deployment("web", ["n1", "n1"])
    assert against(objects, surging(budgets=[{"maxUnavailable": 0}])) is None
    assert against(objects, surging(budgets=[{"maxMoving": 0}]))[0] == "Budget"  # type: ignore[index]
    none = {"maxEvictions": 0, "window": "1h"}
    assert against(objects, surging(budgets=[{"rate": none}]))[0] == "Budget"  # type: ignore[index]
    two = surging(budgets=[{"maxUnavailable": 1}, {"maxMoving": 1}])
    assert {group.name for group in decided(*objects, by=two).groups if group.rule == "Budget"} == {"budget 2"}


def test_a_budget_that_lets_none_move_says_nothing_of_pods_of_another() -> None:
    """Whichever stands first."""
    objects = [*deployment("web", ["n1", "n1"]), *deployment("api", ["n1", "n1"])]
    budgets = [
        {"labelSelector": {"matchLabels": {"app": name}}, "maxMoving": most} for name, most in (("web", 5), ("api", 0))
    ]
    for by in (surging(budgets=budgets), surging(budgets=budgets[::-1])):
        found = decided(*objects, by=by)
        assert [cluster(*objects).pods[index].labels["app"] for index in found.movable] == ["web", "web"]


def test_a_budget_that_one_node_has_used_up_keeps_no_pod_of_another() -> None:
    """Neither by its verdict nor by its words, whether pods move by surge or are evicted."""
    objects = deployment("web", ["n1", "n2"])
    seen = cluster(node("n1", cpu="64"), node("n2"), *objects)
    by = surging(budgets=[{"per": "Node", "maxMoving": 1}])
    found = decide_eligibility(seen, by, ledger=ledger(entry(9, ago=60, state=EntryState.OPEN, from_node="n2")))
    assert [seen.pods[index].node_name for index in found.movable] == ["n1"]
    rules = [{"method": "Surge", "labelSelector": {"matchLabels": {"app": "web"}}}]
    budgets = [{"per": "Node", "maxMoving": 0}]
    none = {"moveBy": rules, "budgets": budgets, "notReady": "Allow", "workloads": {"maxUnavailable": 5}}
    sick = [pod(f"api-{number}", node="n2", is_ready=number > 0) for number in range(10)]
    told = decided(*deployment("web", ["n1"]), workload("api", 10), *sick, by=policy(disruption=none)).refusals
    assert len(told) == 11
    for item in told.values():
        on = "n1" if "/web-" in item.message else "n2"
        assert f" is covered by budget 1 of node {on}, of which" in item.message


def test_the_first_rule_that_names_a_pod_holds() -> None:
    """By namespace, and by labels; what none names is evicted."""
    rules = [
        {"namespaces": ["other"], "method": "Surge"},
        {"labelSelector": {"matchLabels": {"app": "web"}}, "method": "Evict"},
        {"method": "Surge"},
    ]
    objects = [*deployment("web", ["n1"] * 10), *deployment("api", ["n1"])]
    found = decided(*objects, by=policy(disruption={"moveBy": rules}))
    pods = cluster(*objects).pods
    assert {pods[index].name for index in found.methods} == {"api-h1-0"}
    assert len(found.movable) == 11


OBSTACLES: dict[str, Callable[[], tuple[list[Any], dict[str, Any]]]] = {
    "a StatefulSet does not make a second pod beside it": lambda: (
        [workload("web-h1", 1, kind="StatefulSet"), pod("web-h1-0", node="n1", kind="StatefulSet")], {}
    ),
    "Recreate": lambda: (changed(deployment("web", ["n1"]), "Deployment", strategy="Recreate"), {}),
    "maxSurge": lambda: (deployment("web", ["n1"], max_surge=0), {}),
    "maxSurge of Deployment default/web is 0": lambda: (deployment("web", ["n1"], max_surge="0%"), {}),
    "maxSurge of Deployment default/web is 0: it": lambda: (deployment("web", ["n1"], max_surge="many"), {}),
    "it must never have more": lambda: (changed(deployment("web", ["n1"]), "Deployment", desired_replicas=None), {}),
    "claim data is of no access mode": lambda: (
        deployment("web", ["n1"], volumes=(Volume("PersistentVolumeClaim", claim="data"),)),
        {"claims": (PersistentVolumeClaim("default", "data", access_modes=()),)},
    ),
    "no label pod-template-hash": lambda: (
        changed(deployment("web", ["n1"]), "ReplicaSet", selector=selector(app="web")), {}
    ),
    "Service default/canary goes by the label": lambda: (
        deployment("web", ["n1"]), {"services": (Service("default", "canary", {HASH: "h1"}),)}
    ),
    "PodDisruptionBudget default/one goes by the label": lambda: (
        [*deployment("web", ["n1"]), budget("one", 1, selector=HASHED)], {}
    ),
    "NetworkPolicy default/deny goes by the label": lambda: (
        deployment("web", ["n1"]), {"network_policies": (NetworkPolicy("default", "deny", (selector(), HASHED)),)}
    ),
    "pod default/far-h1-0 goes by the label": lambda: (
        [*deployment("web", ["n1"]), *deployment("far", ["n2"], anti_affinity=(NAMES_IT,))], {}
    ),
    "pod default/even-h1-0 goes by the label": lambda: (
        [
            *deployment("web", ["n1"]),
            *deployment("even", ["n2"], topology_spread=(TopologySpreadConstraint("zone", 1, selector=HASHED),)),
        ],
        {},
    ),
    "claim data is ReadWriteOnce": lambda: (
        deployment("web", ["n1"], volumes=(Volume("PersistentVolumeClaim", claim="data"),)),
        {"claims": (PersistentVolumeClaim("default", "data", access_modes=("ReadWriteOnce",)),)},
    ),
    "claim data is not in the snapshot": lambda: (
        deployment("web", ["n1"], volumes=(Volume("PersistentVolumeClaim", claim="data"),)), {}
    ),
    "disk d1": lambda: (deployment("web", ["n1"], volumes=(Volume("GCEPersistentDisk", identity="d1"),)), {}),
    "not Ready": lambda: (changed(deployment("web", ["n1"]), "Pod", is_ready=False), {}),
    "rolling out: 0 of 1": lambda: (changed(deployment("web", ["n1"]), "Deployment", updated_replicas=0), {}),
    "may be rolling out": lambda: (changed(deployment("web", ["n1"]), "Deployment", generation=2), {}),
    "is being deleted": lambda: (changed(deployment("web", ["n1"]), "Deployment", is_terminating=True), {}),
    "has 2 replicas and wants 1": lambda: (changed(deployment("web", ["n1"]), "ReplicaSet", current_replicas=2), {}),
    "quota has no room": lambda: (
        deployment("web", ["n1"]),
        {"quotas": (ResourceQuota("default", "few", hard=(("pods", 1),), used=(("pods", 1),)),)},
    ),
    "it would never let the old one go": lambda: (
        [*deployment("web", ["n1"]), budget("web", 0, current_healthy=1, desired_healthy=2)], {}
    ),
    "2 PodDisruptionBudgets": lambda: ([*deployment("web", ["n1"]), budget("web", 1), budget("b", 1, app="web")], {}),
    "ReplicaSet default/web-h1 is not in the snapshot": lambda: (
        [item for item in deployment("web", ["n1"]) if isinstance(item, Pod)], {}
    ),
    "belongs to Rollout web (argoproj.io)": lambda: (
        changed(
            [item for item in deployment("web", ["n1"]) if getattr(item, "kind", "") != "Deployment"],
            "ReplicaSet",
            owner=OwnerReference("Rollout", "web", "u9", group="argoproj.io"),
        ),
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", OBSTACLES)
def test_what_speaks_against_a_surge_is_named(words: str) -> None:
    """By rule Surge, and never by falling back to an eviction."""
    objects, fields = OBSTACLES[words]()
    allowing = {"persistentVolumes": "Allow", "notReady": "Allow", "singleReplicas": "Allow"}
    rule, message = against(objects, surging(**allowing), **fields) or ("", "")
    assert rule == "Surge", message
    assert words in message


@pytest.mark.parametrize("mode", ["ReadWriteMany", "ReadOnlyMany"])
def test_a_claim_that_many_may_use_is_no_obstacle(mode: str) -> None:
    """Where the policy lets pods with claims move at all."""
    objects = deployment("web", ["n1"], volumes=(Volume("PersistentVolumeClaim", claim="data"),))
    claims = (PersistentVolumeClaim("default", "data", access_modes=(mode,)),)
    assert against(objects, surging(persistentVolumes="Allow"), claims=claims) is None
    assert against(objects, surging(), claims=claims)[0] == "PersistentVolume"  # type: ignore[index]


@pytest.mark.parametrize(
    "volume",
    [Volume("GCEPersistentDisk", identity="d1", is_read_only=True), Volume("NFS"), Volume("NFS", is_read_only=True)],
)
def test_a_disk_that_is_only_read_and_a_share_are_no_obstacle(volume: Volume) -> None:
    """Two pods may use either at once."""
    assert against(deployment("web", ["n1"], volumes=(volume,))) is None


def test_pods_that_have_finished_and_those_that_name_other_labels_lose_sight_of_nobody() -> None:
    """Whoever owns them."""
    done = deployment("far", ["n2"], anti_affinity=(NAMES_IT,), phase="Succeeded")
    spread = TopologySpreadConstraint("zone", 1, selector=selector(app="even"))
    even = deployment("even", ["n2"], topology_spread=(spread,))
    assert against([*deployment("web", ["n1"]), *done, *even]) is None


def test_a_pod_without_a_controller_has_nobody_who_would_make_a_second_one() -> None:
    """Also where the policy lets such pods go."""
    rule, message = against([pod("web-h1-0", node="n1", owner=None)], surging(ownerless="Allow")) or ("", "")
    assert rule == "Surge"
    assert "it has no controller that would make a second pod" in message


def test_a_share_of_many_is_exact() -> None:
    """Half of a thousand are five hundred."""
    assert surge_allowance(workload("web", 1000, kind="Deployment", max_surge="50%")) == 500


def test_two_revisions_that_are_alive_are_a_rollout() -> None:
    """Whatever the counts of the Deployment say."""
    objects = deployment("web", ["n1"])
    other = workload(
        "web-h2", 1, owner=OwnerReference("Deployment", "web", objects[0].uid), selector=selector(app="web")
    )
    new = pod("web-h2-0", node="n2", owner="web-h2", labels={"app": "web"})
    rule, message = against([*objects, other, new]) or ("", "")
    assert rule == "Surge"
    assert "two revisions are alive" in message


def test_spread_by_label_keys_of_its_own_is_no_obstacle() -> None:
    """``matchLabelKeys: [pod-template-hash]`` is what Deployments are told to write."""
    even = TopologySpreadConstraint("zone", 1, selector=selector(app="web"), match_label_keys=(HASH,))
    assert against(deployment("web", ["n1"], topology_spread=(even,))) is None
    assert against(deployment("web", ["n1"], anti_affinity=(NAMES_IT,))) is None


def test_otherwise_evict_means_all_rules_of_evictions() -> None:
    """The single replica of a StatefulSet stays, one of ten goes."""
    rules = [{"method": "Surge", "otherwise": "Evict"}]
    by = policy(disruption={"moveBy": rules})
    single = [workload("web-h1", 1, kind="StatefulSet"), pod("web-h1-0", node="n1", kind="StatefulSet")]
    assert against(single, by)[0] == "SingleReplica"  # type: ignore[index]
    many = [workload("web-h1", 10, kind="StatefulSet")]
    many += [pod(f"web-h1-{number}", node="n1", kind="StatefulSet") for number in range(10)]
    assert against(many, by) is None
    assert decided(*many, by=by).methods == {}


@pytest.mark.parametrize(
    ("max_surge", "replicas", "allowed"), [(None, 1, 1), (None, 10, 3), (2, 10, 2), ("30%", 10, 3), ("1%", 10, 1)]
)
def test_as_many_at_once_as_a_rollout_may_add(max_surge: int | str | None, replicas: int, allowed: int) -> None:
    """A share is rounded up, as Kubernetes does; nobody says: a quarter."""
    found = decided(*deployment("web", ["n1"] * replicas, max_surge=max_surge))
    assert [group.allowed_per_wave for group in found.groups] == [allowed]


def test_a_pod_that_is_on_its_way_is_left_alone_and_counts_for_its_workload() -> None:
    """It is nobody's orphan, no second revision, and takes a place among those that may be on their way."""
    objects = deployment("web", ["n1"] * 10, max_surge=2)
    first = objects[2]
    objects[2] = taken_out(first)
    replacement = pod("web-h1-x", node="n2", owner="web-h1", labels=first.labels, is_ready=False)
    seen = cluster(node("n1", cpu="64"), node("n2"), *objects, replacement)
    found = decide_eligibility(seen, surging())
    assert {refusal.rule for refusal in found.refusals.values()} == {"OnItsWay", "Surge"}
    assert against([*objects, replacement])[1].endswith("is on its way by a surge of plan p1 already")  # type: ignore[index]
    assert len(found.movable) == 9
    assert [group.allowed_per_wave for group in found.groups] == [1]
    assert seen.workload_of(objects[2]).name == "web"  # type: ignore[union-attr]
    assert seen.owner_problem(objects[2]) is None


def test_while_one_is_on_its_way_nobody_is_missing() -> None:
    """An eviction beside it is judged as if all were there."""
    objects = deployment("web", ["n1"] * 10)
    objects[2] = taken_out(objects[2])
    found = decided(*objects, by=policy())
    assert len(found.movable) == 9
    assert [(group.rule, group.allowed_per_wave) for group in found.groups] == [("WorkloadBudget", 1)]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"label": 1, "value": "x"}', "no JSON"])
def test_a_mark_that_cannot_be_read_keeps_the_pod_where_it_is(text: str) -> None:
    """Whoever wrote it meant something."""
    objects = deployment("web", ["n1"] * 10)
    objects[2] = structs.replace(objects[2], annotations={"rescheduler.dev/surge": text})
    assert against(objects)[0] == "OnItsWay"  # type: ignore[index]
