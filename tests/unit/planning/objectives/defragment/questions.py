"""Questions to the planner of Defragment, and its answers as plans that the independent checker reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rescheduler.checker.checker import check_plan
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import requested_amount, resources
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.model.plan.plan import Move, ObjectiveResult, Plan, reference_to
from rescheduler.planning.lexicographic.document import summary_of
from rescheduler.planning.objectives.defragment.wanted_shapes import WeightedShape
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import PLENTY
from tests.clocks import FakeClock
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.tiny import request_for


def shape(weight: float = 1.0, **amounts: str) -> WeightedShape:
    """A shape by its quantities; ``gpu`` is ``nvidia.com/gpu``."""
    names = {"gpu": "nvidia.com/gpu"}
    pairs = ((names.get(name, name), text) for name, text in amounts.items())
    return resources((name, requested_amount(name, text)) for name, text in pairs), weight


def question(
    cluster: Cluster,
    *,
    fixed: Sequence[str] = (),
    groups: Sequence[DisruptionGroup] = (),
    limits: MoveLimits | None = None,
    **fields: Any,
) -> PlanRequest:
    """All running pods may move but those named in ``fixed``."""
    columns = columns_of(cluster)
    movable = tuple(n for n, pod in enumerate(cluster.pods) if pod.node_name and pod.name not in fixed)
    return PlanRequest(
        prediction=SchedulerModel(columns),
        placement=fields.pop("placement", None) or Placement(columns),
        eligibility=Eligibility(movable, {}, (), {}, tuple(groups), limits or MoveLimits()),
        is_guided_by_holds=fields.pop("is_guided_by_holds", True),
        deadline_seconds=fields.pop("deadline_seconds", PLENTY),
        seed=fields.pop("seed", 0),
        clock=FakeClock(),
        **fields,
    )


def question_for(tiny: TinyCluster, **fields: Any) -> PlanRequest:
    """The same question for a tiny cluster."""
    request = request_for(tiny)
    return PlanRequest(
        prediction=request.prediction,
        placement=request.placement,
        eligibility=request.eligibility,
        is_guided_by_holds=fields.pop("is_guided_by_holds", True),
        deadline_seconds=PLENTY,
        seed=fields.pop("seed", 0),
        clock=FakeClock(),
        **fields,
    )


def plan_of(asked: PlanRequest, answer: ObjectivePlan, name: str = "Defragment") -> Plan:
    """The answer as a plan document."""
    cluster = asked.prediction.columns.cluster
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
    return Plan(snapshot=summary_of(cluster), objectives=(result,), moves=moves)


def violations(asked: PlanRequest, answer: ObjectivePlan, name: str = "Defragment") -> list[str]:
    """What the independent checker says against the answer's moves."""
    cluster = asked.prediction.columns.cluster
    return [found.message for found in check_plan(cluster, plan_of(asked, answer, name), asked.eligibility)]


def moves_by_name(asked: PlanRequest, answer: ObjectivePlan) -> dict[str, str]:
    """Moved pods with their new nodes, by name."""
    cluster = asked.prediction.columns.cluster
    return {cluster.pods[move.pod].name: cluster.nodes[move.to_node].name for move in answer.moves}
