"""What people do to PodDisruptionBudgets."""

from __future__ import annotations

from msgspec import structs

from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.workload import Workload
from tests.soak.world.events.choosing import Choosing
from tests.soak.world.scenery import (
    Shape,
    budget_of,
    selector_of,
)


class BudgetEvents(Choosing):
    """As WorkloadEvents."""

    def _shape_of(self, top: Workload) -> Shape:
        return Shape(top.name, top.namespace, top.kind, top.desired_replicas or 0, 0)

    def _budget_made(self) -> tuple[str, str] | None:
        top = self._top()
        if top is None:
            return None
        budget = budget_of(self._shape_of(top), self._random, top.name)
        self._world.put_budget(budget)
        return budget.key, f"max {budget.max_unavailable} min {budget.min_available}"

    def _budget_doubled(self) -> tuple[str, str] | None:
        top = self._top()
        if top is None:
            return None
        budget = budget_of(self._shape_of(top), self._random, f"{top.name}-again")
        self._world.put_budget(budget)
        self._later(600, 3600, lambda: self._world.remove_budget(budget.key))
        return budget.key, "a second one"

    def _any_budget(self) -> str | None:
        return self._random.choice(list(self._world.store.budgets)) if self._world.store.budgets else None

    def _budget_tightened(self) -> tuple[str, str] | None:
        key = self._any_budget()
        if key is None:
            return None
        old = self._world.store.budgets[key]
        number = self._random.choice(["0", "0", "1"])
        self._world.put_budget(structs.replace(old, max_unavailable=number, min_available=None))
        self._later(600, 5400, lambda: key in self._world.store.budgets and self._world.put_budget(old))
        return key, f"maxUnavailable {number}"

    def _budget_deleted(self) -> tuple[str, str] | None:
        key = self._any_budget()
        if key is not None:
            self._world.remove_budget(key)
        return None if key is None else (key, "")

    def _budget_invalid(self) -> tuple[str, str] | None:
        key = self._any_budget()
        if key is None:
            return None
        old = self._world.store.budgets[key]
        wrong = LabelSelector((Requirement("app", "Somehow", ("x",)),))
        problem = "its selector cannot be read"
        self._world.put_budget(structs.replace(old, selector=wrong, problem=problem))
        mended = structs.replace(old, selector=selector_of(old.name.removesuffix("-again")), problem=None)
        self._later(600, 3600, lambda: key in self._world.store.budgets and self._world.put_budget(mended))
        return key, problem
