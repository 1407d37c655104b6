"""An objective of a policy, ready to be planned for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState

StateOf: TypeAlias = Callable[[Problem], ObjectiveState]
"""What the objective thinks of the start of a problem."""


@dataclass(frozen=True)
class Goal:
    """``plan`` answers the question; ``is_better_higher``: a higher value is better.

    ``state``: its cost of a placement, in the unit of the value; None: it cannot be weighed against others.
    ``is_kept_by_places``: nodes that are closed and places that are taken keep what it reached; else later objectives
    heed its state.
    """

    name: str
    plan: Callable[[PlanRequest], ObjectivePlan]
    is_better_higher: bool
    state: StateOf | None = None
    is_kept_by_places: bool = False
    weight: float | None = None
    move_cost: float = 0.0

    @property
    def guard(self) -> StateOf | None:
        """What later objectives must not make worse; None where nothing needs to be heeded."""
        return None if self.is_kept_by_places else self.state
