"""Which nodes a plan empties, and which of them are empty."""

from __future__ import annotations

from rescheduler.execution.landing.emptied import emptied_nodes, promised_empty, standing_on
from rescheduler.execution.landing.verifier import still_used
from rescheduler.model.objects.annotations import MIRROR
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.execution.worlds import plan_of


def test_a_node_is_emptied_where_everybody_leaves_and_nobody_comes() -> None:
    """One that keeps a pod, and one that a move leads to, are not."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)),
        pod("a-0", node="n0"), pod("b-0", node="n1"), pod("stay-0", node="n1"), pod("c-0", node="n2"),
    )  # fmt: skip
    plan = plan_of(start, [("a-0", "n2", 1), ("b-0", "n3", 1), ("c-0", "n3", 1)])
    assert emptied_nodes(plan, plan.moves, start) == ("n0",)


def test_a_node_that_was_left_earlier_counts_while_nobody_new_is_there() -> None:
    """A plan that goes on keeps what its first half emptied."""
    start = cluster(*(node(f"n{number}", "4") for number in range(3)), pod("a-0", node="n0"), pod("b-0", node="n1"))
    plan = plan_of(start, [("a-0", "n2", 1), ("b-0", "n2", 2)])
    later = cluster(*start.nodes, pod("b-0", node="n1"), pod("a-1", node="n2"))
    assert emptied_nodes(plan, plan.moves[1:], later) == ("n0", "n1")
    taken = cluster(*later.nodes, *later.pods, pod("new-0", node="n0"))
    assert emptied_nodes(plan, plan.moves[1:], taken) == ("n1",)
    gone = cluster(node("n1", "4"), node("n2", "4"), *later.pods)
    assert emptied_nodes(plan, plan.moves[1:], gone) == ("n1",)


def test_only_nodes_emptied_for_their_own_sake_are_promised() -> None:
    """That a hot node's last pod leaves it is no promise."""
    start = cluster(*(node(f"n{number}", "4") for number in range(3)), pod("a-0", node="n0"), pod("b-0", node="n1"))
    spread = plan_of(start, [("a-0", "n2", 1)], objective="SpreadLoad")
    empty = plan_of(start, [("b-0", "n2", 1)], objective="EmptyNodes")
    assert promised_empty((*spread.moves, *empty.moves), ("n0", "n1")) == ("n1",)


def test_pods_that_belong_to_the_node_or_are_on_their_way_out_do_not_count() -> None:
    """DaemonSets, static pods, and what ends."""
    start = cluster(
        node("n0", "4"), pod("web-0", node="n0"), pod("agent-0", node="n0", kind="DaemonSet"),
        pod("static-0", node="n0", owner=None, annotations={MIRROR: "x"}), pod("old-0", node="n0", deletion_at=NOW),
        pod("done-0", node="n0", phase="Succeeded", is_ready=False),
    )  # fmt: skip
    assert [item.name for item in standing_on(start, "n0")] == ["web-0"]


def test_a_node_that_is_not_empty_is_told_with_some_of_its_pods() -> None:
    """Three by name, the others by number."""
    pods = [pod(f"web-{number}", "100m", node="n0") for number in range(5)]
    start = cluster(node("n0", "4"), node("n1", "4"), *pods, workload("web", 5))
    assert still_used(("n0", "n1"), start) == [
        "node n0 was to be empty, but default/web-0, default/web-1, default/web-2 and 2 more stand there"
    ]
