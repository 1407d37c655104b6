"""The fidelity benchmark judges cases rightly, and its sums and table say what was found."""

from __future__ import annotations

import pytest

from benchmarks.fidelity.comparison import ALL, Foretold, Judgement, Seen, same_reasons, tally
from benchmarks.fidelity.table import share, table

FAILURE = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."
ADDED = " no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful."


@pytest.mark.parametrize(
    ("foretold", "seen", "is_same"),
    [
        (FAILURE, FAILURE + ADDED, True),
        (FAILURE, FAILURE, True),
        (FAILURE.replace("1 I", "2 I"), FAILURE + ADDED, False),
        ("0/2 nodes are available: 1 Insufficient cpu.", FAILURE + ADDED, False),
        (FAILURE, "0/2 nodes are available: 1 Insufficient cpu." + ADDED, False),
        ("", FAILURE, False),
        ("no nodes available", "no nodes available to schedule pods", False),
        ("0/1 nodes are available: 1 a.", "0/1 nodes are available: 1 a.b.", False),
    ],
)
def test_reasons_are_the_same_only_as_a_whole(foretold: str, seen: str, is_same: bool) -> None:
    """Every reason with its number of nodes; what the scheduler adds after them does not count."""
    assert same_reasons(foretold, seen) is is_same


PLACED = Foretold(("a", "b"), 4)
REFUSED = Foretold((), 0, FAILURE)


@pytest.mark.parametrize(
    ("foretold", "seen", "verdict", "message", "in_best", "expected"),
    [
        (PLACED, Seen("a"), True, False, True, True),
        (PLACED, Seen("c"), True, False, False, False),
        (PLACED, Seen(None, FAILURE), False, False, False, False),
        (REFUSED, Seen(None, FAILURE + ADDED), True, True, False, True),
        (REFUSED, Seen(None, "0/2 nodes are available: 2 Insufficient cpu."), True, False, False, False),
        (REFUSED, Seen("a"), False, False, False, False),
    ],
)
def test_a_case_agrees_only_in_all_that_can_be_compared(
    foretold: Foretold, seen: Seen, verdict: bool, message: bool, in_best: bool, expected: bool
) -> None:
    """The verdict alone is not enough: the node must be among the best, or the words the same."""
    case = Judgement("p", foretold, seen)
    found = (case.has_verdict, case.has_message, case.is_in_best, case.is_expected)
    assert found == (verdict, message, in_best, expected)


CASES = (
    Judgement("y", PLACED, Seen("a")),
    Judgement("y", Foretold(("a",), 4), Seen("b")),
    Judgement("x", Foretold(("a",), 1), Seen("a")),
    Judgement("x", REFUSED, Seen(None, FAILURE + ADDED)),
    Judgement("x", REFUSED, Seen("a")),
)


def test_sums_by_profile_and_over_all() -> None:
    """A node without alternative counts as placed, not as a choice."""
    rows = tally(CASES)
    assert list(rows) == ["x", "y", ALL]
    assert rows["x"].as_data() == {
        "cases": 3, "verdicts": 2, "unschedulable": 1, "messages": 1, "placed": 2, "in_best": 1,
        "choices": 0, "single": 0, "luck": 0.0,
    }  # fmt: skip
    assert (rows["y"].choices, rows["y"].single, rows["y"].luck, rows["y"].in_best) == (2, 1, 0.75, 1)
    assert rows[ALL].cases == len(CASES)


def test_the_table_has_a_line_for_each_profile() -> None:
    """Under one head, columns aligned, nothing at the end of lines."""
    lines = table(tally(CASES)).splitlines()
    assert [line.split()[0] for line in lines] == ["profile", "x", "y", "all"]
    assert lines[1].split() == ["x", "3", "66.7", "%", "1", "100", "%", "2", "50.0", "%", "-", "-"]
    assert all(line == line.rstrip() for line in lines)


def test_a_share_is_100_only_if_nothing_is_missing() -> None:
    """One miss among ten thousand shows."""
    assert [share(9999, 10000), share(7, 7), share(0, 3), share(0, 0)] == ["99.9 %", "100 %", "0.0 %", "-"]
