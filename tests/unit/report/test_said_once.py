"""A report says a thing once, and what is too long for a line goes on below its own beginning."""

from __future__ import annotations

import pytest
from rich.text import Text

from rescheduler.model.plan.plan import Refusal, Status
from rescheduler.report.cells import cause, cell, hanging, table
from rescheduler.report.plan.headline import untold
from rescheduler.report.plan.table import plan_report
from tests.unit.report.plans import objective, reference, small_plan
from tests.unit.report.rendering import rendered

LONG = "a node must be added or pods must become movable, and nothing less than that would help anybody here"


@pytest.mark.parametrize(
    ("message", "news"),
    [
        ("1 of 1 pending pod gets a place by 1 eviction", ""),
        ("1 of 1 pending pod gets a place by 1 eviction; proven: no plan needs fewer", ""),
        ("1 of 1 pending pod gets a place by 1 eviction; a note", "a note"),
        ("1 of 1 pending pod gets a place without evictions; a note; another", "a note; another"),
        ("the pending pod fits already", "the pending pod fits already"),
        ("proven: no plan empties any; none is selected", "none is selected"),
        (
            "proven by a linear programme: no rearrangement helps",
            "proven by a linear programme: no rearrangement helps",
        ),
    ],
)
def test_the_message_loses_what_the_sentence_above_it_says(message: str, news: str) -> None:
    """What was reached, its price, and its proof; anything else stays as it is."""
    assert untold(objective(message=message)) == news


def test_what_is_proven_is_kept_where_the_sentence_above_does_not_say_it() -> None:
    """Nothing is known of a bound there."""
    unknown = objective(status=Status.UNKNOWN, value=None, bound=None, message="proven: no plan needs fewer")
    assert untold(unknown) == "proven: no plan needs fewer"


def test_an_infeasible_answer_begins_once_and_has_no_gap() -> None:
    """The second line begins with what the first does not say."""
    told = "0 of 1 pending pod gets a place without evictions; not helped: default/big-1 (no room)"
    answer = objective(status=Status.INFEASIBLE, value=0, bound=0, gap=0.0, helped=0, message=told)
    text = rendered(plan_report(small_plan(objectives=(answer,), moves=(), placements=())))
    assert text.count("0 of 1 pending pod gets a place") == 1
    assert "not helped: default/big-1 (no room)" in text
    assert "gap" not in text


def test_why_does_not_repeat_what() -> None:
    """The name stands in the column before; a message that does not begin with it is told whole."""
    assert cause(Refusal("R", "default/db-1 is alone", pod=reference("db-1"))) == "is alone"
    assert cause(Refusal("R", "n1 stays hot", node="n1")) == "stays hot"
    assert cause(Refusal("R", "n10 stays hot", node="n1")) == "n10 stays hot"
    assert cause(Refusal("R", "nothing is left")) == "nothing is left"
    assert rendered(plan_report(small_plan())).count("default/db-1") == 1


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_long_line_goes_on_below_its_own_beginning(width: int) -> None:
    """Every word stays, no line is wider than the screen, and all but the first are indented."""
    lines = rendered([hanging(cell(f"- {LONG}"), 2)], width).splitlines()
    assert " ".join(line.strip() for line in lines) == f"- {LONG}"
    assert all(len(line) <= width for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])
    assert len(lines) > 1 or width > len(LONG)


def test_blocks_of_a_narrow_screen_are_indented() -> None:
    """A reason of several lines does not look like the beginning of another row."""
    rows = [["n" * 60, LONG], ["m" * 60, LONG]]
    lines = rendered([table(["NODE", "WHY"], rows)], 70).splitlines()
    assert [line[0] for line in lines if not line.startswith(" ")] == ["-", "-"]
    assert any(line.startswith("    ") for line in lines)


def test_a_word_that_is_wider_than_the_screen_is_not_lost() -> None:
    """It breaks."""
    word = "x" * 100
    text = rendered([hanging(Text(f"- {word}"), 2)], 40)
    assert text.replace("\n", "").replace(" ", "") == f"-{word}"
