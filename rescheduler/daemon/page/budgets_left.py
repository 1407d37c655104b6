"""Budgets in force with what is left of them, those of which the least is left first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rescheduler.disruption.budgets.budget_status import UNLIMITED, BudgetStatus, rate_detail
from rescheduler.disruption.budgets.policy_budgets import PolicyBudgets
from rescheduler.disruption.budgets.windows import told
from rescheduler.disruption.earlier.ramp_up import allowance, has_ended
from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.daemon.ledger import SENT, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.policy.fields.budgets import Per, Rate
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.values import format_duration

MOST_INSTANCES = 5
"""Of one budget: those of which the least is left."""


class BudgetLeft(NamedTuple):
    """One budget, or one instance of it. ``left``: pods that may still go, None: it limits no number.

    ``used``: its numbers in words; ``closed``: why it lets nobody go, "" where it does.
    """

    name: str
    instance: str
    left: int | None
    used: str
    closed: str = ""


def rates_left(policy: Policy, ledger: Ledger, now: float) -> list[BudgetLeft]:
    """The ramp-up and the rates that stand by default: both count in the ledger alone, and every pod is theirs."""
    found = [*_ramp_up(policy, ledger, now)]
    for budget in policy.disruption.rates.budgets(with_defaults=True):
        if budget.rate is not None and budget.name is not None:
            found += _rate(budget.name, budget.rate, budget.per, ledger, now)
    return found


def _rate(name: str, rate: Rate, per: Per, ledger: Ledger, now: float) -> Iterator[BudgetLeft]:
    """In all, or of those workloads that have used the most."""
    sent = [entry for entry in ledger.entries if entry.state in SENT and entry.at > now - rate.window]
    window = format_duration(rate.window)
    counts = Counter({"": len(sent)})
    if per is Per.WORKLOAD:
        counts = Counter(entry.workload_key or entry.pod.key for entry in sent) or Counter({"": 0})
    for instance, number in counts.most_common(MOST_INSTANCES):
        left = max(0, rate.max_evictions - number)
        used = f"{number} of {rate.max_evictions} evictions in {window} are used"
        yield BudgetLeft(name, instance, left, used, "" if left else "used up")


def budgets_left(cluster: Cluster, policy: Policy, selection: Selection, ledger: Ledger) -> list[BudgetLeft]:
    """The policy's own budgets, and the cluster's PodDisruptionBudgets that are used up; looks at every pod."""
    found = [*_pod_budgets(cluster)]
    if policy.disruption.budgets:
        context = EligibilityContext(cluster, policy, selection, ledger=ledger, is_daemon=True)
        budgets = policy.disruption.budgets
        for status in PolicyBudgets(cluster, context.kinds, budgets, context.workloads, ledger).statuses:
            found += _instances(status)
    return found


def least_first(budgets: Iterable[BudgetLeft]) -> list[BudgetLeft]:
    """Those of which nothing is left, and so on; at last those that limit no number."""
    return sorted(budgets, key=lambda one: (one.left is None, one.left or 0))


def _ramp_up(policy: Policy, ledger: Ledger, now: float) -> Iterator[BudgetLeft]:
    disruption = policy.disruption
    rules = disruption.ramp_up
    if rules is None or has_ended(ledger, disruption, now):
        return
    found = allowance(ledger, rules, now)
    window = format_duration(rules.window)
    used = f"{found.allowed - found.left} of {found.allowed} evictions in {window} are used"
    yield BudgetLeft("disruption.rampUp", "", found.left, used, "" if found.left else "used up")


def _instances(status: BudgetStatus) -> Iterator[BudgetLeft]:
    left = np.minimum(status.left_of_rate, np.minimum(status.left_to_move, status.left_to_be_unavailable))
    closure = status.closure
    if closure is not None:
        opens = "" if closure.opens_at is None else f"; it opens at {told(closure.opens_at, closure.time_zone)}"
        yield BudgetLeft(status.name, "", 0, "closed by its windows", f"{closure.reason}{opens}")
        return
    if not len(left):
        yield BudgetLeft(status.name, "", None, "covers no pod now")
        return
    for place in np.argsort(left, kind="stable")[:MOST_INSTANCES].tolist():
        number = int(left[place])
        closed = "used up" if number == 0 else ""
        yield BudgetLeft(
            status.name, status.instances[place], None if number >= UNLIMITED else number, _used(status, place), closed
        )


def _used(status: BudgetStatus, place: int) -> str:
    """What is used of each of its limits."""
    budget, parts = status.budget, [rate_detail(status, place)]
    if budget.max_moving is not None:
        parts.append(f"{int(status.on_the_move[place])} of {int(status.most_moving[place])} are on the move")
    if budget.max_unavailable is not None:
        parts.append(f"{int(status.unavailable[place])} of {int(status.most_unavailable[place])} are unready")
    return "; ".join(part for part in parts if part) or "open by its windows"


def _pod_budgets(cluster: Cluster) -> Iterator[BudgetLeft]:
    """By the disruption controller's own count: which allow nothing now."""
    for budget in cluster.budgets:
        if not budget.disruptions_allowed and budget.expected_pods:
            used = f"{budget.current_healthy} healthy, {budget.desired_healthy} wanted"
            yield BudgetLeft("PodDisruptionBudget", f"{budget.namespace}/{budget.name}", 0, used, "used up")
