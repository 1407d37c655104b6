"""What forbids carrying a plan out until a time that is known: circuit breaker and windows. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.daemon.steering.steering_errors import ObjectionError
from rescheduler.disruption.budgets.windows import closure_at
from rescheduler.disruption.gate.breaker import MOST_OPENINGS, breaker_objection
from rescheduler.model.columns.selectors import read_selector, selects
from rescheduler.model.daemon.ledger import Breaker, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.budgets import Budget, names_of
from rescheduler.policy.fields.policy import Policy


def timed_objection(plan: Plan, policy: Policy, cluster: Cluster, ledger: Ledger) -> ObjectionError | None:
    """The first of them that speaks against it, with when that may end, for a person who is about to approve it.

    The gate asks all of it again, and more, before each eviction.
    """
    return next(_objections(plan, policy, cluster, ledger), None)


def _objections(plan: Plan, policy: Policy, cluster: Cluster, ledger: Ledger) -> Iterator[ObjectionError]:
    now = cluster.taken_at
    rules = policy.disruption.breaker
    broken = breaker_objection(ledger.breaker, rules, now)
    if broken is not None:
        yield ObjectionError(broken, _breaker_ends_at(ledger.breaker, rules.rest, now))
    yield from _closed(plan, policy.disruption.budgets, cluster)


def _breaker_ends_at(breaker: Breaker, rest_seconds: float, now: float) -> float | None:
    """When one eviction is tried; None where that is not known, or an operator has to close it first."""
    ends_at = (breaker.opened_at or 0.0) + rest_seconds
    return ends_at if breaker.trial is None and ends_at > now and breaker.openings < MOST_OPENINGS else None


def _closed(plan: Plan, budgets: tuple[Budget, ...], cluster: Cluster) -> Iterator[ObjectionError]:
    """Budgets outside of their windows that one of the plan's pods counts in."""
    pods = [pod for move in plan.moves if (pod := cluster.pod_by_key.get(move.pod.key)) is not None]
    for name, budget in zip(names_of(budgets), budgets, strict=True):
        closure = closure_at(budget.all_windows, cluster.taken_at)
        covered = None if closure is None else next((pod for pod in pods if _covers(budget, pod)), None)
        if closure is not None and covered is not None:
            text = f"budget {name}, which {covered.key} counts in, {closure.reason}"
            yield ObjectionError(text, closure.opens_at)


def _covers(budget: Budget, pod: Pod) -> bool:
    if budget.namespaces is not None and pod.namespace not in budget.namespaces:
        return False
    return budget.label_selector is None or selects(read_selector(budget.label_selector), pod.labels)
