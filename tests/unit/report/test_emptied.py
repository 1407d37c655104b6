"""Which nodes a plan leaves empty."""

from __future__ import annotations

import pytest

from rescheduler.model.annotations import MIRROR
from rescheduler.model.plan import Move, OutcomeKind, PlannedPlacement
from rescheduler.model.pod import Pod
from rescheduler.report.emptied import emptied_nodes
from tests.builders import NOW, cluster, node, pod
from tests.unit.report.large_plans import carried_out
from tests.unit.report.plans import reference, small_plan

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
