"""A cluster with one plan for it, and what became of that plan, for tests of reports and commands."""

from __future__ import annotations

from msgspec.structs import asdict, replace

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import (
    Move,
    MoveOutcome,
    ObjectiveResult,
    OutcomeKind,
    PlacementOutcome,
    Plan,
    PlannedPlacement,
    PlanResult,
    PodReference,
    Refusal,
    SnapshotSummary,
    Status,
)
from tests.builders import cluster, node, pod

HOSTILE = 'x\x1b[31m[red]<b>&"\n\u202e'


def small_cluster() -> Cluster:
    """Two nodes of 4 cores with 2 and 3 in use, and a pending pod of 3 cores; one pod of 1 core may make way."""
    return cluster(
        node("n1"),
        node("n2"),
        pod("web-1", "1", node="n1"),
        pod("db-1", "1", node="n1"),
        pod("web-2", "3", node="n2"),
        pod("big-1", "3"),
    )


def reference(name: str) -> PodReference:
    """A pod of the namespace ``default`` with the uid that builders give."""
    return PodReference("default", name, f"uid-default-{name}")


def small_plan(**changes: object) -> Plan:
    """Move web-1 from n1 to n2 in wave 1, and big-1 gets n1."""
    plan = Plan(
        snapshot=SnapshotSummary("2027-01-15T08:00:00Z", 2, 4, 1, "test"),
        objectives=(ObjectiveResult("MakeRoom", Status.OPTIMAL, 1, 1, 0.0, "evictions", 0.25, helped=1, wanted=1),),
        moves=(Move(reference("web-1"), "n1", "n2", 1, "MakeRoom", "makes room for default/big-1"),),
        placements=(PlannedPlacement(reference("big-1"), "n1", 1),),
        refusals=(Refusal("SingleReplica", "default/db-1 is the only replica", pod=reference("db-1")),),
    )
    return replace(plan, **changes)


def objective(**changes: object) -> ObjectiveResult:
    """The small plan's objective with changes."""
    return replace(small_plan().objectives[0], **changes)


def small_result(outcome: OutcomeKind = OutcomeKind.LANDED, message: str = "") -> PlanResult:
    """The small plan carried out; ``outcome`` is that of its move."""
    plan = small_plan()
    return PlanResult(
        snapshot=plan.snapshot,
        objectives=plan.objectives,
        moves=tuple(MoveOutcome(**asdict(move), outcome=outcome, landed_on="n2") for move in plan.moves),
        placements=tuple(
            PlacementOutcome(**asdict(place), outcome=OutcomeKind.LANDED, landed_on="n1") for place in plan.placements
        ),
        refusals=plan.refusals,
        message=message,
    )
