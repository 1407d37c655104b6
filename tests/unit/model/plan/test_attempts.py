"""What several attempts at one plan come to together."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.model.plan.attempts import dropped, is_as_planned, joined, last_attempt
from rescheduler.model.plan.plan import (
    MoveOutcome,
    OutcomeKind,
    PlacementOutcome,
    PlanResult,
    PodReference,
    SnapshotSummary,
    WaveMark,
)

LEFT, LANDED, UNKNOWN = OutcomeKind.NOT_ATTEMPTED, OutcomeKind.LANDED, OutcomeKind.UNKNOWN


def move(name: str, outcome: OutcomeKind, wave: int = 1, **fields: Any) -> MoveOutcome:
    """A move of a pod from n0 to n1."""
    reference = PodReference("default", name, f"uid-{name}")
    known = {"from_node": "n0", "to_node": "n1", "objective": "MakeRoom", **fields}
    return MoveOutcome(pod=reference, wave=wave, reason="because", outcome=outcome, **known)


def place(name: str, outcome: OutcomeKind, wave: int = 1) -> PlacementOutcome:
    """A pending pod on n0."""
    return PlacementOutcome(PodReference("default", name, f"uid-{name}"), "n0", wave, outcome=outcome)


def result(*moves: MoveOutcome, places: tuple[PlacementOutcome, ...] = (), **fields: Any) -> PlanResult:
    """What one attempt came to."""
    return PlanResult(SnapshotSummary(None, 2, 2, 1, "test"), moves=moves, placements=places, **fields)


FIRST = result(move("a", LANDED), move("b", LEFT, 2), places=(place("big", LEFT, 2),), message="b stays")


def test_one_attempt_is_its_own_result() -> None:
    """Nothing is written of attempts."""
    assert joined([FIRST]) == FIRST
    assert last_attempt(joined([FIRST])) is None


def test_moves_of_later_attempts_stand_after_the_first_ones_with_their_number() -> None:
    """Their waves are counted on; what is said is what the last one says."""
    second = result(move("b", LEFT), message="b stays again")
    third = result(move("c", LANDED), move("b", LANDED, 2), places=(place("big", LANDED, 0),), warnings=("so",))
    whole = joined([FIRST, second, third])
    assert [(item.pod.name, item.wave, item.attempt) for item in whole.moves[2:]] == [
        ("b", 3, 2), ("c", 4, 3), ("b", 5, 3),
    ]  # fmt: skip
    assert whole.moves[:2] == FIRST.moves
    assert [(item.outcome, item.wave) for item in whole.placements] == [(LANDED, 0)]
    assert (whole.message, whole.warnings, last_attempt(whole)) == ("", ("so",), 3)


def test_waves_whose_pods_leave_first_stay_marked() -> None:
    """By their numbers in the whole."""
    swap = result(move("b", LANDED, evict_first=True), waves=(WaveMark(1, evict_first=True),))
    assert joined([FIRST, swap]).waves == (WaveMark(3, evict_first=True),)


@pytest.mark.parametrize(("outcome", "is_well"), [(LANDED, True), (OutcomeKind.LANDED_ELSEWHERE, True), (LEFT, False)])
def test_a_move_that_was_planned_again_is_judged_by_its_last_attempt(outcome: OutcomeKind, is_well: bool) -> None:
    """Placements as well."""
    second = result(move("b", outcome), places=(place("big", LANDED),))
    assert is_as_planned(joined([FIRST, second])) is is_well


def test_a_move_that_no_later_attempt_has_is_one_that_was_left() -> None:
    """Though others did what it was for: it is told, and the exit code is 1."""
    assert not is_as_planned(joined([FIRST, result(move("c", LANDED), places=(place("big", LANDED),))]))


def test_a_pod_that_strays_to_a_node_that_was_to_be_empty_is_harm_in_any_attempt() -> None:
    """Also where the one that came there was planned again."""
    emptying = {"objective": "EmptyNodes"}
    stray = structs.replace(move("b", OutcomeKind.LANDED_ELSEWHERE, from_node="n2", **emptying), landed_on="n0")
    first = result(move("a", LANDED, **emptying), move("b", LEFT, from_node="n2", **emptying))
    assert not is_as_planned(joined([first, result(stray)]))


def test_what_no_later_attempt_plans_again_was_dropped() -> None:
    """Not what was made, may have been made, or is planned again; and nothing where there was but one attempt."""
    first = result(*(move(name, how) for name, how in (("a", LANDED), ("b", LEFT), ("c", LEFT), ("d", UNKNOWN))))
    assert dropped(first) == []
    whole = joined([first, result(move("b", LEFT), move("e", LEFT)), result(move("e", LEFT))])
    assert [item.pod.name for item in dropped(whole)] == ["b", "c"]
