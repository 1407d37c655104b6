"""What the make-room planner is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rescheduler.extension_points import Clock, Progress, SchedulerPrediction, no_progress
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Status
from rescheduler.planning.problem.plan_request import PlannedMove, PlannedPlace


@dataclass(frozen=True)
class MakeRoomRequest:
    """One question: the fewest evictions by which the pending pods get a place.

    ``placement`` is where pods sit at the start, after the moves of earlier objectives; it is not changed. Pods that
    are not where the snapshot has them have moved already: they stay, and count against the limits of the plan; pending
    pods that have a place there wait no more. ``deadline_seconds`` counts from the call, building of models included.
    ``is_guided_by_holds``: holes are held for the pods they are made for.

    ``prize``: evictions that helping one more pod may take (None: any number); a group is worth that for each of its
    pods. ``together``: groups of pending pods that are helped all or none; ``all_or_nothing``: all pods are one group.
    """

    prediction: SchedulerPrediction
    placement: Placement
    eligibility: Eligibility
    is_guided_by_holds: bool
    deadline_seconds: float
    seed: int
    clock: Clock
    progress: Progress = no_progress
    prize: int | None = None
    all_or_nothing: bool = False
    together: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class MakeRoomAnswer:
    """The plan and what is proven about it.

    ``value`` counts evictions, ``bound`` is the proven least for as many ``helped`` of ``wanted`` pending pods.
    ``certificate`` proves why not all can be helped. ``binding_limits`` names the limits that bound the answer.
    """

    status: Status
    value: int
    bound: int
    gap: float
    helped: int
    wanted: int
    message: str
    certificate: dict[str, Any] | None = None
    moves: tuple[PlannedMove, ...] = ()
    placements: tuple[PlannedPlace, ...] = ()
    binding_limits: tuple[str, ...] = ()
