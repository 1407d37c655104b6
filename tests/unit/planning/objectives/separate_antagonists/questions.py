"""Plan requests, and what objectives answer as plans that the independent checker reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rescheduler.checker.checker import check_plan
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.model.plan.plan import Move, ObjectiveResult, Plan, reference_to
from rescheduler.planning.lexicographic.document import summary_of
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import PLENTY
from tests.clocks import FakeClock


def question(
    cluster: Cluster,
    *,
    fixed: Sequence[str] = (),
    groups: Sequence[DisruptionGroup] = (),
    limits: MoveLimits | None = None,
    **fields: Any,
) -> PlanRequest:
    """All running pods may move but terminating ones and those named in ``fixed``."""
    columns = columns_of(cluster)
    movable = tuple(
        number
        for number, pod in enumerate(cluster.pods)
        if pod.node_name and pod.name not in fixed and not pod.is_terminating
    )
    defaults: dict[str, Any] = {
        "prediction": SchedulerModel(columns),
        "placement": Placement(columns),
        "is_guided_by_holds": True,
        "deadline_seconds": PLENTY,
        "seed": 0,
        "clock": FakeClock(),
    }
    eligibility = Eligibility(movable, {}, (), {}, tuple(groups), limits or MoveLimits())
    return PlanRequest(eligibility=eligibility, **{**defaults, **fields})


def plan_of(question: PlanRequest, answer: ObjectivePlan, name: str) -> Plan:
    """The answer as a plan of one objective."""
    cluster = question.prediction.columns.cluster
    result = ObjectiveResult(
        name, answer.status, answer.value, answer.bound, answer.gap, answer.unit, 0.0, answer.message
    )
    moves = tuple(
        Move(
            pod=reference_to(cluster.pods[move.pod]),
            from_node=cluster.pods[move.pod].node_name or "",
            to_node=cluster.nodes[move.to_node].name,
            wave=move.wave,
            objective=name,
            reason=move.reason,
            needs_guidance=move.needs_guidance,
        )
        for move in answer.moves
    )
    return Plan(summary_of(cluster), (result,), moves)


def violations(question: PlanRequest, plan: Plan) -> list[str]:
    """What the independent checker says against a plan."""
    cluster = question.prediction.columns.cluster
    return [found.message for found in check_plan(cluster, plan, question.eligibility)]
