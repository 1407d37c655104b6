"""The live table on a terminal: few lines that stay, moves at rest that scroll by, and a clean screen at the end."""

from __future__ import annotations

import io

from rich.console import Console

from rescheduler.cli.following.followers import LiveFollower
from rescheduler.cli.progress import ShownProgress
from rescheduler.model.plan.move_change import MoveChange, MoveState
from tests.unit.report.plans import small_plan


def _terminal() -> tuple[Console, io.StringIO]:
    screen = io.StringIO()
    return Console(file=screen, force_terminal=True, width=100, height=20, markup=False, highlight=False), screen


def test_moves_at_rest_scroll_by_and_the_table_goes_at_the_end() -> None:
    """One line for each of them, in order, none for a step between."""
    out, screen = _terminal()
    plan = small_plan()
    move = plan.moves[0]
    follower = LiveFollower(ShownProgress(), out)
    follower.begin(plan)
    for state in (MoveState.PLANNED, MoveState.EVICTED, MoveState.BOUND, MoveState.SETTLED):
        follower.hear(MoveChange("", move.pod, state, move.from_node, move.to_node, move.to_node))
    follower("verifying")
    follower.close()
    shown = screen.getvalue()
    assert shown.count(f"settled   {move.pod.key}") == 1
    assert f"bound     {move.pod.key}" not in shown
    assert shown.rstrip().endswith("\x1b[2K"), "the last thing that is done is to clear the table's lines"


def test_the_table_says_how_far_it_is() -> None:
    """States, nodes, pods that get in, and what is being done, in a few lines."""
    out, screen = _terminal()
    follower = LiveFollower(ShownProgress(), out)
    plan = small_plan()
    follower.begin(plan)
    follower("placing pending pods", 0, 1)
    out.print(follower._view())
    follower.close()
    shown = screen.getvalue()
    assert f"{len(plan.moves)} planned" in shown
    assert f"{plan.moves[0].from_node} 1 of 1" in shown
    assert f"0 of {len(plan.placements)}" in shown
    assert "placing pending pods" in shown


def test_closing_without_a_plan_does_no_harm() -> None:
    """Somebody said no; closing twice is as good as once."""
    out, screen = _terminal()
    follower = LiveFollower(ShownProgress(), out)
    follower("reading the cluster")
    follower.close()
    follower.close()
    assert screen.getvalue() == ""
