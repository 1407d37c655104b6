"""The eviction handler: each rule of the API server's, as a table and one by one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW, budget, cluster, node, pod, workload

WEB = PodReference("default", "web-0", "uid-default-web-0")


def world_of(
    web: Pod, *budgets: DisruptionBudget, replicas: int = 3, settings: SimulationSettings | None = None
) -> SimulatedCluster:
    """``web`` beside further replicas on two nodes."""
    others = [pod(f"web-{number}", node="n2", owner="web") for number in range(1, replicas)]
    objects = (node("n1"), node("n2"), web, *others, *budgets, workload("web", replicas))
    return SimulatedCluster(cluster(*objects), settings=settings)


def running(**fields: Any) -> Pod:
    """The pod that is evicted, running on n1."""
    return pod("web-0", node="n1", owner="web", **fields)


def standing_budget(world: SimulatedCluster) -> DisruptionBudget:
    """The first budget as it stands now."""
    return world.read().budgets[0]


NOTHING_ALLOWED = budget("web", 0)
ONE_ALLOWED = budget("web", 1)
NOT_OBSERVED = budget("web", 1, generation=2, observed_generation=1)
UNREADABLE = budget("web", 0, selector=LabelSelector((Requirement("app", "Near", ("web",)),)), problem="selector")
NO_STATUS = budget("web", 0, generation=1, observed_generation=0, problem="it has no status yet")
FEW_HEALTHY = budget("web", 0, current_healthy=0)
CROWDED = budget("web", 1, disrupted_pods=tuple(f"gone-{number}" for number in range(2001)))


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    ("web", "budgets", "kind", "retry_after"),
    [
        pytest.param(running(), (), "Accepted", None, id="no budget"),
        pytest.param(running(), (ONE_ALLOWED,), "Accepted", None, id="allowed"),
        pytest.param(running(), (NOTHING_ALLOWED,), "BudgetExhausted", None, id="exhausted"),
        pytest.param(running(), (NOT_OBSERVED,), "BudgetNotObserved", 10.0, id="status behind its spec"),
        pytest.param(running(), (NO_STATUS,), "BudgetNotObserved", 10.0, id="no status"),
        pytest.param(running(), (budget("web", -1),), "Forbidden", None, id="negative count"),
        pytest.param(running(), (CROWDED,), "Forbidden", None, id="too many unconfirmed"),
        pytest.param(running(), (UNREADABLE,), "Accepted", None, id="unreadable selector matches nothing"),
        pytest.param(running(), (budget("web", 0, selector=None),), "Accepted", None, id="no selector"),
        pytest.param(
            running(), (budget("web", 0, selector=LabelSelector()),), "BudgetExhausted", None, id="empty selector"
        ),
        pytest.param(running(), (budget("web", 0, namespace="other"),), "Accepted", None, id="other namespace"),
        pytest.param(running(), (ONE_ALLOWED, budget("too", 1, app="web")), "TwoBudgets", None, id="two budgets"),
        pytest.param(running(phase="Succeeded"), (NOTHING_ALLOWED,), "Accepted", None, id="succeeded"),
        pytest.param(running(phase="Failed"), (NOTHING_ALLOWED,), "Accepted", None, id="failed"),
        pytest.param(running(phase="Pending", is_ready=False), (FEW_HEALTHY,), "Accepted", None, id="starting"),
        pytest.param(pod("web-0", "99", owner="web"), (NOTHING_ALLOWED,), "Accepted", None, id="unbound"),
        pytest.param(running(deletion_at=NOW + 30), (NOTHING_ALLOWED,), "Accepted", None, id="terminating"),
        pytest.param(running(deletion_at=NOW + 30), (ONE_ALLOWED, budget("b", 1, app="web")), "Accepted", None, id="2"),
        pytest.param(running(is_ready=False), (NOTHING_ALLOWED,), "Accepted", None, id="unready, enough healthy"),
        pytest.param(running(is_ready=False), (FEW_HEALTHY,), "BudgetExhausted", None, id="unready, few healthy"),
        pytest.param(
            running(is_ready=False),
            (budget("web", 0, current_healthy=0, desired_healthy=0),),
            "BudgetExhausted",
            None,
            id="unready, none desired",
        ),
        pytest.param(
            running(is_ready=False),
            (budget("web", 0, current_healthy=0, unhealthy_pod_eviction_policy="AlwaysAllow"),),
            "Accepted",
            None,
            id="unready, always allowed",
        ),
    ],
)
def test_what_the_handler_answers(
    web: Pod, budgets: tuple[DisruptionBudget, ...], kind: str, retry_after: float | None, dry_run: bool
) -> None:
    """A dry run gives the same verdict as the act."""
    answer = world_of(web, *budgets).evict(WEB, "", dry_run=dry_run)
    assert (answer.kind, answer.retry_after_seconds) == (kind, retry_after)


def test_a_pod_that_is_not_there_is_gone() -> None:
    """404 for an unknown name, and nothing written."""
    world = world_of(running())
    assert world.evict(PodReference("default", "nobody", "x"), "", dry_run=False).kind == "Gone"
    assert not world.writes


def test_an_accepted_eviction_only_begins_the_deletion() -> None:
    """The pod is terminating with its whole grace ahead, and goes when it has ended."""
    world = world_of(running(termination_grace_seconds=30), settings=SimulationSettings(termination_seconds=5.0))
    world.evict(WEB, "", dry_run=False)
    terminating = world.read_pod("default", "web-0")
    assert terminating is not None
    assert terminating.deletion_at == world.clock.now() + 30
    world.clock.sleep(4.9)
    assert world.read_pod("default", "web-0") is not None
    world.clock.sleep(0.2)
    assert world.read_pod("default", "web-0") is None


@pytest.mark.parametrize("web", [pod("web-0", "99", owner="web"), running(phase="Succeeded")])
def test_pods_that_hold_nothing_are_gone_at_once(web: Pod) -> None:
    """Neither an unbound nor a finished pod waits for a grace."""
    world = world_of(web, NOTHING_ALLOWED)
    world.evict(WEB, "", dry_run=False)
    assert world.read_pod("default", "web-0") is None


def test_a_granted_eviction_spends_the_budget() -> None:
    """One disruption less at once, with the pod's name; the next eviction is refused."""
    world = world_of(running(), ONE_ALLOWED)
    world.evict(WEB, "", dry_run=False)
    assert standing_budget(world).disruptions_allowed == 0
    assert standing_budget(world).disrupted_pods == ("web-0",)
    assert world.evict(PodReference("default", "web-1"), "", dry_run=False).kind == "BudgetExhausted"


def test_a_dry_run_spends_and_writes_nothing() -> None:
    """Budget, pod and write log are as before."""
    world = world_of(running(), ONE_ALLOWED)
    before = world.read()
    assert world.evict(WEB, "", dry_run=True).kind == "Accepted"
    after = world.read()
    assert (after.pods, after.budgets) == (before.pods, before.budgets)
    assert not world.writes


@pytest.mark.parametrize(
    ("reference", "version"),
    [(PodReference("default", "web-0", "uid-of-another"), ""), (WEB, "12345")],
    ids=["uid", "resource version"],
)
def test_a_failed_precondition_costs_budget_but_evicts_nothing(reference: PodReference, version: str) -> None:
    """The budget is booked before the preconditions are looked at; it comes back after the two minutes."""
    fields = {"max_unavailable": "1", "expected_pods": 3, "current_healthy": 3, "desired_healthy": 2}
    world = world_of(running(), budget("web", 1, **fields))
    assert world.evict(reference, version, dry_run=False).kind == "Conflict"
    standing = world.read_pod("default", "web-0")
    assert standing is not None
    assert not standing.is_terminating
    assert standing_budget(world).disruptions_allowed == 0
    world.clock.sleep(119)
    assert standing_budget(world).disruptions_allowed == 0
    world.clock.sleep(2)
    assert standing_budget(world).disruptions_allowed == 1


def test_a_disruption_that_was_booked_in_vain_outlasts_a_recount() -> None:
    """The controller does not count the named pod as healthy until it forgets the grant."""
    world = world_of(running(), budget("web", 1, max_unavailable="1"))
    assert world.evict(PodReference("default", "web-0", "uid-of-another"), "", dry_run=False).kind == "Conflict"
    world.put(structs.replace(world.read().pod_by_key["default/web-1"], restart_count=1))
    world.clock.sleep(10)
    assert (standing_budget(world).current_healthy, standing_budget(world).disruptions_allowed) == (2, 0)
    world.clock.sleep(111)
    assert (standing_budget(world).current_healthy, standing_budget(world).disruptions_allowed) == (3, 1)


def test_a_failed_precondition_of_a_dry_run_costs_nothing() -> None:
    """That is why the probe comes first."""
    world = world_of(running(), ONE_ALLOWED)
    assert world.evict(PodReference("default", "web-0", "uid-of-another"), "", dry_run=True).kind == "Conflict"
    assert standing_budget(world).disruptions_allowed == 1


def test_preconditions_that_hold_let_the_eviction_through() -> None:
    """The uid and resource version of a fresh read are accepted."""
    world = world_of(running(), ONE_ALLOWED)
    standing = world.read_pod("default", "web-0")
    assert standing is not None
    assert world.evict(WEB, standing.resource_version, dry_run=False).kind == "Accepted"


def test_an_unready_pod_goes_without_a_charge() -> None:
    """Where the budget is met without it, nothing is booked."""
    world = world_of(running(is_ready=False), ONE_ALLOWED)
    assert world.evict(WEB, "", dry_run=False).kind == "Accepted"
    assert standing_budget(world).disrupted_pods == ()


def test_evicting_a_terminating_pod_again_changes_nothing() -> None:
    """The second call is accepted, and the pod's end stays where it was."""
    world = world_of(running(), ONE_ALLOWED)
    world.evict(WEB, "", dry_run=False)
    first = world.read_pod("default", "web-0")
    assert world.evict(WEB, "", dry_run=False).kind == "Accepted"
    assert world.read_pod("default", "web-0") == first
