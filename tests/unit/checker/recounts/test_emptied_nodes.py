"""Nodes that a plan empties, counted again beside ``maxNodes``."""

from __future__ import annotations

import pytest

from rescheduler.checker.recounts.emptied_nodes import too_many_emptied
from rescheduler.model.plan.plan import Move, Plan, PlannedPlacement
from rescheduler.policy.fields.objectives import EmptyNodesArgs
from rescheduler.policy.fields.selectors import NodeSelector
from tests.builders import cluster, node, pod
from tests.unit.report.plans import reference, small_plan

CLUSTER = cluster(
    node("n1", labels={"pool": "a"}), node("n2"), node("n3"), node("n4"),
    pod("one", "1", node="n1"), pod("two", "1", node="n2"), pod("three", "1", node="n3"), pod("waits", "1"),
)  # fmt: skip


def moved(*origins: str, by: str = "EmptyNodes", to: str = "n4") -> Plan:
    """A plan in which the pod of each of these nodes leaves."""
    names = {"n1": "one", "n2": "two", "n3": "three"}
    moves = tuple(Move(reference(names[origin]), origin, to, 1, by, "") for origin in origins)
    return small_plan(moves=moves, placements=())


def told(plan: Plan, **args: object) -> list[str]:
    """What is wrong with the plan."""
    return list(too_many_emptied(CLUSTER, plan, EmptyNodesArgs.model_construct(**{"max_nodes": 2, **args})))


def test_more_nodes_than_allowed_are_a_violation() -> None:
    """As many as allowed are none, and without a limit nothing is."""
    assert told(moved("n1", "n2")) == []
    assert told(moved("n1", "n2", "n3")) == ["3 nodes emptied, and maxNodes allows 2"]
    assert told(moved("n1", "n2", "n3"), max_nodes=None) == []


@pytest.mark.parametrize(
    "plan",
    [
        moved("n1", "n2", "n3", by="SpreadLoad"),
        moved("n1", "n2", "n3", to="n1"),
        small_plan(moves=moved("n1", "n2", "n3").moves, placements=(PlannedPlacement(reference("waits"), "n2", 1),)),
    ],
)
def test_only_what_the_objective_itself_empties_counts(plan: Plan) -> None:
    """Not what others empty, nor a node that somebody comes to."""
    assert told(plan) == []


def test_nodes_that_are_not_asked_for_do_not_count() -> None:
    """Those that the selector leaves out."""
    assert (
        told(moved("n1", "n2", "n3"), node_selector=NodeSelector.model_validate({"matchLabels": {"pool": "a"}})) == []
    )
