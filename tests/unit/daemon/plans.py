"""Small plans, rounds and a listener for tests of those who steer the daemon."""

from __future__ import annotations

from typing import Any

from rescheduler.model.daemon.notices import Notice
from rescheduler.model.daemon.rounds import Occasion, RoundReport
from rescheduler.model.plan.plan import (
    Move,
    MoveOutcome,
    OutcomeKind,
    Plan,
    PlanResult,
    PodReference,
    Refusal,
    SnapshotSummary,
)
from tests.builders import NOW

SNAPSHOT = SnapshotSummary("2026-01-01T00:00:00Z", 2, 3, 1, "test")


def reference(name: str, namespace: str = "default") -> PodReference:
    """A pod as the builders make it."""
    return PodReference(namespace, name, f"uid-{namespace}-{name}")


def plan(*pods: str, to: str = "n2", reason: str = "makes room", refusals: tuple[Refusal, ...] = ()) -> Plan:
    """A plan that moves these pods from n1 in one wave."""
    moves = tuple(Move(reference(name), "n1", to, 1, "MakeRoom", reason) for name in pods)
    return Plan(SNAPSHOT, moves=moves, refusals=refusals)


def result(of: Plan) -> PlanResult:
    """The plan carried out as it was meant."""
    fields = [{name: getattr(move, name) for name in Move.__struct_fields__} for move in of.moves]
    moves = tuple(MoveOutcome(**each, outcome=OutcomeKind.LANDED, landed_on=each["to_node"]) for each in fields)
    return PlanResult(SNAPSHOT, moves=moves)


def report(number: int = 1, **fields: Any) -> RoundReport:
    """A round of mode Approve that ended at once."""
    occasions = (Occasion("PendingPods", "a pod waits", NOW, (reference("big"),)),)
    given = {"occasions": occasions, "started_at": NOW, "ended_at": NOW + 1, "mode": "Approve", "policy_id": "p1"}
    return RoundReport(number, **{**given, **fields})


class Heard:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    def __call__(self, notice: Notice) -> None:
        """Take a notice."""
        self.notices.append(notice)

    @property
    def kinds(self) -> list[str]:
        """Names of what was told, in order."""
        return [type(notice).__name__ for notice in self.notices]
