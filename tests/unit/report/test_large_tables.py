"""Plans of thousands of moves stay readable, and nothing is lost in the wide form."""

from __future__ import annotations

from rescheduler.model.plan.plan import OutcomeKind, PlannedPlacement
from rescheduler.report.plan.moves import MOST_SURPRISES_SHOWN, MOST_WAVES_SHOWN
from rescheduler.report.plan.nodes import MOST_NODES_SHOWN, most_changed_first, uses_of
from rescheduler.report.plan.table import plan_report
from tests.unit.report.large_plans import carried_out, chain, emptying, spreading
from tests.unit.report.plans import reference, small_plan
from tests.unit.report.rendering import rendered


def test_a_large_plan_is_counted_by_wave() -> None:
    """One line a wave, and how many more there are."""
    found, plan = spreading(600, 3000, 100)
    lines = rendered(plan_report(plan, found)).splitlines()
    assert len(lines) < 80
    assert "and 2400 moves in 80 more waves" in lines
    start = lines.index("Moves") + 2
    assert [line.split()[:2] for line in lines[start : start + MOST_WAVES_SHOWN]] == [
        [str(wave), "30"] for wave in range(1, MOST_WAVES_SHOWN + 1)
    ]


def test_the_wide_form_lists_every_move_and_every_node() -> None:
    """Whatever their number."""
    found, plan = spreading(600, 3000, 100)
    text = rendered(plan_report(plan, found, wide=True), width=240)
    lines = text.splitlines()
    for move in plan.moves:
        assert move.pod.key in text
    moves = lines[lines.index("Moves") + 2 :]
    assert len(moves) == 3000
    nodes = lines[lines.index("Nodes") + 2 : lines.index("Moves") - 1]
    assert len(nodes) == len(uses_of(plan, found))


def test_nodes_that_change_most_come_first() -> None:
    """Emptied ones, then those that pending pods get, then the others."""
    found, plan = chain()
    order = [use.node.name for use in most_changed_first(uses_of(plan, found), plan, ("n5",))]
    assert order == ["n5", "n1", "n6", "n2", "n3"]


def test_of_many_nodes_the_rest_is_counted() -> None:
    """With a note at those that are empty in the end."""
    found, plan = emptying(60, 30)
    lines = rendered(plan_report(plan, found)).splitlines()
    start = lines.index("Nodes") + 2
    assert all(line.endswith("emptied") for line in lines[start : start + MOST_NODES_SHOWN])
    assert lines[start + MOST_NODES_SHOWN].startswith(f"and {60 - MOST_NODES_SHOWN} more nodes that change")


def test_moves_of_a_large_result_that_ended_otherwise_are_listed() -> None:
    """The first ones; that is what a person looks for."""
    found, plan = spreading(600, 3000, 100)
    kinds = [OutcomeKind.LANDED] * 99 + [OutcomeKind.REFUSED]
    lines = rendered(plan_report(carried_out(plan, kinds), found)).splitlines()
    assert "30 moves that did not end as planned:" in lines
    assert sum("Refused: x" in line for line in lines) == MOST_SURPRISES_SHOWN
    assert "and 10 more" in lines


def test_of_many_placements_the_rest_is_counted() -> None:
    """All of them when wide."""
    places = tuple(PlannedPlacement(reference(f"p{at:03d}"), "n1", 1) for at in range(100))
    plan = small_plan(placements=places)
    assert "and 40 more; -o wide lists each of them." in rendered(plan_report(plan))
    assert "default/p099" in rendered(plan_report(plan, wide=True))


def test_the_table_of_a_result_says_what_was_planned_and_what_came_of_it() -> None:
    """Nodes are shown as they are in the end."""
    found, plan = chain()
    text = rendered(plan_report(carried_out(plan, [OutcomeKind.LANDED, OutcomeKind.REFUSED]), found))
    assert "planned: 2 of 2 pending pods get a place" in text
    assert "Price: 2 evictions in 2 waves; 1 of them needs guidance" in text
    assert "n5    1 -> 3 of 8" in text
    assert "n3    7 -> 5 of 8" in text
