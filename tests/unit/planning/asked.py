"""Plans of single objectives, with facts that a policy cannot write as such: prices as arrays, groups by index."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.defragment.objective import Defragment
from rescheduler.planning.objectives.defragment.wanted_shapes import WeightedShape
from rescheduler.planning.objectives.empty_nodes.objective import plan_emptying
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.fault_domains.objective import FaultDomains
from rescheduler.planning.objectives.make_room.objective import MakeRoom
from rescheduler.planning.objectives.make_room.opening import HelpWanted
from rescheduler.planning.objectives.scheduler_score.objective import SchedulerScoreObjective
from rescheduler.planning.objectives.separate_antagonists.antagonists import Antagonists
from rescheduler.planning.objectives.separate_antagonists.objective import SeparateAntagonists
from rescheduler.planning.objectives.spread_load.objective import SpreadLoad
from rescheduler.planning.problem.objective import ObjectiveSetting, PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.policy.fields.objectives import MakeRoomArgs, SchedulerScoreArgs, SpreadLoadArgs


@dataclass(frozen=True)
class RoomRequest(PlanRequest):
    """A request to MakeRoom; ``helped_together``: groups of pending pods, by index, that are helped all or none."""

    prize: int | None = None
    all_or_nothing: bool = False
    helped_together: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class EmptyingRequest(PlanRequest):
    """A request to empty nodes: which are selected, what each is worth, how many; whether empty ones are closed too."""

    holds_empty_nodes: bool = False
    is_selected: BoolArray | None = None
    price: FloatArray | None = None
    most_nodes: int | None = None


class AskedRoom(MakeRoom):
    """MakeRoom that helps whom the request names."""

    def wanted(self, request: PlanRequest) -> HelpWanted:
        """As in the request."""
        assert isinstance(request, RoomRequest)
        return HelpWanted(request, request.prize, request.all_or_nothing, request.helped_together)


def room_problem(
    request: PlanRequest, pending: Collection[int] | None = None, limits: MoveLimits | None = None
) -> Problem:
    """What MakeRoom begins with."""
    return _of(AskedRoom, request, MakeRoomArgs()).wanted(request).problem(pending, limits)


def plan_make_room(request: PlanRequest) -> ObjectivePlan:
    """MakeRoom's plan."""
    return _of(AskedRoom, request, MakeRoomArgs()).plan(request)


def situation_of(request: PlanRequest) -> EmptyingSituation:
    """What EmptyNodes begins with."""
    assert isinstance(request, EmptyingRequest)
    return EmptyingSituation(request, request.price, request.is_selected, request.most_nodes)


def plan_empty_nodes(request: PlanRequest) -> ObjectivePlan:
    """EmptyNodes' plan; ``closes`` are the nodes that it empties."""
    assert isinstance(request, EmptyingRequest)
    return plan_emptying(situation_of(request), request, closes_empty=request.holds_empty_nodes)


def plan_spread_load(request: PlanRequest, observed: ObservedUse, target: Mapping[str, float]) -> ObjectivePlan:
    """SpreadLoad's plan."""
    args = SpreadLoadArgs.model_construct(target=dict(target))
    return SpreadLoad(args, ObjectiveSetting(request.prediction.columns, observed)).plan(request)


def plan_separate_antagonists(request: PlanRequest, antagonists: Antagonists) -> ObjectivePlan:
    """SeparateAntagonists' plan."""
    return _of(SeparateAntagonists, request, None, antagonists=antagonists).plan(request)


def plan_defragment(request: PlanRequest, shapes: Sequence[WeightedShape]) -> ObjectivePlan:
    """Defragment's plan."""
    return _of(Defragment, request, None, shapes=shapes).plan(request)


def plan_fault_domains(request: PlanRequest) -> ObjectivePlan:
    """FaultDomains' plan."""
    return _of(FaultDomains, request, None).plan(request)


def plan_scheduler_score(request: PlanRequest, minimum_gain: float) -> ObjectivePlan:
    """SchedulerScore's plan."""
    return _of(SchedulerScoreObjective, request, SchedulerScoreArgs(minimum_gain=minimum_gain)).plan(request)


def _of(kind: type[PlanningObjective], request: PlanRequest, args: Any, **facts: Any) -> Any:
    """An objective of the request's cluster; ``facts`` stand in for what it would make of its arguments."""
    objective = kind(args, ObjectiveSetting(request.prediction.columns))
    vars(objective).update(facts)
    return objective
