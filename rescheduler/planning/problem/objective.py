"""What every objective is: one class with its arguments, which answers a plan request with a plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rescheduler.costs.node_prices import NodePrices
from rescheduler.model.columns.columns import Columns
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.policy.fields.policy_model import PolicyModel


@dataclass(frozen=True)
class ObjectiveSetting:
    """What objectives are about: the cluster, its load as SpreadLoad is to judge it (None: nobody asks), and what its
    nodes cost (None: nobody knows). ``left``: nodes whose emptying is somebody else's business, and why."""

    columns: Columns
    observed: ObservedUse | None = None
    prices: NodePrices | None = None
    left: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PlanningObjective(ABC):
    """An objective of a policy, ready to be planned for.

    ``name``: as in policies; ``arguments``: the form of what they write under ``args``. ``is_better_higher``: a higher
    value is better. ``is_kept_by_places``: nodes that are closed and places that are taken keep what it reached; else
    later objectives heed its state. ``least_share``: what laying out its question and proving an answer take at least,
    of the time in which it is decided what may move. ``args``: the arguments, in that form; ``weight`` and
    ``move_cost``: the policy's.
    """

    name: ClassVar[str]
    arguments: ClassVar[type[PolicyModel]]
    is_better_higher: ClassVar[bool] = False
    is_kept_by_places: ClassVar[bool] = False
    least_share: ClassVar[float] = 0.4

    args: Any
    setting: ObjectiveSetting
    weight: float | None = None
    move_cost: float = 0.0

    @classmethod
    def explanation(cls) -> str:
        """What it is for, in one sentence: what the form of its arguments opens with."""
        return " ".join((cls.arguments.__doc__ or "").partition("\n\n")[0].split())

    @abstractmethod
    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """Plan within the deadline; never worse than doing nothing, and every prefix of the waves is allowed."""

    def state(self, problem: Problem) -> ObjectiveState:
        """Its cost of a placement, in the unit of its value, at the start of the problem; lower is better."""
        raise NotImplementedError(f"{self.name} is neither weighed against others nor heeded by them")
