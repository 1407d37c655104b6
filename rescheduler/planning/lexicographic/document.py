"""Turns the planners' answers into the plan that users read: names for indices, refusals that mattered, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
from msgspec import UNSET

from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.columns.arrays import NOWHERE, BoolArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import (
    Move,
    ObjectiveResult,
    Plan,
    PlannedPlacement,
    Refusal,
    SnapshotSummary,
    Status,
    marked_waves,
    reference_to,
)
from rescheduler.model.printable import first_few
from rescheduler.model.times import rfc3339
from rescheduler.planning.lexicographic.lexicographic import PlanInProgress
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlannedMove, PlannedPlace

DIGITS = 9


def plan_document(prediction: SchedulerPrediction, eligibility: Eligibility, so_far: PlanInProgress) -> Plan:
    """Write down what was planned for each objective."""
    columns = prediction.columns
    cluster = columns.cluster
    names = [node.name for node in cluster.nodes]
    moves = tuple(_move(prediction, eligibility, objective, move) for objective, move in so_far.moves)
    return Plan(
        snapshot=summary_of(cluster),
        objectives=tuple(_objective(objective.name, answer, seconds) for objective, answer, seconds in so_far.answers),
        moves=moves,
        placements=tuple(
            PlannedPlacement(pod=reference_to(cluster.pods[place.pod]), node=names[place.node], wave=place.wave)
            for place in so_far.placements
        ),
        refusals=_refusals(prediction, eligibility, so_far),
        warnings=(*cluster.warnings, *so_far.warm.told),
        waves=marked_waves(moves),
    )


def _move(prediction: SchedulerPrediction, eligibility: Eligibility, objective: str, move: PlannedMove) -> Move:
    cluster = prediction.columns.cluster
    return Move(
        pod=reference_to(cluster.pods[move.pod]),
        from_node=cluster.nodes[prediction.columns.initial_node_of[move.pod]].name,
        to_node=cluster.nodes[move.to_node].name,
        wave=move.wave,
        objective=objective,
        reason=move.reason,
        needs_guidance=move.needs_guidance,
        evict_first=move.evict_first or UNSET,
        method=eligibility.method_of(move.pod),
    )


def withdrawn_plan(plan: Plan, violations: Sequence[str]) -> Plan:
    """The same plan without its moves, because the independent checker refused it."""
    told = first_few(violations, 3, "; ", "; and ")
    message = f"the independent checker refused the plan, so nothing is proposed: {told}"
    return msgspec.structs.replace(
        plan,
        objectives=tuple(
            msgspec.structs.replace(
                objective, status=Status.UNKNOWN, value=0, bound=None, gap=None, helped=0, message=message
            )
            for objective in plan.objectives
        ),
        moves=(),
        placements=(),
        warnings=(*plan.warnings, message),
        waves=UNSET,
    )


def summary_of(cluster: Cluster) -> SnapshotSummary:
    """Counts of the snapshot; ``pods`` includes pending ones."""
    return SnapshotSummary(
        taken_at=rfc3339(cluster.taken_at) if cluster.taken_at else None,
        nodes=len(cluster.nodes),
        pods=len(cluster.pods),
        pending_pods=len(cluster.pending_pods),
        source=cluster.source,
    )


def _objective(name: str, answer: ObjectivePlan, seconds: float) -> ObjectiveResult:
    value = rounded(answer.value)
    bound = value if answer.status is Status.OPTIMAL else None if answer.bound is None else rounded(answer.bound)
    answer = replace(answer, value=value, bound=bound)
    return ObjectiveResult(
        name=name,
        status=answer.status,
        value=answer.value if answer.is_judged else None,
        bound=answer.bound,
        gap=answer.gap,
        unit=answer.unit,
        seconds=round(seconds, 3),
        message=answer.message,
        helped=UNSET if answer.helped is None else answer.helped,
        wanted=UNSET if answer.wanted is None else answer.wanted,
        certificate=UNSET if answer.certificate is None else answer.certificate,
    )


def rounded(amount: float) -> float:
    """Without the last digits that sums of fractions leave; whole numbers as such."""
    return amount if isinstance(amount, int) else int(amount) if amount == int(amount) else round(amount, DIGITS)


def _refusals(prediction: SchedulerPrediction, eligibility: Eligibility, so_far: PlanInProgress) -> tuple[Refusal, ...]:
    """What the objectives were refused; where pods wait: who cannot be helped, and who was left alone in their way."""
    columns = prediction.columns
    found: list[Refusal] = []
    if any(answer.wanted is not None for _, answer, _ in so_far.answers):
        found += [eligibility.not_helpable[pod] for pod in sorted(eligibility.not_helpable)]
        wanted = _nodes_wanted(prediction, eligibility, so_far.placements)
        for pod in sorted(eligibility.refusals):
            node = columns.initial_node_of[pod]
            if node != NOWHERE and wanted[node]:
                found.append(eligibility.refusals[pod])
    for _, answer, _ in so_far.answers:
        found += answer.refusals
    return tuple(dict.fromkeys(found))


def _nodes_wanted(
    prediction: SchedulerPrediction, eligibility: Eligibility, placements: Sequence[PlannedPlace]
) -> BoolArray:
    """Nodes that could hold a pending pod once others leave, bool[N]: where a pod left alone mattered."""
    columns: Columns = prediction.columns
    fits_already = {place.pod for place in placements if place.wave == 0}
    wanted = np.zeros(columns.node_count, dtype=np.bool_)
    for pod in eligibility.helpable:
        if pod not in fits_already:
            requests = columns.requests[:, columns.shape_of[pod]]
            is_large_enough = ((requests[:, None] <= columns.allocatable) | (requests[:, None] == 0)).all(axis=0)
            wanted |= prediction.static_feasible(pod) & is_large_enough
    return wanted
