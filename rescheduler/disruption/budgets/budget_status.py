"""How one budget stands in a cluster, instance by instance: what it allows, what is used, and whether it is closed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from rescheduler.disruption.budgets.coverage import Coverage, Population
from rescheduler.disruption.budgets.open_evictions_counted import moving, sent_since, unseen
from rescheduler.disruption.budgets.windows import closure_at, told
from rescheduler.disruption.budgets.workload_budgets import WorkloadBudgets
from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.daemon.ledger import EntryState, Ledger
from rescheduler.policy.fields.budgets import Budget, Per, Rate
from rescheduler.policy.fields.values import format_duration

UNLIMITED = sys.maxsize


class BudgetStatus:
    """One budget with its numbers. Arrays are over instances, int64[I]; ``closure``: why it allows nothing now.

    ``total``: pods that count; ``unavailable``: those of them that are not ready, or that we took away. What the
    budget does not limit is UNLIMITED.
    """

    def __init__(
        self, name: str, budget: Budget, population: Population, workloads: WorkloadBudgets, ledger: Ledger
    ) -> None:
        """Count; O(pods)."""
        self.name = name
        self.budget = budget
        self.population = population
        self.coverage = Coverage(population, budget)
        self.now = population.cluster.taken_at
        self.closure = closure_at(budget.all_windows, self.now)
        self._workloads = workloads
        self._ledger = ledger
        self._debts = ledger.debts

    @property
    def time_zone(self) -> str:
        """In which times are told beside UTC."""
        return next((window.time_zone for window in self.budget.all_windows), "UTC")

    @property
    def instances(self) -> Sequence[str]:
        """What people call each instance."""
        return self.coverage.instances

    @cached_property
    def on_the_move(self) -> IntArray:
        """Open debts of ours, and pods that are out for a surge."""
        surging = (entry for entry in self._ledger.entries if entry.state is EntryState.SURGING)
        return moving(self.coverage, (*self._debts, *surging))

    @cached_property
    def _counts(self) -> tuple[IntArray, IntArray]:
        """Pods that count, and those of them that are missing or not ready."""
        covered = self.coverage.instance_of != NOWHERE
        place, number = self.coverage.instance_of[covered], len(self.instances)
        unready = ~self.population.is_ready[self.population.kind_of[covered]]
        lost = unseen(self.coverage, self.population, self._debts, self.budget.per)
        total = np.bincount(place, minlength=number) + lost
        unavailable = np.bincount(place[unready], minlength=number) + lost
        return self._as_wanted(total, unavailable) if self.budget.per is Per.WORKLOAD else (total, unavailable)

    def _as_wanted(self, total: IntArray, unavailable: IntArray) -> tuple[IntArray, IntArray]:
        """Of workloads the owners know better how many there should be."""
        examples = self.population.kinds.examples
        for pod in examples:
            place = self.coverage.place_of(pod)
            status = None if place == NOWHERE else self._workloads.of(pod)
            if status is not None:
                total[place] = status.desired
                unavailable[place] = max(unavailable[place], status.unready)
        return total, unavailable

    @property
    def total(self) -> IntArray:
        """Pods that count, missing ones too."""
        return self._counts[0]

    @property
    def unavailable(self) -> IntArray:
        """Pods that are missing or not ready."""
        return self._counts[1]

    @cached_property
    def most_unavailable(self) -> IntArray:
        """How many may be unready at once."""
        return self._limit(self.budget.max_unavailable)

    @cached_property
    def most_moving(self) -> IntArray:
        """How many may be on the move at once."""
        return self._limit(self.budget.max_moving)

    @cached_property
    def sent(self) -> dict[int, list[float]]:
        """When the evictions were sent that count in the window of the rate now, by place of the instance."""
        rate = self.budget.rate
        return {} if rate is None else sent_since(self.coverage, self._ledger.entries, self.now - rate.window)

    @cached_property
    def left_of_rate(self) -> IntArray:
        """Evictions that the rate leaves now."""
        rate, number = self.budget.rate, len(self.instances)
        if rate is None:
            return np.full(number, UNLIMITED, dtype=np.int64)
        left = np.full(number, rate.max_evictions, dtype=np.int64)
        for place, times in self.sent.items():
            left[place] = max(0, rate.max_evictions - len(times))
        return left

    @cached_property
    def left_to_move(self) -> IntArray:
        """Pods that may start to move beside those that move already."""
        if self.budget.max_moving is None:
            return self.most_moving
        left: IntArray = np.maximum(0, self.most_moving - self.on_the_move)
        return left

    @cached_property
    def left_to_be_unavailable(self) -> IntArray:
        """Ready pods that may be taken away beside those that are missing already."""
        if self.budget.max_unavailable is None:
            return self.most_unavailable
        left: IntArray = np.maximum(0, self.most_unavailable - self.unavailable)
        return left

    @cached_property
    def lets_ready_go(self) -> BoolArray:
        """Whether a ready pod of each instance may be moved now, bool[I]."""
        return self.lets_any_go & (self.left_to_be_unavailable > 0)

    @cached_property
    def lets_unready_go(self) -> BoolArray:
        """Whether a pod may be moved that counts as missing already, bool[I]."""
        if self.budget.max_unavailable is None:
            return self.lets_any_go
        return self.lets_any_go & (self.unavailable <= self.most_unavailable)

    @cached_property
    def lets_any_go(self) -> BoolArray:
        """Whether a pod may be moved that nobody misses meanwhile, bool[I]."""
        if self.closure is not None:
            return np.zeros(len(self.instances), dtype=np.bool_)
        return (self.left_of_rate > 0) & (self.left_to_move > 0)

    def _limit(self, limit: int | str | None) -> IntArray:
        """A number, or a share of the pods of each instance, rounded towards fewer."""
        number = len(self.instances)
        if limit is None:
            return np.full(number, UNLIMITED, dtype=np.int64)
        if isinstance(limit, int):
            return np.full(number, limit, dtype=np.int64)
        percent = int(limit.removesuffix("%"))
        return self.total * percent // 100


# What a budget says of itself: which limit binds, its numbers, and when it lets pods go again.


def called(status: BudgetStatus, place: int) -> str:
    """A budget's name, with the instance that is meant."""
    instance = status.instances[place]
    return f"budget {status.name}" + (f" of {instance}" if instance else "")


def objection(status: BudgetStatus, place: int, *, is_ready: bool, is_missed: bool) -> str | None:
    """Why the budget lets no pod of an instance go now, as the rest of a sentence; None if it does.

    ``is_missed``: whether fewer pods are ready while it moves.
    """
    name = called(status, place)
    if status.closure is not None:
        opens = status.closure.opens_at
        when = "" if opens is None else f"; it opens at {told(opens, status.closure.time_zone)}"
        return f"is covered by {name}, which {status.closure.reason}{when}"
    budget = status.budget
    if budget.rate is not None and status.left_of_rate[place] <= 0:
        return f"is covered by {name}, whose rate is used up: {_rate_numbers(status, place, budget.rate)}"
    if status.left_to_move[place] <= 0:
        limit = _limit(status, budget.max_moving, int(status.most_moving[place]), place)
        used = int(status.on_the_move[place])
        return f"is covered by {name}, of which {limit} may be on the move at a time (maxMoving) and {used} are already"
    if not is_missed:
        return None
    allowed = status.lets_ready_go if is_ready else status.lets_unready_go
    if not allowed[place]:
        limit = _limit(status, budget.max_unavailable, int(status.most_unavailable[place]), place)
        used = int(status.unavailable[place])
        return (
            f"is covered by {name}, of which {limit} may be unready at a time (maxUnavailable) and {used} are already"
        )
    return None


def rate_detail(status: BudgetStatus, place: int) -> str:
    """The numbers of a budget's rate; "" without one."""
    rate = status.budget.rate
    return "" if rate is None else _rate_numbers(status, place, rate)


def _rate_numbers(status: BudgetStatus, place: int, rate: Rate) -> str:
    times = status.sent.get(place, [])
    text = f"{len(times)} of {rate.max_evictions} evictions in {format_duration(rate.window)} are used"
    if times and len(times) >= rate.max_evictions > 0:
        frees = times[len(times) - rate.max_evictions] + rate.window
        text += f", and the next may be at {told(frees, status.time_zone)}"
    return text


def _limit(status: BudgetStatus, written: int | str | None, number: int, place: int) -> str:
    """The limit in pods, and of a share how it came to be."""
    if isinstance(written, str):
        return f"{number} of {int(status.total[place])} pods ({written})"
    return f"{number} pod{'s' if number != 1 else ''}"
