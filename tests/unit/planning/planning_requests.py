"""Requests to the planner from clusters made by the builders."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.plan_request import ObjectivePlan
from rescheduler.planning.problem.problem import Problem
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import PLENTY
from tests.clocks import FakeClock
from tests.unit.planning.asked import RoomRequest


def request_of(
    cluster: Cluster,
    *,
    fixed: Sequence[str] = (),
    groups: Sequence[DisruptionGroup] = (),
    limits: MoveLimits | None = None,
    is_guided_by_holds: bool = True,
    seed: int = 0,
    deadline_seconds: float = PLENTY,
) -> RoomRequest:
    """All running pods may move but those named in ``fixed``; all pending ones are to be helped."""
    columns = columns_of(cluster)
    return RoomRequest(
        prediction=SchedulerModel(columns),
        placement=Placement(columns),
        eligibility=Eligibility(
            movable=tuple(n for n, pod in enumerate(cluster.pods) if pod.node_name and pod.name not in fixed),
            refusals={},
            helpable=tuple(number for number, pod in enumerate(cluster.pods) if pod.is_pending),
            not_helpable={},
            groups=tuple(groups),
            limits=limits or MoveLimits(),
        ),
        is_guided_by_holds=is_guided_by_holds,
        deadline_seconds=deadline_seconds,
        seed=seed,
        clock=FakeClock(),
    )


def problem_of(request: RoomRequest) -> Problem:
    """The planner's view of a request."""
    return Problem(request.prediction, request.placement, request.eligibility)


def endless() -> Deadline:
    """A deadline that is never reached."""
    return Deadline(FakeClock(), PLENTY)


def index(cluster: Cluster, name: str) -> int:
    """Index of a pod by its name."""
    return next(number for number, pod in enumerate(cluster.pods) if pod.name == name)


def moves_by_name(cluster: Cluster, answer: ObjectivePlan) -> dict[str, tuple[str, int]]:
    """Moved pods with their new node and wave, by name."""
    return {cluster.pods[m.pod].name: (cluster.nodes[m.to_node].name, m.wave) for m in answer.moves}


def places_by_name(cluster: Cluster, answer: ObjectivePlan) -> dict[str, tuple[str, int]]:
    """Helped pods with their node and wave, by name."""
    return {cluster.pods[p.pod].name: (cluster.nodes[p.node].name, p.wave) for p in answer.placements}
