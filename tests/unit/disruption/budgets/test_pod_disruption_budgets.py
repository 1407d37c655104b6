"""Tests of PodDisruptionBudgets as they stand."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.disruption.budgets.pod_disruption_budgets import PodBudgetStatus, PodDisruptionBudgets
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.workload import DisruptionBudget
from tests.builders import NOW, budget, cluster, node, pod
from tests.unit.disruption.cases import UNREADY_TOO, decided, policy, rule_against, siblings, verdict


def guard(allowed: int, healthy: int = 10, desired: int = 1, **fields: Any) -> DisruptionBudget:
    """A budget over the workload ``web``."""
    return budget("guard", allowed, app="web", current_healthy=healthy, desired_healthy=desired, **fields)


def test_a_budget_with_allowance_makes_a_group() -> None:
    """The allowance of the status binds each wave."""
    eligibility = decided(pod("web-0", node="n1"), guard(3, desired=7))
    found = {group.rule: group for group in eligibility.groups}
    assert found["PodDisruptionBudget"].name == "default/guard"
    assert found["PodDisruptionBudget"].allowed_per_wave == 3
    assert len(found["PodDisruptionBudget"].pods) == 10


def test_a_budget_without_allowance_refuses_with_its_name_and_numbers() -> None:
    """People must see which budget, and why."""
    found = verdict(pod("web-0", node="n1"), guard(0, healthy=10, desired=10))
    assert found is not None
    assert found.rule == "PodDisruptionBudget"
    for part in ("default/guard", "disruptionsAllowed 0", "currentHealthy 10", "desiredHealthy 10"):
        assert part in found.message


@pytest.mark.parametrize(
    "fields",
    [
        {"problem": "it has no status yet"},
        {"generation": 3, "observed_generation": 2},
        {"disruptions_allowed": -1},
    ],
)
def test_a_status_that_cannot_be_trusted_refuses(fields: dict[str, Any]) -> None:
    """No status, an old one, or nonsense: nothing is allowed, not even for unready pods."""
    guarded = guard(5, unhealthy_pod_eviction_policy="IfHealthyBudget", **fields)
    assert rule_against(pod("web-0", node="n1"), guarded) == "PodDisruptionBudget"


def test_an_old_status_refuses_unready_pods_too_and_says_which_generation() -> None:
    """The server would answer that the budget is still being processed."""
    old = guard(5, generation=3, observed_generation=2, unhealthy_pod_eviction_policy="AlwaysAllow")
    found = verdict(pod("web-0", node="n1", is_ready=False), old, policy=UNREADY_TOO)
    assert found is not None
    assert found.rule == "PodDisruptionBudget"
    assert "generation 2" in found.message


def test_our_own_count_never_allows_more_than_it_finds_ready() -> None:
    """The status says 5, but only 3 more than desired are ready: 3 it is."""
    eligibility = decided(pod("web-0", node="n1"), guard(5, desired=7))
    assert [group.allowed_per_wave for group in eligibility.groups if group.rule == "PodDisruptionBudget"] == [3]


def test_pods_whose_eviction_was_granted_do_not_count_as_ready() -> None:
    """A granted eviction that cannot be seen yet has spent its share."""
    eligibility = decided(pod("web-0", node="n1"), guard(5, desired=7, disrupted_pods=("web-3", "gone-1")))
    assert [group.allowed_per_wave for group in eligibility.groups if group.rule == "PodDisruptionBudget"] == [2]
    two = decided(pod("web-0", node="n1"), guard(5, desired=7, disrupted_pods=("web-3", "web-4", "gone-1")))
    assert [group.allowed_per_wave for group in two.groups if group.rule == "PodDisruptionBudget"] == [1]


def test_pods_of_two_budgets_are_refused_with_both_names() -> None:
    """The Eviction API fails for them."""
    second = DisruptionBudget("default", "second", selector=LabelSelector(), disruptions_allowed=5)
    found = verdict(pod("web-0", node="n1"), guard(3), second)
    assert found is not None
    assert found.rule == "SeveralPodDisruptionBudgets"
    assert "default/guard, default/second" in found.message


@pytest.mark.parametrize(
    ("selector", "covers"),
    [
        (LabelSelector(), True),
        (None, False),
        (LabelSelector((Requirement("app", "Exists"),)), True),
        (LabelSelector((Requirement("app", "In", ("api", "web")), Requirement("tier", "DoesNotExist"))), True),
        (LabelSelector((Requirement("app", "In", ("web",)), Requirement("tier", "Exists"))), False),
        (LabelSelector((Requirement("app", "NotIn", ("web",)),)), False),
        (LabelSelector((Requirement("tier", "NotIn", ("x",)),)), True),
    ],
)
def test_a_budget_covers_the_pods_that_its_selector_picks(selector: LabelSelector | None, *, covers: bool) -> None:
    """All forms of selectors; an empty one covers the namespace, an absent one nobody."""
    full = DisruptionBudget("default", "guard", selector=selector, disruptions_allowed=0)
    assert rule_against(pod("web-0", node="n1"), full) == ("PodDisruptionBudget" if covers else None)


@pytest.mark.parametrize("labels", [0, 1, 300])
@pytest.mark.parametrize("budgets", [0, 3])
def test_the_budgets_of_a_pod_are_found_however_many_labels_and_budgets_there_are(labels: int, budgets: int) -> None:
    """With more labels than selectors ask for, and with fewer."""
    more = {f"key-{number}": "x" for number in range(labels)}
    others = [budget(f"other-{number}", 1, app=f"a{number}") for number in range(budgets)]
    one = pod("web-0", node="n1", labels={"app": "web", **more})
    assert rule_against(one, guard(0, healthy=10, desired=10), *others) == "PodDisruptionBudget"
    stranger = pod("web-0", node="n1", labels={"app": "app", **more, "web": "web"})
    assert rule_against(stranger, guard(0, healthy=10, desired=10), *others) != "PodDisruptionBudget"


def test_a_budget_covers_its_own_namespace_only() -> None:
    """The same labels elsewhere are free."""
    assert rule_against(pod("web-0", node="n1"), budget("web", 0, namespace="other")) is None


def test_a_selector_that_cannot_be_read_may_cover_anybody() -> None:
    """Then every pod of the namespace stays."""
    absent = DisruptionBudget("default", "odd", selector=None, problem="its selector cannot be read")
    strange = LabelSelector((Requirement("app", "In", ("api",)), Requirement("app", "Near", ("web",))))
    unknown = DisruptionBudget("default", "odd", selector=strange, problem="its selector has an unknown operator")
    for unreadable in (absent, unknown):
        assert rule_against(pod("web-0", node="n1"), unreadable) == "PodDisruptionBudget"


@pytest.mark.parametrize(
    "rule",
    [
        Requirement("app", "In"),
        Requirement("app", "NotIn"),
        Requirement("tier", "Exists", ("x",)),
        Requirement("app", "DoesNotExist", ("x",)),
    ],
)
def test_a_selector_that_cannot_be_valid_may_cover_anybody(rule: Requirement) -> None:
    """In and NotIn need values, Exists and DoesNotExist take none: what was meant nobody can say, so all stay."""
    generous = guard(5, selector=LabelSelector((rule,)), problem="its selector is not valid")
    assert rule_against(pod("web-0", node="n1"), generous) == "PodDisruptionBudget"
    beside = guard(5, selector=LabelSelector((Requirement("app", "In", ("api",)), rule)), problem="not valid")
    assert rule_against(pod("web-0", node="n1"), beside) == "PodDisruptionBudget"
    elsewhere = guard(5, selector=LabelSelector((rule,)), problem="not valid", namespace="other")
    assert rule_against(pod("web-0", node="n1"), elsewhere) is None


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"unhealthy_pod_eviction_policy": "AlwaysAllow", "current_healthy": 0}, None),
        ({"current_healthy": 9, "desired_healthy": 9}, None),
        ({"current_healthy": 8, "desired_healthy": 9}, "PodDisruptionBudget"),
        ({"current_healthy": 1, "desired_healthy": 1}, None),
        ({"current_healthy": 8, "desired_healthy": 0}, "PodDisruptionBudget"),
    ],
)
def test_unready_pods_go_without_spending_where_the_budget_lets_them(fields: dict[str, Any], rule: str | None) -> None:
    """AlwaysAllow lets them go; IfHealthyBudget only while currentHealthy >= desiredHealthy > 0."""
    full = DisruptionBudget(
        "default", "guard", selector=LabelSelector(), **{"disruptions_allowed": 0, "desired_healthy": 9, **fields}
    )
    assert rule_against(pod("web-0", node="n1", is_ready=False), full, policy=UNREADY_TOO) == rule


def test_an_unready_pod_that_spends_is_in_the_group() -> None:
    """With allowance but no healthy budget it takes a share like a ready one; its siblings stay for the workload."""
    spending = guard(2, healthy=1, desired=0)
    eligibility = decided(pod("web-0", node="n1", is_ready=False), spending, policy=UNREADY_TOO)
    (group,) = [group for group in eligibility.groups if group.rule == "PodDisruptionBudget"]
    assert group.pods == (0,)


def test_the_policy_can_ask_for_a_budget_over_every_pod_that_moves() -> None:
    """disruption.withoutBudget: Deny leaves alone what no PodDisruptionBudget covers; by default that may move."""
    deny = policy(disruption={"withoutBudget": "Deny"})
    assert rule_against(pod("web-0", node="n1"), policy=deny) == "WithoutBudget"
    assert rule_against(pod("web-0", node="n1"), guard(3, desired=7), policy=deny) is None
    assert rule_against(pod("web-0", node="n1"), budget("api", 3), policy=deny) == "WithoutBudget"


def test_terminating_pods_are_not_counted_as_ready() -> None:
    """Nine ready and one going: two above the seven desired, less than the status still says."""
    going = [*siblings(8), pod("web-9", node="n1", deletion_at=NOW)]
    full = guard(3, desired=7)
    eligibility = decided(pod("web-0", node="n1"), full, pods=going, replicas=9)
    assert [group.allowed_per_wave for group in eligibility.groups if group.rule == "PodDisruptionBudget"] == [2]


def test_a_problem_leaves_nothing_to_go() -> None:
    """Whatever the numbers of an untrusted status say."""
    status = PodBudgetStatus(guard(5, unhealthy_pod_eviction_policy="AlwaysAllow"), ready=10, problem="no status")
    assert status.allowed == 0
    assert not status.lets_unready_go


def test_a_recount_counts_those_alone_that_a_budget_covers() -> None:
    """Others of the namespace are no replacement for them; whose selector cannot be read may cover any of them."""
    world = cluster(
        node("n1"),
        *(pod(f"web-{number}", node="n1", owner="web") for number in range(2)),
        *(pod(f"db-{number}", node="n1", owner="db") for number in range(3)),
        guard(9),
        budget("odd", 9, current_healthy=9, selector=LabelSelector((Requirement("app", "Like", ("web",)),))),
    )
    found = PodDisruptionBudgets(world).of(world.pod_by_key["default/web-0"])
    assert {status.budget.name: status.ready for status in found} == {"guard": 2, "odd": 5}
