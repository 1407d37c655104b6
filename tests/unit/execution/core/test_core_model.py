"""The core in every order of answers, progress, faults and death: nothing is sent that must not be, and all ends."""

from __future__ import annotations

import pytest

from rescheduler.execution.core import step as core
from rescheduler.execution.core.events import Accepted, Allowed, Ask, Awake
from rescheduler.execution.core.move_state import MoveStage, Order, RunRules, RunState, beginning
from tests.unit.execution.core.core_model import Explorer

FREE = Order()


def needing(*needs: int, place: str | None = None, is_led: bool = False, rank: int = 0) -> Order:
    """An order that needs these moves."""
    return Order(frozenset(needs), place, is_led, rank)


PLANS = {
    "two that are free": (FREE, FREE),
    "a chain": (needing(rank=2), needing(0, rank=1), needing(1)),
    "a fork": (needing(rank=2), needing(0), needing(0)),
    "a join": (needing(rank=1), needing(rank=1), needing(0, 1)),
    "two places": (needing(place="a"), needing(place="a"), needing(place="b")),
    "led ones and others": (needing(place="a", is_led=True), needing(place="b", is_led=True), needing()),
    "a chain of four": (needing(rank=3), needing(0, rank=2), needing(1, rank=1), needing(2)),
    "a diamond": (needing(rank=3), needing(0, rank=1), needing(0, rank=1), needing(1, 2)),
    "four led to two nodes": tuple(needing(place=place, is_led=True) for place in "aabb"),
    "two pairs": (needing(rank=1), needing(0), needing(rank=1, place="b"), needing(2, place="b")),
}


@pytest.mark.parametrize(
    ("name", "in_flight"),
    [(name, number) for name, plan in PLANS.items() for number in ((2,) if len(plan) > 3 else (1, 2, 10))],
)
def test_no_order_of_events_sends_what_must_not_be_sent(name: str, in_flight: int) -> None:
    """Intent before request, leave right before the intent, needs settled, places one at a time, none twice."""
    explorer = Explorer(RunRules(PLANS[name], in_flight), faults=1)
    number, wrong = explorer.explore(400_000)
    assert wrong == []
    assert number > 50
    assert (MoveStage.SETTLED,) * len(PLANS[name]) in explorer.ends or _all_evicted(explorer, len(PLANS[name]))


def _all_evicted(explorer: Explorer, number: int) -> bool:
    """Whether in some order all moves have left and found a node."""
    return any(
        sum(stage >= MoveStage.BOUND and stage <= MoveStage.SETTLED for stage in end) == number for end in explorer.ends
    )


def test_a_core_that_opens_two_places_at_once_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model sees that one replacement could take the other's room."""
    monkeypatch.setattr(core, "_way_is_free", lambda *_: True)
    _, wrong = Explorer(RunRules(PLANS["two places"], 10), faults=1).explore(400_000)
    assert "looks for a node" in wrong[0]


def test_a_core_that_forgets_needs_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A move that starts before what it needs is settled is told."""
    planned = MoveStage.PLANNED

    def all_planned(rules: RunRules, state: RunState) -> list[int]:
        return [move for move in range(len(rules.orders)) if state.stages[move] is planned]

    monkeypatch.setattr(core, "ready_moves", all_planned)
    _, wrong = Explorer(RunRules(PLANS["a chain"], 10)).explore(400_000)
    assert "before what it needs" in wrong[0]


def test_an_answer_that_nobody_asked_for_is_a_fault() -> None:
    """It must not let anything go."""
    rules = RunRules((FREE, FREE))
    state, actions = core.step(rules, beginning(rules), Awake(), 0.0)
    assert actions == (Ask(0),)
    with pytest.raises(ValueError, match="at hand"):
        core.step(rules, state, Allowed(1), 0.0)
    with pytest.raises(ValueError, match="at hand"):
        core.step(rules, state, Accepted(0), 0.0)
