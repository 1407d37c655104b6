"""Bugs in what may be missing at once: floors under workloads, PodDisruptionBudgets, the policy's budgets, rates."""

from __future__ import annotations

from typing import Any, Final

from rescheduler.disruption import eligibility as careful_groups
from rescheduler.disruption import pod_kinds
from rescheduler.disruption.budgets import budget_status as standing
from rescheduler.disruption.budgets import open_evictions_counted as debts_counted
from rescheduler.disruption.budgets import pod_disruption_budgets, workload_budgets
from rescheduler.disruption.budgets.budget_status import BudgetStatus
from rescheduler.disruption.earlier import ramp_up
from rescheduler.disruption.gate.gate import Spent
from rescheduler.model.daemon.ledger import DEBTS
from tests.soak.seeded_bugs.seams import (
    SeededBug,
    always,
    becomes,
    changed,
    changed_everywhere,
    together,
    without_rules,
)

MANY: Final = "workloads: {maxUnavailable: 90%}"


def _rounded_up(limit: int | str, desired: int) -> int:
    return limit if isinstance(limit, int) else max(1, -(-desired * int(limit.removesuffix("%")) // 100))


def _standing_anyway(pod: Any) -> bool:
    return pod.node_name is not None and pod.deletion_at is None and not pod.is_finished


def _standing_while_it_goes(pod: Any) -> bool:
    return pod.is_ready and pod.node_name is not None and not pod.is_finished


def _sliding_half(original: Any) -> Any:
    return lambda coverage, entries, since: original(coverage, entries, since + 1800.0)


def _one_more(original: Any) -> Any:
    return property(lambda self: original.func(self) + 1)


def _per_wave(original: Any) -> Any:
    def init(self: Spent, moves: Any, cluster: Any, eligibility: Any, sent: Any, sent_namespaces: Any) -> None:
        original(self, moves, cluster, eligibility, {}, {})

    return init


BUGS: Final = (
    SeededBug(
        "rounded up", "shares of a workload are rounded towards more", ("I1", "I4", "I21"),
        changed_everywhere(workload_budgets, "workload_limit", becomes(_rounded_up)),
    ),
    SeededBug(
        "unready counts as ready", "pods that are not Ready count as serving", ("I1", "I3", "I4", "I21"),
        changed_everywhere(pod_kinds, "counts_as_ready", becomes(_standing_anyway)),
        settings={"share_ill": 0.2, "world_pace": 4.0},
    ),
    SeededBug(
        "no floor", "the floor under workloads is asked in no rule", ("I1", "I4", "I21"),
        together(
            without_rules("WorkloadBudget"),
            changed_everywhere(workload_budgets, "workload_limit", lambda _: lambda _limit, desired: desired),
        ),
    ),
    SeededBug("singles may go", "single replicas are moved", ("I1", "I4", "I10"), without_rules("SingleReplica")),
    SeededBug(
        "unreadable is none", "a budget whose selector cannot be read covers nobody", ("I3",),
        changed(pod_disruption_budgets, "_is_unreadable", always(False)),
        policy=MANY, settings={"world_pace": 8.0},
    ),
    SeededBug(
        "half a window", "a rate looks back half as far", ("I2",),
        changed_everywhere(debts_counted, "sent_since", _sliding_half),
        policy="budgets: [{rate: {maxEvictions: 2, window: 1h}}]",
    ),
    SeededBug(
        "only open evictions in windows", "what was repaid does not count in rates", ("I2",),
        changed(debts_counted, "SENT", becomes(DEBTS)), policy="budgets: [{rate: {maxEvictions: 2, window: 1h}}]",
    ),
    SeededBug(
        "one too many", "one more may be on the move than the budget says", ("I2",),
        changed(BudgetStatus, "left_to_move", _one_more), policy="budgets: [{maxMoving: 1}]",
    ),
    SeededBug(
        "outside is free", "outside of its windows a budget does not bind", ("I30",),
        changed(standing, "closure_at", always(None)),
        policy='budgets: [{windows: [{type: Allow, schedule: "0 3 * * *", duration: 1h, timeZone: UTC}]}]',
    ),
    SeededBug(
        "limits per wave", "the limits of a plan are counted for each wave", ("I2",),
        changed(Spent, "__init__", _per_wave), top="limits: {maxEvictions: 1}", settings={"malice": 0.0},
    ),
    SeededBug(
        "ramp forgotten", "the ramp-up does not count what was sent", ("I2",),
        changed_everywhere(ramp_up, "sent_in_window", always([])),
        policy="rampUp: {start: 1}",
    ),
    SeededBug(
        "sets at once", "a StatefulSet is moved like any other workload", ("I12",),
        together(
            changed(careful_groups, "_stateful_sets", always(())),
            without_rules("StatefulSet"),
        ),
        policy="unsettled: Deny; quiet: 0s; workloads: {maxUnavailable: 50%}", settings={"malice": 0.3},
    ),
)  # fmt: skip
