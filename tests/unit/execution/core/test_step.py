"""Steps of the core, one by one, where the order of all of them says little."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rescheduler.execution.core.events import (
    Accepted,
    Action,
    Allowed,
    Ask,
    Awake,
    Doubtful,
    Event,
    GiveUp,
    Halted,
    HeldBack,
    LookOn,
    Loose,
    NotYet,
    OpenAll,
    OpenLane,
    Over,
    Rest,
    Seen,
    ShutAll,
    Withdraw,
    Written,
)
from rescheduler.execution.core.move_state import MoveStage, Order, RunRules, RunState, beginning
from rescheduler.execution.core.step import asked_after, step

RULES = RunRules((Order(), Order()))


def named(actions: Iterable[Action]) -> list[tuple[str, object]]:
    """With their names: of two plain tuples of one number each neither knows what it is called."""
    return [(type(action).__name__, tuple(action)) for action in actions]


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
        assert named(step(RULES, state, Awake(), 1.0)[1]) == named((LookOn(100.0),))
    state, _ = step(RULES, state, Seen(0, MoveStage.READY), 2.0)
    assert named(step(RULES, state, Awake(), 2.0)[1]) == named((Ask(1),))


def test_a_move_that_the_api_server_puts_off_waits_for_as_long_as_it_says() -> None:
    """Whatever becomes of others."""
    state = one_gone_one_crowded(is_try=True)
    state, _ = step(RULES, state, Seen(0, MoveStage.READY), 2.0)
    assert named(step(RULES, state, Awake(), 2.0)[1]) == named((LookOn(100.0),))


def test_while_the_api_server_puts_a_move_off_nobody_else_is_asked_for() -> None:
    """If it refuses in the end, nobody shall have moved for nothing."""
    state, _ = step(RULES, beginning(RULES), Awake(), 0.0)
    state, _ = step(RULES, state, NotYet(0, 100.0), 0.0)
    assert named(step(RULES, state, Awake(), 1.0)[1]) == named((Rest(100.0),))
    assert named(step(RULES, state, Awake(), 100.0)[1]) == named((Ask(0),))


def test_a_move_that_is_put_off_for_its_own_sake_puts_off_only_those_that_would_move_for_nothing() -> None:
    """The third is tied to the first, the second is not; once the first is due, nobody waits any more."""
    rules = RunRules((Order(), Order(), Order()))
    state, _ = step(rules, beginning(rules), Awake(), 0.0)
    state, actions = step(rules, state, NotYet(0, 100.0, tied=frozenset({0, 2})), 0.0)
    assert named(actions) == named((Ask(1),))
    for event in (Allowed(1), Written(1), Accepted(1)):
        state, actions = step(rules, state, event, 1.0)
    assert named(actions) == named((LookOn(100.0),))
    assert named(step(rules, state, Awake(), 100.0)[1]) == named((Ask(0),))


def test_who_is_tied_to_a_move_that_is_given_up_waits_no_longer() -> None:
    """Whether it is of any use is asked before it goes."""
    rules = RunRules((Order(), Order()), attempts=2)
    state, _ = step(rules, beginning(rules), Awake(), 0.0)
    state, _ = step(rules, state, NotYet(0, 5.0, tied=frozenset({0, 1})), 0.0)
    state, _ = step(rules, state, Awake(), 5.0)
    assert named(step(rules, state, NotYet(0, 50.0, tied=frozenset({0, 1})), 5.0)[1]) == named((GiveUp(0), Ask(1)))


def test_a_move_is_tried_three_times_and_then_given_up() -> None:
    """As the rules say: not a time less."""
    rules = RULES._replace(orders=(Order(),), attempts=3)
    state, _ = step(rules, beginning(rules), Awake(), 0.0)
    for time in (1.0, 2.0):
        state, actions = step(rules, state, NotYet(0, time), 0.0)
        assert named(actions) == named((Rest(time),))
        state, actions = step(rules, state, Awake(), time)
        assert named(actions) == named((Ask(0),))
    assert named(step(rules, state, NotYet(0, 3.0), 2.0)[1]) == named((GiveUp(0), Over()))


def test_all_that_come_late_are_not_waited_for() -> None:
    """One does not take the place of another."""
    assert after(Loose(0), Loose(1)).loose == {0, 1}


def test_a_lane_is_open_for_its_moves_and_all_are_when_the_run_is_over() -> None:
    """All others are shut meanwhile."""
    rules = RunRules((Order(place="n1", is_led=True),))
    state, began = step(rules, beginning(rules), Awake(), 0.0)
    for event in (Allowed(0), Written(0), Accepted(0), Seen(0, MoveStage.BOUND)):
        state, _ = step(rules, state, event, 0.0)
    _, ended = step(rules, state, Awake(), 0.0)
    assert named(began) == named((ShutAll(), OpenLane("n1"), Ask(0)))
    assert named(ended) == named((OpenAll(), Over()))


def after(*events: Event) -> RunState:
    """What these events make of the beginning."""
    state = beginning(RULES)
    for event in events:
        state, _ = step(RULES, state, event, 0.0)
    return state


@pytest.mark.parametrize(
    ("before", "event"),
    [
        ((), Allowed(0)),
        ((Awake(),), Allowed(1)),
        ((Awake(),), Written(0)),
        ((Awake(), Allowed(0)), Allowed(0)),
        ((Awake(), Allowed(0)), Accepted(0)),
        ((Awake(), Allowed(0)), Doubtful(0)),
        ((Awake(), Allowed(0), Written(0)), Written(0)),
        ((Awake(), Allowed(0), Written(0)), HeldBack(0)),
        ((Awake(),), HeldBack(1)),
    ],
)
def test_an_answer_that_nobody_asked_for_stops_everything(before: tuple[Event, ...], event: Event) -> None:
    """It is a fault of ours: nobody knows any more what was sent."""
    with pytest.raises(ValueError, match="at hand"):
        step(RULES, after(*before), event, 0.0)


@pytest.mark.parametrize("is_permitted", [False, True])
def test_a_move_that_is_held_back_waits_for_another_look_and_so_do_all(is_permitted: bool) -> None:
    """Also where its leave was given already: it is planned as before, and nothing is asked for any more."""
    answers = (Allowed(0),) if is_permitted else ()
    state, actions = step(RULES, after(Awake(), *answers), HeldBack(0), 0.0)
    assert state.stages == (MoveStage.PLANNED, MoveStage.PLANNED)
    assert (state.at_hand, state.is_closed, named(actions)) == (None, True, named((Over(),)))


def test_while_a_move_is_at_hand_no_other_is_asked_for() -> None:
    """Whatever is told meanwhile."""
    state = after(Awake())
    assert step(RULES, state, Awake(), 1.0) == (state, ())


def test_what_was_on_its_way_to_be_sent_as_the_run_was_halted_is_not() -> None:
    """Leave that comes too late is left unused, and an intent is taken back."""
    state, actions = step(RULES, after(Awake(), Halted()), Allowed(0), 0.0)
    assert (state.stages[0], named(actions)) == (MoveStage.DROPPED, named((Over(),)))
    state, actions = step(RULES, after(Awake(), Allowed(0), Halted()), Written(0), 0.0)
    assert (state.stages[0], named(actions)) == (MoveStage.DROPPED, named((Withdraw(0), Over())))


def test_what_is_seen_of_a_move_that_is_not_under_way_changes_nothing() -> None:
    """Nor does a look that shows less than an earlier one: looks may be of the past."""
    state = after(Awake(), Allowed(0), Written(0), Accepted(0), Seen(0, MoveStage.BOUND))
    for event in (Seen(0, MoveStage.REPLACED), Seen(0, MoveStage.BOUND), Seen(1, MoveStage.BOUND)):
        assert step(RULES, state, event, 0.0) == (state, ())
    for stage in (MoveStage.READY, MoveStage.SETTLED):
        state, _ = step(RULES, state, Seen(0, stage), 0.0)
        assert state.stages[0] is stage
    assert step(RULES, state, Seen(0, MoveStage.BOUND), 0.0) == (state, ())


def test_what_was_crowded_is_due_in_the_very_moment_in_which_another_is_ready() -> None:
    """Also at the beginning of time."""
    state, _ = step(RULES, one_gone_one_crowded(is_try=False), Seen(0, MoveStage.READY), 0.0)
    assert named(step(RULES, state, Awake(), 0.0)[1]) == named((Ask(1),))


def test_a_look_that_shows_a_move_ready_once_more_makes_nothing_due() -> None:
    """Only what has changed since a move was put off may let it go."""
    state, _ = step(RULES, one_gone_one_crowded(is_try=False), Seen(0, MoveStage.READY), 1.0)
    for event in (Awake(), NotYet(1, 100.0, is_try=False), Seen(0, MoveStage.READY)):
        state, _ = step(RULES, state, event, 1.0)
    assert named(step(RULES, state, Awake(), 1.0)[1]) == named((LookOn(100.0),))


def test_the_place_with_most_resting_on_it_comes_first() -> None:
    """Also where nothing rests on the other, whatever their names and order."""
    rules = RunRules((Order(place="a", rank=0), Order(place="b", rank=1)))
    assert named(step(rules, beginning(rules), Awake(), 0.0)[1]) == named((Ask(1),))


def test_what_waits_for_a_move_that_works_but_has_not_settled_is_looked_on_for() -> None:
    """Its old pod is there still: the run is not over."""
    rules = RunRules((Order(), Order(needs=frozenset({0}))))
    state = beginning(rules)
    for event in (Awake(), Allowed(0), Written(0), Accepted(0), Seen(0, MoveStage.READY)):
        state, _ = step(rules, state, event, 0.0)
    assert named(step(rules, state, Awake(), 0.0)[1]) == named((LookOn(None),))


def test_a_full_run_waits_for_a_move_and_for_no_time() -> None:
    """What may go at this very moment has no other to be woken at."""
    rules = RunRules((Order(), Order()), in_flight=1)
    state = beginning(rules)
    actions: tuple[Action, ...] = ()
    for event in (Awake(), Allowed(0), Written(0), Accepted(0)):
        state, actions = step(rules, state, event, 0.0)
    assert named(actions) == named((LookOn(None),))


@pytest.mark.parametrize(
    ("first", "second", "is_free"),
    [
        (Order(place="n1"), Order(place="n1", rank=0), True),
        (Order(place="n1", rank=1), Order(place="n1"), True),
        (Order(place="n1"), Order(place="n2"), False),
        (Order(place="n1"), Order(), False),
        (Order(place="n1"), Order(place="n1", is_led=True), False),
    ],
)
def test_replacements_look_for_a_node_together_only_by_one_way(first: Order, second: Order, is_free: bool) -> None:
    """One of another place would find the room that is open for this one."""
    rules = RunRules((first, second))
    state = beginning(rules)._replace(stages=(MoveStage.EVICTED, MoveStage.PLANNED))
    actions = step(rules, state, Awake(), 0.0)[1]
    assert (named((Ask(1),))[0] in named(actions)) is is_free


def test_every_stage_is_one_of_its_own_and_comes_after_the_one_before() -> None:
    """What a look shows is compared with what was known."""
    way = "PLANNED PERMITTED ANNOUNCED EVICTED REPLACED BOUND READY SETTLED FAILED UNKNOWN DROPPED"
    assert [stage.name for stage in sorted(MoveStage)] == way.split()


def test_with_nobody_under_way_time_alone_is_waited_for() -> None:
    """There is nothing to look at."""
    rules = RunRules((Order(),))
    state, _ = step(rules, beginning(rules), Awake(), 0.0)
    assert named(step(rules, state, NotYet(0, 5.0), 0.0)[1]) == named((Rest(5.0),))


def test_the_way_that_is_open_is_used_before_another_is_opened() -> None:
    """Whatever the order of the moves; and those that nobody leads come before all."""
    rules = RunRules((Order(place="a", is_led=True), Order(place="b", is_led=True), Order()))
    state = beginning(rules)._replace(lane="b")
    assert step(rules, state, Awake(), 0.0)[0].at_hand == 2
    state = state._replace(stages=(MoveStage.PLANNED, MoveStage.PLANNED, MoveStage.SETTLED))
    assert step(rules, state, Awake(), 0.0)[0].at_hand == 1
    assert step(rules, state._replace(lane="a"), Awake(), 0.0)[0].at_hand == 0


def test_what_is_not_said_of_a_run() -> None:
    """Ten at a time, three tries; a move needs nobody, and nothing rests on it; to be put off counts as a try."""
    assert RunRules(()) == ((), 10, 3)
    assert Order() == (frozenset(), None, False, 0)
    assert NotYet(0, 1.0).is_try


def announced(rules: RunRules) -> RunState:
    """The first move is about to be sent."""
    state = beginning(rules)
    for event in (Awake(), Allowed(0), Written(0)):
        state, _ = step(rules, state, event, 0.0)
    return state


def test_what_is_asked_for_after_an_eviction_is_known_before_it_is_sent() -> None:
    """Whether it may follow at once, or once the replacement has its node."""
    for rules in (RULES, RunRules((Order(place="n1"), Order(place="n2")))):
        assert asked_after(rules, announced(rules), 0, 0.0) == 1


def test_nothing_is_foreseen_where_nothing_follows() -> None:
    """Neither the last move of all, nor one that waits until another works, nor one after the end of the run."""
    for rules in (RunRules((Order(),)), RunRules((Order(), Order(needs=frozenset({0})))), RULES._replace(in_flight=1)):
        assert asked_after(rules, announced(rules), 0, 0.0) is None
    closed, _ = step(RULES, announced(RULES), Halted(), 0.0)
    assert asked_after(RULES, closed, 0, 0.0) is None
