"""Budgets with what is left of them: rates by the ledger alone, the others by the pods that they cover."""

from __future__ import annotations

from rescheduler.daemon.page.budgets_left import BudgetLeft, budgets_left, least_first, rates_left
from rescheduler.daemon.page.outlook import PageBasis
from rescheduler.daemon.page.page_desk import SHORTEST_SECONDS, BudgetCount
from rescheduler.disruption.budgets.policy_budgets import PolicyBudgets
from rescheduler.disruption.eligibility_context import EVERYTHING, EligibilityContext
from rescheduler.model.objects.workload import DisruptionBudget
from rescheduler.policy.fields.budgets import Per
from rescheduler.policy.fields.policy import Policy, budgets_in_force
from tests.builders import NOW, cluster, node, pod, workload
from tests.clocks import FakeClock
from tests.unit.daemon.page.looks import SMALL, entry, ledger

WORLD = cluster(
    node("n1"), *(pod(f"web-{at}", node="n1", owner="web", is_ready=at > 0) for at in range(4)), workload("web", 4)
)


def policy(**budget: object) -> Policy:
    """One with a budget of its own."""
    given = {"disruption": {"budgets": ({"name": "mine", **budget},)}} if budget else {}
    return Policy.model_validate(given)


def test_rates_say_what_the_gate_says() -> None:
    """The same number is left as by the budget that binds."""
    made = ledger(*(entry(at, f"p{at}", 60.0 * at) for at in range(1, 9)))
    told = {one.name: one.left for one in rates_left(policy(), made, NOW)}
    context = EligibilityContext(SMALL, policy(), ledger=made, is_daemon=True)
    budgets = budgets_in_force(policy(), is_daemon=True)
    for status in PolicyBudgets(SMALL, context.kinds, budgets, context.workloads, made).statuses:
        if not status.instances[0]:
            assert told[status.name] == status.left_of_rate[0]
    assert told["disruption.rates.perHour"] == 12
    assert told["disruption.rampUp"] == 0


def test_the_rate_of_a_workload_names_those_that_have_used_the_most() -> None:
    """Where nobody has used any, one line says so."""
    made = ledger(entry(1, "a"), entry(2, "b"), entry(3, "c", workload_key="default/db"))
    found = [one for one in rates_left(policy(), made, NOW) if one.name.endswith("perWorkloadPerHour")]
    assert [(one.instance, one.left, one.closed) for one in found] == [
        ("default/web", 0, "used up"),
        ("default/db", 1, ""),
    ]
    (none,) = [one for one in rates_left(policy(), ledger(), NOW) if one.name.endswith("perWorkloadPerHour")]
    assert (none.instance, none.left) == ("", 2)


def test_limits_on_pods_are_counted_on_the_snapshot() -> None:
    """Unready pods use maxUnavailable; a window that is closed lets nobody go, and says when it opens."""
    (found,) = budgets_left(WORLD, policy(maxUnavailable=1), EVERYTHING, ledger())
    assert found == BudgetLeft("mine", "", 0, "1 of 1 are unready", "used up")
    (moving,) = budgets_left(WORLD, policy(maxMoving=3), EVERYTHING, ledger())
    assert (moving.left, moving.used) == (3, "0 of 3 are on the move")
    window = policy(schedule="0 3 * * *", duration="1h", timeZone="UTC")
    (closed,) = budgets_left(WORLD, window, EVERYTHING, ledger())
    assert closed.closed.startswith("is outside of its windows; it opens at")
    nobody = budgets_left(WORLD, policy(maxMoving=1, namespaces=("other",), per=Per.WORKLOAD), EVERYTHING, ledger())
    assert [one.used for one in nobody] == ["covers no pod now"]


def test_pod_disruption_budgets_that_allow_nothing_are_told() -> None:
    """The others are not."""
    used = DisruptionBudget("default", "web", expected_pods=4, current_healthy=3, desired_healthy=3)
    free = DisruptionBudget("default", "db", disruptions_allowed=1, expected_pods=2)
    (found,) = budgets_left(cluster(node("n1"), used, free), policy(), EVERYTHING, ledger())
    assert (found.name, found.instance, found.used) == ("PodDisruptionBudget", "default/web", "3 healthy, 3 wanted")


def test_the_least_stands_first_and_what_limits_no_number_last() -> None:
    """Whatever order they came in."""
    many = [BudgetLeft("a", "", None, ""), BudgetLeft("b", "", 5, ""), BudgetLeft("c", "", 0, "")]
    assert [one.name for one in least_first(many)] == ["c", "b", "a"]


def test_a_count_is_good_for_a_while() -> None:
    """Then the next who asks has it made anew."""
    clock = FakeClock()
    count = BudgetCount(clock)
    basis = PageBasis(policy(maxMoving=3), ledger=ledger())
    first = _settled(count, basis)
    assert count.latest(WORLD, basis) is first
    clock.time += SHORTEST_SECONDS + 1
    count.latest(WORLD, basis)
    assert _settled(count, basis) is not first


def _settled(count: BudgetCount, basis: PageBasis) -> object:
    """What is told when nothing is being counted."""
    found = count.latest(WORLD, basis)
    worker = count._worker
    if worker is not None:
        worker.join()
        found = count.latest(WORLD, basis)
    return found
