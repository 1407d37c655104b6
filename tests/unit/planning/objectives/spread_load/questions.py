"""Questions about spreading load, from clusters made by the builders, with requests standing in for use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import PLENTY
from tests.clocks import FakeClock


def question_of(
    cluster: Cluster,
    *,
    fixed: Sequence[str] = (),
    groups: Sequence[DisruptionGroup] = (),
    limits: MoveLimits | None = None,
    is_guided_by_holds: bool = True,
    move_cost: float = 0.0,
    seed: int = 0,
    deadline_seconds: float = PLENTY,
) -> PlanRequest:
    """All running pods may move but those named in ``fixed``."""
    columns = columns_of(cluster)
    return PlanRequest(
        prediction=SchedulerModel(columns),
        placement=Placement(columns),
        eligibility=Eligibility(
            movable=tuple(n for n, pod in enumerate(cluster.pods) if pod.node_name and pod.name not in fixed),
            refusals={},
            helpable=(),
            not_helpable={},
            groups=tuple(groups),
            limits=limits or MoveLimits(),
        ),
        is_guided_by_holds=is_guided_by_holds,
        deadline_seconds=deadline_seconds,
        seed=seed,
        clock=FakeClock(),
        move_cost=move_cost,
    )


def use_of(question: PlanRequest, cores: Mapping[str, float], *, unknown: Sequence[str] = ()) -> ObservedUse:
    """Cores that pods use, by name (others nothing); nodes named in ``unknown`` have no trusted load."""
    columns = question.prediction.columns
    use = np.array([[1000.0 * cores.get(pod.name, 0.0) for pod in columns.cluster.pods]])
    is_known = np.array([node.name not in unknown for node in columns.cluster.nodes], dtype=np.bool_)
    nothing = np.zeros((1, columns.node_count))
    return ObservedUse(("cpu",), columns.allocatable[:1].astype(float), use, nothing, is_known)


def requested(question: PlanRequest) -> ObservedUse:
    """Cpu and memory as requested."""
    columns = question.prediction.columns
    nothing = np.zeros((2, columns.node_count))
    return ObservedUse(
        ("cpu", "memory"),
        columns.allocatable[:2].astype(float),
        columns.requests[:2, columns.shape_of].astype(float),
        nothing,
        np.ones(columns.node_count, dtype=np.bool_),
    )


def moved(question: PlanRequest, answer: ObjectivePlan) -> dict[str, str]:
    """Destination of each moved pod, by names."""
    cluster = question.prediction.columns.cluster
    return {cluster.pods[move.pod].name: cluster.nodes[move.to_node].name for move in answer.moves}
