"""What the planner of any objective is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rescheduler.extension_points import Clock, Progress, SchedulerPrediction, no_progress
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Refusal, Status
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.search.objective_state import ObjectiveState

NOTHING = WaveSchedule()

# Moves and places of an answer, by index.


@dataclass(frozen=True)
class PlannedMove:
    """A pod (index into ``Cluster.pods``) leaves its node in ``wave`` (from 1) and is expected on ``to_node``.

    ``evict_first``: all pods of its wave leave before any of them arrives.
    """

    pod: int
    to_node: int
    wave: int
    needs_guidance: bool
    reason: str
    evict_first: bool = False


@dataclass(frozen=True)
class PlannedPlace:
    """A pending pod gets a place that is free at the end of ``wave`` (0: at once)."""

    pod: int
    node: int
    wave: int


@dataclass(frozen=True)
class PlanRequest:
    """One question within the limits of a plan; ``deadline_seconds`` counts from the call.

    ``placement``: where pods sit at the start, after the moves of earlier objectives; it is not changed. Nodes that
    must receive nothing have no room there. ``eligibility``: its movable pods have not moved yet; its limits are those
    of the whole plan, of which pods that are not where the snapshot has them have used their part
    (``remaining_limits``). ``is_guided_by_holds``: else only moves that the scheduler makes by itself are
    proposed. ``move_cost``: what one eviction of ordinary price costs in units of the objective. ``guards``: earlier
    objectives, whose cost must not rise; made anew for each call, so the planner may move pods in them. ``together``:
    groups of pods that move all or none; planners may ignore it, since what breaks a group is asked again without it.
    ``nominal_seconds``: see Deadline (None: ``deadline_seconds``). ``start``: what another plan has for this objective
    and is possible here, for the search to begin with; some of its pods may not be movable any more.
    """

    prediction: SchedulerPrediction
    placement: Placement
    eligibility: Eligibility
    is_guided_by_holds: bool
    deadline_seconds: float
    seed: int
    clock: Clock
    move_cost: float = 0.0
    guards: tuple[ObjectiveState, ...] = ()
    together: tuple[tuple[int, ...], ...] = ()
    progress: Progress = no_progress
    nominal_seconds: float | None = None
    start: WaveSchedule = NOTHING

    def deadline(self) -> Deadline:
        """Its deadline, from now on."""
        return Deadline(self.clock, self.deadline_seconds, self.nominal_seconds)

    def within(self, deadline: Deadline, share: float = 1.0) -> PlanRequest:
        """The same question, with a share of the time that is left."""
        return replace(self, deadline_seconds=deadline.remaining() * share, nominal_seconds=deadline.seconds * share)


@dataclass(frozen=True)
class ObjectivePlan:
    """The moves of one objective and what is proven about them.

    ``value``: what is reached, in ``unit``; ``bound``: no plan does better (None: nothing is proven); ``gap``: their
    distance over ``max(1, |bound|)``. ``closes``: nodes that must receive nothing from here on. ``helped`` and
    ``wanted`` count pending pods. ``binding_limits``: names of the limits that keep the plan from more. ``is_judged``:
    False where the objective has nothing that it may believe, so that its value says nothing.
    """

    status: Status
    value: float
    bound: float | None
    unit: str
    message: str
    moves: tuple[PlannedMove, ...] = ()
    placements: tuple[PlannedPlace, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    closes: tuple[int, ...] = ()
    helped: int | None = None
    wanted: int | None = None
    binding_limits: tuple[str, ...] = ()
    certificate: dict[str, Any] | None = None
    is_judged: bool = True

    @property
    def gap(self) -> float | None:
        """Distance of value and bound over ``max(1, |bound|)``."""
        return None if self.bound is None else abs(self.value - self.bound) / max(1.0, abs(self.bound))
