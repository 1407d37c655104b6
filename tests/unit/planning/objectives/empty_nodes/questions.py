"""Questions to the planner of EmptyNodes, and its answers as plans that the independent checker reads."""

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
from rescheduler.planning.problem.plan_request import ObjectivePlan
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import PLENTY
from tests.clocks import FakeClock
from tests.unit.planning.asked import EmptyingRequest, plan_empty_nodes
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.tiny import request_for


def question(
    cluster: Cluster,
    *,
    fixed: Sequence[str] = (),
    groups: Sequence[DisruptionGroup] = (),
    limits: MoveLimits | None = None,
    deadline_seconds: float = PLENTY,
    **fields: Any,
) -> EmptyingRequest:
    """All running pods may move but those named in ``fixed``."""
    columns = columns_of(cluster)
    movable = tuple(n for n, pod in enumerate(cluster.pods) if pod.node_name and pod.name not in fixed)
    return EmptyingRequest(
        prediction=SchedulerModel(columns),
        placement=fields.pop("placement", None) or Placement(columns),
        eligibility=Eligibility(movable, {}, (), {}, tuple(groups), limits or MoveLimits()),
        is_guided_by_holds=fields.pop("is_guided_by_holds", True),
        deadline_seconds=deadline_seconds,
        seed=fields.pop("seed", 0),
        clock=FakeClock(),
        **fields,
    )


def question_for(tiny: TinyCluster, **fields: Any) -> EmptyingRequest:
    """The same question for a tiny cluster."""
    request = request_for(tiny)
    return EmptyingRequest(
        prediction=request.prediction,
        placement=request.placement,
        eligibility=request.eligibility,
        is_guided_by_holds=fields.pop("is_guided_by_holds", True),
        deadline_seconds=PLENTY,
        seed=fields.pop("seed", 0),
        clock=FakeClock(),
        **fields,
    )


def violations(request: EmptyingRequest, answer: ObjectivePlan) -> list[str]:
    """What the independent checker says against the answer's moves."""
    cluster = request.prediction.columns.cluster
    plan = Plan(
        snapshot=summary_of(cluster),
        objectives=(
            ObjectiveResult(
                "EmptyNodes", answer.status, answer.value, answer.bound, answer.gap, "nodes", 0.0, answer.message
            ),
        ),
        moves=tuple(
            Move(
                pod=reference_to(cluster.pods[move.pod]),
                from_node=cluster.pods[move.pod].node_name or "",
                to_node=cluster.nodes[move.to_node].name,
                wave=move.wave,
                objective="EmptyNodes",
                reason=move.reason,
                needs_guidance=move.needs_guidance,
            )
            for move in answer.moves
        ),
    )
    return [violation.message for violation in check_plan(cluster, plan, request.eligibility)]


def emptied_names(request: EmptyingRequest) -> tuple[list[str], ObjectivePlan]:
    """Names of the nodes that a plan empties, and the whole answer."""
    answer = plan_empty_nodes(request)
    return [request.prediction.columns.cluster.nodes[node].name for node in answer.closes], answer
