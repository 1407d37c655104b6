"""Explanations told to people."""

from __future__ import annotations

from rescheduler.report.explanation import MOST_NODES_SHOWN, Explanation, NodeVerdict, explanation_report
from tests.unit.report.plans import reference, small_plan
from tests.unit.report.rendering import rendered


def test_an_explanation_shows_move_rules_and_verdicts() -> None:
    """The sentence, what the plan does, which rules speak, and each node in the scheduler's words."""
    plan = small_plan()
    told = rendered(
        explanation_report(
            Explanation(
                verdict="Moves",
                message="moves from n1 to n2",
                pod=reference("web-1"),
                moves=plan.moves,
                placements=plan.placements,
                refusals=plan.refusals,
                nodes=(
                    NodeVerdict("n1", False, ("Insufficient cpu", "node(s) were unschedulable")),
                    NodeVerdict("n2", True),
                ),
            )
        )
    )
    assert told.startswith("default/web-1: moves from n1 to n2")
    for piece in ("makes room", "default/big-1", "SingleReplica", "Insufficient cpu; node(s) were unschedulable"):
        assert piece in told
    assert told.index("n2    yes") < told.index("n1    no")


def test_of_many_nodes_the_rest_is_counted() -> None:
    """-o wide holds every node."""
    nodes = tuple(NodeVerdict(f"n{number:03}", False, ("Insufficient cpu",)) for number in range(100))
    answer = Explanation(verdict="Waits", message="waits", node="x", nodes=nodes)
    assert f"and {100 - MOST_NODES_SHOWN} more nodes" in rendered(explanation_report(answer))
    assert "n099" in rendered(explanation_report(answer, wide=True))
