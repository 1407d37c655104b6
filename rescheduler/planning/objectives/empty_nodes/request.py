"""What the planner of the objective EmptyNodes is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from rescheduler.extension_points import Clock, Progress, SchedulerPrediction, no_progress
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Refusal, Status
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.plan_request import PlannedMove


@dataclass(frozen=True)
class EmptyNodesRequest:
    """One question: the most nodes (or the most cost) that can be emptied, and then the fewest evictions for it.

    ``placement``: where pods sit at the start, after the moves of earlier objectives; it is not changed. Pods that are
    not where the snapshot has them have moved already: they stay, and count against the limits of the plan.
    ``is_selected``: bool[N], nodes that may be emptied (None: all); ``price``: float64[N], what a node costs, not
    negative (None: 1 each, which counts nodes). ``is_guided_by_holds``: emptied nodes are closed while the plan runs;
    else only moves that the scheduler makes by itself are proposed. ``holds_empty_nodes``: nodes that were
    empty before are closed as well. ``deadline_seconds`` counts from the call.
    """

    prediction: SchedulerPrediction
    placement: Placement
    eligibility: Eligibility
    is_guided_by_holds: bool
    deadline_seconds: float
    seed: int
    clock: Clock
    holds_empty_nodes: bool = False
    is_selected: BoolArray | None = None
    price: FloatArray | None = None
    progress: Progress = no_progress


@dataclass(frozen=True)
class EmptyNodesAnswer:
    """The plan and what is proven about it.

    ``value``: price of the nodes emptied less that of empty ones that are used now (with price 1: a number of nodes);
    ``bound``: no plan reaches more; ``gap``: their distance over ``max(1, bound)``. ``emptied``: node indices,
    ascending. ``refusals``: nodes that stay because of pods that must. ``binding_limits``: names of the limits that
    keep the plan from more.
    """

    status: Status
    value: float
    bound: float
    gap: float
    message: str
    emptied: tuple[int, ...] = ()
    moves: tuple[PlannedMove, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    binding_limits: tuple[str, ...] = ()
