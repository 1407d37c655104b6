"""Budgets of a policy: whom they cover, what they count, what they leave, and what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from rescheduler.disruption.budgets.budget_status import UNLIMITED, BudgetStatus
from rescheduler.disruption.budgets.coverage import Coverage, Population
from rescheduler.disruption.budgets.workload_budgets import WorkloadBudgets
from rescheduler.disruption.pod_kinds import PodKinds
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.plan.plan import PodReference
from rescheduler.policy.fields.budgets import Budget
from tests.builders import NOW, node, pod, workload
from tests.unit.disruption.budgets.cases import (
    debt,
    decided,
    entry,
    groups,
    ledger,
    movable,
    reason,
    unready,
    world,
)

RATE = {"maxEvictions": 3, "window": "1h"}
WEB = {"matchLabels": {"app": "web"}}


def test_without_budgets_nothing_more_binds() -> None:
    """No group, no refusal."""
    found = decided(world())
    assert groups(found) == {}
    assert len(found.movable) == 12


@pytest.mark.parametrize(
    ("per", "names"),
    [
        ("Cluster", {"budget x": 12}),
        ("Node", {f"budget x of node n{number}": 3 for number in range(4)}),
        ("Zone", {"budget x of zone a": 6, "budget x of zone b": 6}),
        ("Namespace", {"budget x of namespace default": 12}),
        ("Workload", {"budget x of ReplicaSet default/web": 12}),
    ],
)
@pytest.mark.parametrize(
    ("limit", "allowed"),
    [
        ({"maxUnavailable": 2}, (2, None)),
        ({"maxMoving": 1}, (1, None)),
        ({"rate": {**RATE, "maxEvictions": 2}}, (2, 2)),
    ],
)
def test_each_instance_has_the_whole_limit(
    per: str, names: dict[str, int], limit: dict[str, Any], allowed: tuple[int, int | None]
) -> None:
    """Of the cluster, of each node, zone, namespace and workload; a rate binds the whole plan."""
    found = groups(decided(world(), {"name": "x", "per": per, **limit}))
    assert found == {name: (*allowed, size) for name, size in names.items()}


def test_a_limit_that_cannot_bind_makes_no_group() -> None:
    """Twelve pods, twelve allowed."""
    assert groups(decided(world(), {"maxMoving": 12})) == {}


@pytest.mark.parametrize(("share", "allowed"), [("50%", 6), ("34%", 4), ("9%", 1)])
def test_a_share_is_rounded_down(share: str, allowed: int) -> None:
    """Towards fewer evictions: 34 % of 12 are 4."""
    assert groups(decided(world(), {"maxMoving": share})) == {"budget 1": (allowed, None, 12)}


def test_a_share_that_comes_to_nothing_allows_nothing_and_says_so() -> None:
    """8 % of twelve pods are less than one."""
    found = decided(world(), {"maxUnavailable": "8%"})
    assert found.movable == ()
    assert reason(found) == (
        "is covered by budget 1, of which 0 of 12 pods (8%) may be unready at a time (maxUnavailable) and 0 are already"
    )


def test_only_pods_that_are_selected_are_counted_and_bound() -> None:
    """By namespace and by labels, both."""
    other = [pod(f"api-{number}", node="n0", namespace="shop") for number in range(4)]
    cluster = world(*other, workload("api", 4, namespace="shop"))
    assert groups(decided(cluster, {"namespaces": ["shop"], "maxMoving": "50%"})) == {"budget 1": (2, None, 4)}
    assert groups(decided(cluster, {"labelSelector": WEB, "maxMoving": "50%"})) == {"budget 1": (6, None, 12)}
    assert groups(decided(cluster, {"labelSelector": WEB, "namespaces": ["shop"], "maxMoving": 0})) == {}


def test_finished_pods_and_our_own_placeholders_are_not_counted() -> None:
    """Neither can be missing."""
    done = pod("web-done", node="n0", owner="web", phase="Succeeded", is_ready=False)
    hold = pod("hold-1", node=None, owner=None, labels={MANAGED_BY: OURS}, namespace="rescheduler-holds")
    assert groups(decided(world(done, hold), {"maxUnavailable": "50%"})) == {"budget 1": (6, None, 12)}


def test_pods_that_are_not_ready_use_up_max_unavailable() -> None:
    """Whoever made them so; to move one of them takes nothing more away."""
    cluster = world(unready("web-x", "n0"), unready("web-y", "n1"))
    found = groups(decided(cluster, {"labelSelector": WEB, "maxUnavailable": 5}))
    assert found == {"budget 1 (maxUnavailable)": (3, None, 12)}


def test_pods_that_are_not_ready_do_not_use_up_max_moving() -> None:
    """They are not on the move, but would be."""
    cluster = world(unready("web-x", "n0"))
    assert groups(decided(cluster, {"maxMoving": 5})) == {"budget 1": (5, None, 13)}


def test_an_exhausted_max_unavailable_keeps_ready_pods_only() -> None:
    """A pod that counts as missing already may go to where it works."""
    cluster = world(unready("web-x", "n0"))
    found = decided(cluster, {"maxUnavailable": 1})
    assert movable(cluster, found) == ["web-x"]
    assert reason(found) == (
        "is covered by budget 1, of which 1 pod may be unready at a time (maxUnavailable) and 1 are already"
    )


def test_an_exceeded_max_unavailable_keeps_all() -> None:
    """More are missing than may be: hands off."""
    cluster = world(unready("web-x", "n0"), unready("web-y", "n1"))
    assert decided(cluster, {"maxUnavailable": 1}).movable == ()


def test_missing_replicas_of_a_workload_count() -> None:
    """The owner wants fourteen, and twelve are there."""
    cluster = world()
    fourteen = tuple(structs.replace(item, desired_replicas=14) for item in cluster.workloads)
    found = decided(replace(cluster, workloads=fourteen), {"per": "Workload", "maxUnavailable": 3})
    assert groups(found) == {"budget 1 of ReplicaSet default/web": (1, None, 12)}


@pytest.mark.parametrize(
    ("per", "expected"),
    [
        ("Cluster", {"budget 1": 1}),
        (
            "Node",
            {"budget 1 of node n0": 1, "budget 1 of node n1": 2, "budget 1 of node n2": 2, "budget 1 of node n3": 2},
        ),
        ("Zone", {"budget 1 of zone a": 1, "budget 1 of zone b": 2}),
        ("Namespace", {"budget 1 of namespace default": 1}),
        ("Workload", {"budget 1 of ReplicaSet default/web": 1}),
    ],
)
@pytest.mark.parametrize("field", ["maxMoving", "maxUnavailable"])
def test_a_debt_counts_where_its_pod_was(field: str, per: str, expected: dict[str, int]) -> None:
    """A pod that we took from n0 is gone, and nothing stands in its place yet."""
    found = groups(decided(world(), {"per": per, field: 2}, ledger=ledger(debt())))
    assert {name: allowed for name, (allowed, _, _) in found.items()} == expected


def test_a_pod_that_is_gone_counts_in_what_a_share_is_of() -> None:
    """Half of thirteen are six, of which one is missing."""
    found = decided(world(), {"maxUnavailable": "50%"}, ledger=ledger(debt()))
    assert groups(found) == {"budget 1": (5, None, 12)}


def test_a_debt_whose_replacement_is_seen_counts_once() -> None:
    """The unready pod that was made after the eviction is the one that is missing."""
    cluster = world(unready("web-new", "n1", created_at=NOW - 500))
    found = decided(cluster, {"labelSelector": WEB, "maxUnavailable": 3}, ledger=ledger(debt()))
    assert groups(found) == {"budget 1 (maxUnavailable)": (2, None, 12)}


def test_an_older_pod_that_does_not_work_is_no_replacement() -> None:
    """It was broken before: two are missing."""
    cluster = world(unready("web-bad", "n1", created_at=NOW - 86400))
    found = decided(cluster, {"labelSelector": WEB, "maxUnavailable": 3}, ledger=ledger(debt()))
    assert groups(found) == {"budget 1 (maxUnavailable)": (1, None, 12)}


def test_a_debt_whose_pod_still_stands_counts_once_and_stays() -> None:
    """It looks ready, but its eviction was sent."""
    cluster = world()
    sent = debt(7, pod=PodReference("default", "web-00", "uid-default-web-00"))
    found = decided(cluster, {"maxUnavailable": 3}, ledger=ledger(sent))
    assert groups(found) == {"budget 1": (2, None, 11)}
    assert reason(found, "OpenDebt") == (
        "was sent for eviction already by plan 1 (eviction 7 of the ledger is still open)"
    )


def test_open_debts_count_in_the_floor_of_their_workload() -> None:
    """Budgets or not: a pod that was sent away is missing."""
    sent = debt(pod=PodReference("default", "web-00", "uid-default-web-00"))
    (group,) = decided(world(), ledger=ledger(sent)).groups
    assert (group.rule, group.allowed_per_wave) == ("WorkloadBudget", 98)


def test_an_owner_known_by_its_pods_alone_is_missed_by_what_the_ledger_remembers() -> None:
    """Eleven pods are left, and twelve were wanted when the twelfth was taken away."""
    pods = [pod(f"lone-{number:02d}", node="n0", owner="lone") for number in range(11)]
    taken = debt(workload="uid-default-lone", desired=12, pod=PodReference("default", "lone-11", "gone"))
    found = decided(replace(world(*pods), absent_kinds=frozenset({"ReplicaSet"})), ledger=ledger(taken))
    assert {group.name: group.allowed_per_wave for group in found.groups}["ReplicaSet default/lone"] == 98


@pytest.mark.parametrize("limit", [{"maxMoving": 3}, {"maxUnavailable": 3}, {"rate": RATE}])
def test_what_left_another_namespace_counts_in_no_budget_of_this_one(limit: dict[str, Any]) -> None:
    """Neither as moving nor as missing, nor in a rate."""
    elsewhere = ledger(debt(pod=PodReference("shop", "web-old", "uid-old")))
    found = groups(decided(world(), {"namespaces": ["default"], **limit}, ledger=elsewhere))
    assert found["budget 1"][0] == 3


def test_a_node_is_a_place_of_its_own_in_the_words_against_a_move() -> None:
    """As a zone is."""
    seen = world(count=1)
    assert reason(decided(seen, {"per": "Node", "maxMoving": 0})).startswith("is covered by budget 1 of node n0, of")


def test_a_budget_binds_on_a_node_whose_place_is_the_number_of_pods() -> None:
    """Two pods on the third node: nothing is lost at the end."""
    pods = [pod(f"api-{number}", node="n2", owner="api") for number in range(2)]
    found = decided(world(*pods, workload("api", 2), count=0), {"per": "Node", "maxMoving": 1})
    assert groups(found) == {"budget 1 of node n2": (1, None, 2)}


def test_budgets_over_pods_that_are_no_neighbours_answer_each_for_itself() -> None:
    """Whichever of them keeps a pod, and on whichever node, is the one that is named."""
    other = [pod(f"api-{number}", node=f"n{number}", owner="api") for number in range(4)]
    api = {"matchLabels": {"app": "api"}}
    found = decided(
        world(*other, workload("api", 4), unready("web-x", "n3")),
        {"name": "a", "per": "Node", "labelSelector": WEB, "maxUnavailable": 0},
        {"name": "b", "per": "Node", "labelSelector": api, "maxMoving": 0},
        {"name": "c", "per": "Zone", "labelSelector": api, "maxMoving": 0},
    )
    told = {refusal.pod.name: refusal.message for refusal in found.refusals.values()}  # type: ignore[union-attr]
    assert len(told) == 17
    for item in world(*other).pods:
        name = "a" if item.labels["app"] == "web" else "b"
        assert f" is covered by budget {name} of node {item.node_name}, of" in told[item.name]


@pytest.mark.parametrize("size", [81, 100])
def test_what_a_budget_does_not_limit_binds_nobody(size: int) -> None:
    """However many pods there are."""
    assert groups(decided(world(count=size), {"rate": {**RATE, "maxEvictions": 1000}})) == {}


def test_what_moves_leaves_no_less_where_nothing_limits_it() -> None:
    """No limit less one is no limit."""
    seen = world()
    workloads = WorkloadBudgets(seen, 1, {})
    budget = Budget.model_validate({"rate": RATE})
    status = BudgetStatus("x", budget, Population(seen, PodKinds(seen.pods)), workloads, ledger(debt()))
    assert status.left_to_move.tolist() == [UNLIMITED]


def test_max_moving_says_how_many_move_already() -> None:
    """Debts of ours, by number."""
    found = decided(world(), {"name": "m", "maxMoving": 1}, ledger=ledger(debt()))
    assert reason(found) == (
        "is covered by budget m, of which 1 pod may be on the move at a time (maxMoving) and 1 are already"
    )


NIGHT = {"schedule": "0 22 * * *", "duration": "8h", "timeZone": "Europe/Berlin"}


def test_outside_of_its_windows_a_budget_allows_nothing() -> None:
    """NOW is 08:00 UTC: not "no limit", but nothing; the message says when it opens."""
    found = decided(world(), {"name": "nights", **NIGHT, "maxMoving": 5})
    assert found.movable == ()
    assert reason(found) == (
        "is covered by budget nights, which is outside of its windows; it opens at 2027-01-15 21:00 UTC (22:00 "
        "Europe/Berlin)"
    )


def test_inside_of_its_windows_a_budget_allows_what_it_says() -> None:
    """A window alone limits nothing else."""
    at_night = NOW + 14 * 3600
    assert groups(decided(world(taken_at=at_night), {**NIGHT, "maxMoving": 5})) == {"budget 1": (5, None, 12)}
    assert len(decided(world(taken_at=at_night), NIGHT).movable) == 12


def test_windows_bind_only_the_pods_of_their_budget() -> None:
    """Others may move by day."""
    other = [pod(f"api-{number}", node="n0") for number in range(4)]
    cluster = world(*other, workload("api", 4))
    assert movable(cluster, decided(cluster, {"labelSelector": WEB, **NIGHT})) == [
        f"api-{number}" for number in range(4)
    ]


def test_of_several_budgets_the_strictest_binds() -> None:
    """Each is a group of its own; a pod that one of them keeps is kept."""
    found = decided(
        world(),
        {"name": "a", "maxMoving": 5},
        {"name": "b", "maxMoving": 2},
        {"name": "c", "per": "Node", "maxMoving": 1},
    )
    assert {name: allowed for name, (allowed, _, _) in groups(found).items()} == {
        "budget a": 5, "budget b": 2, **{f"budget c of node n{number}": 1 for number in range(4)}
    }  # fmt: skip
    kept = decided(world(), {"name": "a", "maxMoving": 5}, {"name": "b", "maxMoving": 0})
    assert kept.movable == ()
    assert reason(kept).startswith("is covered by budget b,")


def test_limits_of_one_budget_over_different_pods_are_groups_of_different_names() -> None:
    """maxUnavailable is about ready pods, maxMoving about all; what is spent is kept apart by name."""
    cluster = world(unready("web-x", "n0"))
    found = decided(cluster, {"maxUnavailable": 3, "maxMoving": 4, "rate": {"maxEvictions": 6, "window": "1h"}})
    assert groups(found) == {"budget 1": (4, 6, 13), "budget 1 (maxUnavailable)": (2, None, 12)}


def test_nodes_without_a_zone_are_one_zone() -> None:
    """Nobody knows that they are apart."""
    cluster = world(node("bare", cpu="64"), pod("web-z", node="bare", owner="web"))
    found = decided(cluster, {"per": "Zone", "maxMoving": 0})
    assert found.movable == ()


def test_ownerless_pods_are_bound_by_budgets_of_workloads() -> None:
    """Those of one namespace as if they were one workload."""
    lone = [pod(f"lone{number}", node="n0", owner=None, labels={"app": "lone"}) for number in range(3)]
    found = groups(
        decided(world(*lone), {"per": "Workload", "labelSelector": {"matchLabels": {"app": "lone"}}, "maxMoving": 1})
    )
    assert found == {"budget 1 of the pods of default without an owner": (1, None, 3)}


def test_ownerless_pods_of_two_namespaces_are_two_instances() -> None:
    """Neither uses up what the other may."""
    lone = [pod(f"lone-{where}", node="n0", owner=None, namespace=where) for where in ("a", "b")]
    found = decided(world(*lone, count=0), {"per": "Workload", "maxMoving": 0})
    told = {refusal.message.partition(", of which")[0] for refusal in found.refusals.values()}
    assert told == {
        f"{where}/lone-{where} is covered by budget 1 of the pods of {where} without an owner" for where in ("a", "b")
    }


def test_the_cluster_as_a_whole_has_no_name_of_its_own() -> None:
    """A budget of it is called by its name alone."""
    seen = world()
    population = Population(seen, PodKinds(seen.pods))
    assert Coverage(population, Budget.model_validate({"maxMoving": 1})).instances == [""]


def test_an_unknown_time_closes_budgets_with_windows() -> None:
    """And counts every eviction of the ledger in rates."""
    found = decided(world(taken_at=0.0), NIGHT)
    assert found.movable == ()
    assert "when the cluster was recorded is not known" in reason(found)
    left = groups(decided(world(taken_at=0.0), {"rate": RATE}, ledger=ledger(entry(at=NOW - 10 * 86400))))
    assert [in_plan for _, in_plan, _ in left.values()] == [2]
