"""Steps of the core, one by one, where the order of all of them says little."""

from __future__ import annotations

from rescheduler.execution.core.events import Accepted, Allowed, Ask, Awake, LookOn, NotYet, Seen, Written
from rescheduler.execution.core.move_state import MoveStage, Order, RunRules, RunState, beginning
from rescheduler.execution.core.step import step

RULES = RunRules((Order(), Order()))


def one_gone_one_crowded(*, is_try: bool) -> RunState:
    """The first move has left, the second is put off for a hundred seconds."""
    state = beginning(RULES)
    for event in (Awake(), Allowed(0), Written(0), Accepted(0), NotYet(1, 100.0, is_try=is_try)):
        state, _ = step(RULES, state, event, 0.0)
    return state


def test_a_move_that_others_are_in_the_way_of_is_due_when_one_of_them_is_ready() -> None:
    """Not before: neither when its replacement is made, nor when that has a node."""
    state = one_gone_one_crowded(is_try=False)
    for stage in (MoveStage.REPLACED, MoveStage.BOUND):
        state, _ = step(RULES, state, Seen(0, stage), 1.0)
        assert step(RULES, state, Awake(), 1.0)[1] == (LookOn(100.0),)
    state, _ = step(RULES, state, Seen(0, MoveStage.READY), 2.0)
    assert step(RULES, state, Awake(), 2.0)[1] == (Ask(1),)


def test_a_move_that_the_api_server_puts_off_waits_for_as_long_as_it_says() -> None:
    """Whatever becomes of others."""
    state = one_gone_one_crowded(is_try=True)
    state, _ = step(RULES, state, Seen(0, MoveStage.READY), 2.0)
    assert step(RULES, state, Awake(), 2.0)[1] == (LookOn(100.0),)
