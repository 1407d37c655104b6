"""The rehearsal of a first try."""

from __future__ import annotations

from rescheduler.adapters.clock import SystemClock
from rescheduler.daemon.rounds.rehearsal import rehearse


def test_it_goes_the_whole_way_to_a_plan_that_moves_a_pod() -> None:
    """So that whatever is loaded at first use is loaded then: planner, solver and checker."""
    plan = rehearse(SystemClock())
    assert [(move.pod.name, move.to_node) for move in plan.moves] == [("goes", "second")]
    assert [(item.pod.name, item.node) for item in plan.placements] == [("comes", "first")]
