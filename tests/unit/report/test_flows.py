"""Where pods go by a plan, and where they went by a result."""

from __future__ import annotations

from rescheduler.model.plan import Move, OutcomeKind, PlannedPlacement
from rescheduler.report.flows import flows_of, is_evicted
from tests.unit.report.large_plans import carried_out, chain
from tests.unit.report.plans import reference, small_plan, small_result


def test_moves_and_placements_come_by_wave() -> None:
    """A pending pod follows the moves that make its room; one that fits already is first."""
    _, plan = chain()
    assert [(flow.pod.name, flow.origin, flow.target, flow.wave) for flow in flows_of(plan)] == [
        ("tiny-1", None, "n6", 0),
        ("job-1", "n3", "n5", 1),
        ("api-1", "n2", "n3", 2),
        ("web-1", "n1", "n2", 3),
        ("big-1", None, "n1", 3),
    ]


def test_the_order_of_the_document_does_not_matter() -> None:
    """Waves do."""
    moves = tuple(Move(reference(f"p{wave}"), "n1", "n2", wave, "MakeRoom", "") for wave in (3, 1, 2))
    plan = small_plan(moves=moves, placements=(PlannedPlacement(reference("q"), "n1", 2),))
    assert [flow.wave for flow in flows_of(plan)] == [1, 2, 2, 3]


def test_a_result_tells_what_happened() -> None:
    """Pods that were not evicted stay; others are where they landed, or nobody knows where."""
    kinds = (
        OutcomeKind.LANDED, OutcomeKind.LANDED_ELSEWHERE, OutcomeKind.REFUSED, OutcomeKind.NOT_ATTEMPTED,
        OutcomeKind.UNKNOWN,
    )  # fmt: skip
    moves = tuple(Move(reference(f"p{at}"), "n1", "n2", 1, "MakeRoom", "") for at in range(len(kinds)))
    result = carried_out(small_plan(moves=moves), kinds)
    assert [(flow.pod.name, flow.target) for flow in flows_of(result)] == [("p0", "n2"), ("p1", "n1"), ("p4", None)]
    assert [is_evicted(move) for move in result.moves] == [True, True, False, False, True]


def test_a_placement_that_came_to_nothing_is_no_flow() -> None:
    """The pod is still pending."""
    result = small_result(OutcomeKind.REFUSED)
    assert [flow.pod.name for flow in flows_of(result)] == ["big-1"]
    pending = type(result.placements[0])(pod=reference("big-1"), node="n1", wave=1, outcome=OutcomeKind.NOT_ATTEMPTED)
    assert flows_of(type(result)(snapshot=result.snapshot, placements=(pending,))) == ()
