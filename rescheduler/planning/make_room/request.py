"""What the make-room planner is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rescheduler.extension_points import Clock, Progress, SchedulerPrediction, no_progress
from rescheduler.model.disruption import Eligibility
from rescheduler.model.placement import Placement
from rescheduler.model.plan import Status


@dataclass(frozen=True)
class MakeRoomRequest:
    """One question: the fewest evictions by which the pending pods get a place.

    ``placement`` is where pods sit at the start; it is not changed. ``deadline_seconds`` counts from the call,
    building of models included. ``is_guided_by_holds``: holes are held for the pods they are made for.
    """

    prediction: SchedulerPrediction
    placement: Placement
    eligibility: Eligibility
    is_guided_by_holds: bool
    deadline_seconds: float
    seed: int
    clock: Clock
    progress: Progress = no_progress


@dataclass(frozen=True)
class PlannedMove:
    """A pod (index into ``Cluster.pods``) leaves its node in ``wave`` (from 1) and is expected on ``to_node``."""

    pod: int
    to_node: int
    wave: int
    needs_guidance: bool
    reason: str


@dataclass(frozen=True)
class PlannedPlace:
    """A pending pod gets a place that is free at the end of ``wave`` (0: at once)."""

    pod: int
    node: int
    wave: int


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
