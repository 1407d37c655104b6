"""A plan in which two pods leave before they arrive, for tests of reports and of plan files."""

from __future__ import annotations

from rescheduler.model.plan.plan import Move, Plan, marked_waves
from tests.unit.report.plans import reference, small_plan


def exchange_plan() -> Plan:
    """In wave 1 a pod moves, in wave 2 two others change places."""
    moves = (
        Move(reference("web-1"), "n1", "n2", 1, "MakeRoom", "makes room"),
        Move(reference("a-1"), "n1", "n2", 2, "MakeRoom", "makes room", needs_guidance=True, evict_first=True),
        Move(reference("b-1"), "n2", "n1", 2, "MakeRoom", "makes room", needs_guidance=True, evict_first=True),
    )
    return small_plan(moves=moves, placements=(), waves=marked_waves(moves))
