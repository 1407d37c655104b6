"""One step of a run, a pure function: (state, event, time) to (state, actions).

Only one move at a time is asked for, announced and sent, in this order and with nothing between, so that each verdict
knows of all that left before. What follows an eviction is only looked at, for all moves at once. A move that is refused
is dropped with all that rest on it, and the others go on; the first failure or doubt closes the run: what is under way
is brought to rest, nothing more is started.
"""

from __future__ import annotations

from typing import TypeVar

from rescheduler.execution.core.events import (
    Accepted,
    Action,
    Allowed,
    Ask,
    Awake,
    Broken,
    Doubtful,
    Dropped,
    Event,
    GiveUp,
    Halted,
    HeldBack,
    Learned,
    LookOn,
    Loose,
    NotSent,
    NotYet,
    OpenAll,
    OpenLane,
    Over,
    Refused,
    Rest,
    Seen,
    Send,
    ShutAll,
    ShutLane,
    Withdraw,
    WriteDown,
    Written,
)
from rescheduler.execution.core.move_state import HOMELESS, UNDER_WAY, MoveStage, RunRules, RunState

T = TypeVar("T")


def step(rules: RunRules, state: RunState, event: Event, now: float) -> tuple[RunState, tuple[Action, ...]]:
    """What an event makes of a run, and what is to be done then; looks and rests are answered by Awake at last."""
    match event:
        case Awake():
            return _next(rules, state, now)
        case Seen() | Loose() | Broken() | Halted():
            return _learned(state, event), ()
        case Allowed(move):
            _require(state, move, MoveStage.PLANNED)
            if state.is_closed:
                return _next(rules, _ended(state, move, MoveStage.DROPPED), now)
            return _put(state, move, MoveStage.PERMITTED), (WriteDown(move),)
        case Written(move):
            _require(state, move, MoveStage.PERMITTED)
            if state.is_closed:
                state, after = _next(rules, _ended(state, move, MoveStage.DROPPED), now)
                return state, (Withdraw(move), *after)
            return _put(state, move, MoveStage.ANNOUNCED), (Send(move),)
        case Accepted(move):
            _require(state, move, MoveStage.ANNOUNCED)
            return _next(rules, _ended(state, move, MoveStage.EVICTED), now)
        case _:
            return _not_sent(rules, state, event, now)


def asked_after(rules: RunRules, state: RunState, sent: int, now: float) -> int | None:
    """The move that will be asked for next if the one just announced is sent and all that look for a node find one."""
    state, actions = step(rules, state, Accepted(sent), now)
    if not any(isinstance(action, Ask) for action in actions):
        for move, stage in enumerate(state.stages):
            if stage in HOMELESS:
                state = _learned(state, Seen(move, MoveStage.BOUND))
        state, actions = step(rules, state, Awake(), now)
    return next((action.move for action in actions if isinstance(action, Ask)), None)


def _learned(state: RunState, event: Learned) -> RunState:
    """What a look shows, or what somebody says, while nothing of it was asked for."""
    match event:
        case Seen(move, stage):
            is_going = state.stages[move] in UNDER_WAY or state.stages[move] is MoveStage.READY
            return _seen(state, move, stage) if is_going and stage > state.stages[move] else state
        case Loose(move):
            return state._replace(loose=state.loose | {move})
        case Broken(move):
            return _put(state, move, MoveStage.FAILED)._replace(is_closed=True)
        case Halted():
            return state._replace(is_closed=True)


def _seen(state: RunState, move: int, stage: MoveStage) -> RunState:
    """A move has got further; where it counts less now, what waited for that is due."""
    state = _put(state, move, stage)
    if stage < MoveStage.READY or not state.crowded:
        return state
    due_at = tuple(0.0 if number in state.crowded else at for number, at in enumerate(state.due_at))
    return state._replace(due_at=due_at, crowded=frozenset())


def _not_sent(rules: RunRules, state: RunState, event: NotSent, now: float) -> tuple[RunState, tuple[Action, ...]]:
    """A move is not under way after all, or nobody knows."""
    match event:
        case NotYet():
            return _put_off(rules, state, event, now)
        case Refused(move):
            return _given_up(rules, state, move, now)
        case Dropped(move):
            return _next(rules, _ended(state, move, MoveStage.DROPPED), now)
        case HeldBack(move):
            _require(state, move, MoveStage.PLANNED, MoveStage.PERMITTED)
            state = _put(state, move, MoveStage.PLANNED)._replace(at_hand=None, is_closed=True)
            return _next(rules, state, now)
        case Doubtful(move):
            _require(state, move, MoveStage.ANNOUNCED)
            return _next(rules, _ended(state, move, MoveStage.UNKNOWN)._replace(is_closed=True), now)


def ready_moves(rules: RunRules, state: RunState) -> list[int]:
    """Moves whose needs are settled, best first: those that nobody leads, then by open lane, and by rank."""
    found = [
        move
        for move, order in enumerate(rules.orders)
        if state.stages[move] is MoveStage.PLANNED
        and all(state.stages[need] is MoveStage.SETTLED for need in order.needs)
    ]
    most: dict[str | None, int] = {}
    for move in found:
        place = rules.orders[move].place
        most[place] = max(most.get(place, 0), rules.orders[move].rank)

    def turn(move: int) -> tuple[bool, bool, int, str, int, int]:
        order = rules.orders[move]
        return order.is_led, order.lane != state.lane, -most[order.place], order.place or "", -order.rank, move

    return sorted(found, key=turn)


def _next(rules: RunRules, state: RunState, now: float) -> tuple[RunState, tuple[Action, ...]]:
    """The next move to ask for; if there is none, what to wait for."""
    if state.at_hand is not None:
        return state, ()
    ready = [] if state.is_closed else ready_moves(rules, state)
    under_way = [move for move, stage in enumerate(state.stages) if stage in UNDER_WAY or stage is MoveStage.READY]
    has_place = sum(state.stages[move] in UNDER_WAY for move in under_way) < rules.in_flight
    waiting = _put_off_with_others(state, now)
    due = [move for move in ready if state.due_at[move] <= now and move not in waiting]
    move = next((move for move in due if _way_is_free(rules, state, move)), None) if has_place else None
    if move is not None:
        opened = _opened(state.lane, rules.orders[move].lane)
        state = state._replace(at_hand=move, lane=rules.orders[move].lane)
        return state, (*opened, Ask(move))
    wakes = min((state.due_at[move] for move in ready if state.due_at[move] > now), default=None)
    is_waited_for = not state.is_closed and MoveStage.PLANNED in state.stages
    is_homeless = any(state.stages[move] in HOMELESS for move in under_way)
    if under_way and (is_waited_for or is_homeless):
        return state, (LookOn(wakes),)
    if wakes is not None:
        return state, (Rest(wakes),)
    return state._replace(lane=None), (*_opened(state.lane, None), Over())


def _put_off_with_others(state: RunState, now: float) -> frozenset[int]:
    """Moves that wait for one that was put off: if that is refused in the end, nobody shall have moved for nothing."""
    found = frozenset[int]()
    for move, stage in enumerate(state.stages):
        if stage is MoveStage.PLANNED and state.tries[move] and state.due_at[move] > now and move not in state.crowded:
            tied = state.tied[move]
            found |= frozenset(range(len(state.stages))) if tied is None else tied
    return found


def _way_is_free(rules: RunRules, state: RunState, move: int) -> bool:
    """Whether nobody looks for a node who could take the room that is open for this move, or lose his own to it."""
    homeless = (other for other, stage in enumerate(state.stages) if stage in HOMELESS and other not in state.loose)
    return all(rules.orders[other].way == rules.orders[move].way for other in homeless)


def _opened(before: str | None, after: str | None) -> tuple[Action, ...]:
    """What is to be opened and shut between two lanes."""
    if before == after:
        return ()
    if after is None:
        return (OpenAll(),)
    return (ShutAll() if before is None else ShutLane(before), OpenLane(after))


def _put_off(rules: RunRules, state: RunState, event: NotYet, now: float) -> tuple[RunState, tuple[Action, ...]]:
    move = event.move
    tries = state.tries[move] + event.is_try
    if tries >= rules.attempts or state.is_closed:
        return _given_up(rules, state, move, now)
    state = _put(state, move, MoveStage.PLANNED)._replace(
        at_hand=None,
        tries=_with(state.tries, move, tries),
        due_at=_with(state.due_at, move, event.due_at),
        tied=_with(state.tied, move, event.tied),
        crowded=state.crowded - {move} if event.is_try else state.crowded | {move},
    )
    return _next(rules, state, now)


def _given_up(rules: RunRules, state: RunState, move: int, now: float) -> tuple[RunState, tuple[Action, ...]]:
    state = _ended(state, move, MoveStage.DROPPED)
    state, after = _next(rules, state, now)
    return state, (GiveUp(move), *after)


def _require(state: RunState, move: int, *stages: MoveStage) -> None:
    """An answer that nobody asked for is a fault of ours, and stops everything."""
    if state.at_hand != move or state.stages[move] not in stages:
        wanted = " or ".join(stage.name for stage in stages)
        raise ValueError(f"move {move} is {state.stages[move].name}, not {wanted}, and {state.at_hand} is at hand")


def _ended(state: RunState, move: int, stage: MoveStage) -> RunState:
    """The move is at hand no more."""
    return _put(state, move, stage)._replace(at_hand=None)


def _put(state: RunState, move: int, stage: MoveStage) -> RunState:
    return state._replace(stages=_with(state.stages, move, stage))


def _with(values: tuple[T, ...], at: int, value: T) -> tuple[T, ...]:
    return (*values[:at], value, *values[at + 1 :])
