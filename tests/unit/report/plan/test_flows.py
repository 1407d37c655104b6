"""Where pods go by a plan, and where they went by a result."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.annotations import MIRROR
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, OutcomeKind, PlannedPlacement
from rescheduler.report.plan.flows import emptied_nodes, flows_of, is_evicted
from tests.builders import NOW, cluster, node, pod
from tests.unit.report.large_plans import carried_out, chain
from tests.unit.report.plans import reference, small_plan, small_result

# Which nodes a plan leaves empty.

MOVE = Move(reference("web-1"), "n1", "n2", 1, "EmptyNodes", "empties n1")
PLAN = small_plan(moves=(MOVE,), placements=())


@pytest.mark.parametrize(
    ("other", "is_emptied"),
    [
        (pod("db-1", node="n1"), False),
        (pod("agent-1", node="n1", kind="DaemonSet"), True),
        (pod("proxy-n1", node="n1", kind="Node"), True),
        (pod("proxy-n1", node="n1", owner=None, annotations={MIRROR: "x"}), True),
        (pod("old-1", node="n1", deletion_at=NOW), True),
        (pod("done-1", node="n1", phase="Succeeded"), True),
        (pod("db-1", node="n2"), True),
    ],
)
def test_a_node_is_empty_once_only_pods_are_left_that_go_with_it(other: Pod, is_emptied: bool) -> None:
    """Pods of DaemonSets and static ones do not count, nor do those that are ending by themselves."""
    found = cluster(node("n1"), node("n2"), pod("web-1", node="n1"), other)
    assert emptied_nodes(PLAN, found) == (("n1",) if is_emptied else ())


def test_a_node_that_gets_pods_is_not_emptied() -> None:
    """Moved or pending ones."""
    found = cluster(node("n1"), node("n2"), pod("web-1", node="n1"), pod("db-1", node="n2"), pod("big-1"))
    back = Move(reference("db-1"), "n2", "n1", 2, "MakeRoom", "")
    assert emptied_nodes(small_plan(moves=(MOVE, back), placements=()), found) == ()
    assert (
        emptied_nodes(small_plan(moves=(MOVE,), placements=(PlannedPlacement(reference("big-1"), "n1", 1),)), found)
        == ()
    )


@pytest.mark.parametrize("kind", OutcomeKind)
def test_of_a_result_nodes_count_that_are_empty_now(kind: OutcomeKind) -> None:
    """Not those whose pods were refused, or came back."""
    found = cluster(node("n1"), node("n2"), pod("web-1", node="n1"))
    is_gone = kind in (OutcomeKind.LANDED, OutcomeKind.UNKNOWN)
    assert emptied_nodes(carried_out(PLAN, [kind]), found) == (("n1",) if is_gone else ())


def test_names_that_the_cluster_does_not_have_are_left_out() -> None:
    """A plan of another cluster empties nothing."""
    assert emptied_nodes(PLAN, cluster(node("n2"))) == ()
    assert emptied_nodes(PLAN, cluster(node("n1"), node("n2"))) == ()


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
