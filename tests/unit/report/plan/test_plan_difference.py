"""What differs between two plans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rescheduler.model.plan.plan import Move, Plan, PlannedPlacement, Refusal, Status
from rescheduler.report.plan.plan_difference import difference_of, difference_report
from tests.unit.report.plans import objective, reference, small_plan
from tests.unit.report.rendering import rendered


def lines(before: Plan, after: Plan) -> list[str]:
    """The report, line by line."""
    return rendered(list(difference_report(difference_of(before, after))), width=200).splitlines()


def test_equal_plans_do_not_differ_and_time_of_planning_does_not_count() -> None:
    """Nor does when the snapshot was taken."""
    later = replace(
        small_plan(objectives=(objective(seconds=9.0),)),
        snapshot=replace(small_plan().snapshot, taken_at="2028-01-01T00:00:00Z"),
    )
    found = difference_of(small_plan(), later)
    assert found.equal
    assert (found.before["takenAt"], found.after["takenAt"]) == ("2027-01-15T08:00:00Z", "2028-01-01T00:00:00Z")
    assert lines(small_plan(), later) == ["The plans are the same."]


def test_what_came_what_went_and_what_changed_is_told() -> None:
    """Pods are found again by their names."""
    after = small_plan(
        objectives=(objective(status=Status.FEASIBLE, bound=0),),
        moves=(
            Move(reference("web-1"), "n1", "n3", 1, "MakeRoom", "makes room for default/big-1", needs_guidance=True),
            Move(reference("db-1"), "n1", "n2", 2, "MakeRoom", "makes room for default/big-1"),
        ),
        placements=(PlannedPlacement(reference("big-1"), "n1", 2),),
        refusals=(Refusal("Drained", "n2 drains", node="n2"),),
        warnings=("look out",),
    )
    reached = "MakeRoom: OPTIMAL, 1 of 1 pod, 1 evictions"
    assert lines(small_plan(), after) == [
        "Objectives: 1 other",
        f"~ {reached} => MakeRoom: FEASIBLE, 1 of 1 pod, 1 evictions (no plan does better than 0)",
        "Moves: 1 more, 1 other",
        "+ default/db-1 from n1 to n2 in wave 2",
        "~ default/web-1 from n1 to n2 in wave 1 => default/web-1 from n1 to n3 in wave 1, needs guidance",
        "Places for pending pods: 1 other",
        "~ default/big-1 on n1, after wave 1 => default/big-1 on n1, after wave 2",
        "Left alone: 1 more, 1 fewer",
        "- SingleReplica: pod default/db-1: default/db-1 is the only replica",
        "+ Drained: node n2: n2 drains",
        "Warnings: 1 more",
        "+ look out",
    ]


def test_a_field_that_no_line_shows_is_named() -> None:
    """A pod that was made anew has another uid."""
    move = small_plan().moves[0]
    after = small_plan(moves=(replace(move, pod=replace(move.pod, uid="other")),))
    assert lines(small_plan(), after)[-1] == "~ default/web-1 from n1 to n2 in wave 1: pod differs"


@given(st.data())
def test_the_way_back_is_the_way_there_turned_round(data: st.DataObject) -> None:
    """What one direction adds, the other removes; a plan never differs from itself."""
    names = ("web-1", "db-1", "web-2")

    def drawn() -> Plan:
        chosen = data.draw(st.lists(st.sampled_from(names), unique=True))
        ends = data.draw(st.lists(st.sampled_from(("n2", "n3")), min_size=3, max_size=3))
        return small_plan(
            moves=tuple(
                Move(reference(name), "n1", end, 1, "MakeRoom", "") for name, end in zip(chosen, ends, strict=False)
            )
        )

    one, other = drawn(), drawn()
    there, back = difference_of(one, other), difference_of(other, one)
    assert {move["pod"]["name"] for move in there.moves.added} == {move["pod"]["name"] for move in back.moves.removed}
    assert there.equal == back.equal == (set(one.moves) == set(other.moves))
    assert difference_of(one, one).equal


@pytest.mark.parametrize("text", ["", "x\x1b[31m"])
def test_nothing_of_a_cluster_plays_with_the_terminal(text: str) -> None:
    """Whatever a message holds."""
    after = small_plan(warnings=(text,))
    assert "\x1b" not in "".join(lines(small_plan(), after))
