"""Every order in which up to four moves can go: all answers, all progress, faults, and so death at any point.

The world is as small as can be: where each pod is, what the ledger holds of it, and which requests were sent. The core
is the real one. States are looked at breadth first, each once. A process that dies leaves a world behind as it stands,
and what must hold is asked of every world, so that death needs no step of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from rescheduler.execution.core import events as core
from rescheduler.execution.core.move_state import HOMELESS, UNDER_WAY, MoveStage, RunRules, RunState, beginning
from rescheduler.execution.core.step import step

NEVER = float("inf")
STEPS = (MoveStage.EVICTED, MoveStage.REPLACED, MoveStage.BOUND, MoveStage.READY, MoveStage.SETTLED)


class World(NamedTuple):
    """``standing``: pods that were not evicted; ``truth``: how far each is; ``intents`` stand in the ledger; ``sent``:
    requests that were sent; ``todo``: acts that the core has asked for; ``faults`` are left.
    """

    run: RunState
    todo: tuple[core.Action, ...]
    standing: tuple[bool, ...]
    truth: tuple[MoveStage, ...]
    intents: frozenset[int] = frozenset()
    sent: frozenset[int] = frozenset()
    leave: int | None = None
    now: float = 0.0
    faults: int = 2
    is_over: bool = False


class Explorer:
    """Looks at all worlds of one set of rules."""

    def __init__(self, rules: RunRules, faults: int = 2) -> None:
        self.rules = rules
        number = len(rules.orders)
        run, todo = step(rules, beginning(rules), core.Awake(), 0.0)
        self.start = World(run, todo, (True,) * number, (MoveStage.PLANNED,) * number, faults=faults)
        self.ends: set[tuple[MoveStage, ...]] = set()

    def explore(self, most: int) -> tuple[int, list[str]]:
        """Number of worlds, and what does not hold in them."""
        seen, waiting, wrong = {self.start}, deque([self.start]), list[str]()
        while waiting and not wrong:
            world = waiting.popleft()
            followers = list(self.after(world))
            if not followers and not world.is_over:
                wrong.append(f"nothing goes on: {world}")
            for follower in followers:
                wrong += self.violations(world, follower)
                if follower not in seen:
                    seen.add(follower)
                    waiting.append(follower)
            if len(seen) > most:
                raise AssertionError(f"more than {most} worlds")
        return len(seen), wrong

    def violations(self, before: World, world: World) -> Iterator[str]:
        """What must hold in each world, and at each request."""
        if not world.sent <= world.intents:
            yield f"sent without an intent: {world}"
        if sum(stage in UNDER_WAY for stage in world.run.stages) > self.rules.in_flight:
            yield f"too many in flight: {world}"
        for move in world.sent - before.sent:
            yield from self._requested(move, before, world)
        if world.is_over:
            yield from self._ended(world)

    def _requested(self, move: int, before: World, world: World) -> Iterator[str]:
        """What must hold when a request is sent."""
        needs = self.rules.orders[move].needs
        if any(world.truth[need] is not MoveStage.SETTLED for need in needs):
            yield f"{move} was sent before what it needs was settled: {world}"
        if before.leave != move:
            yield f"{move} was sent without leave that nothing came after: {world}"
        mine = self.rules.orders[move]
        for other, stage in enumerate(before.truth):
            is_homeless = stage in HOMELESS and other not in before.run.loose and not before.standing[other]
            if is_homeless and (self.rules.orders[other].place, self.rules.orders[other].is_led) != (
                mine.place, mine.is_led,
            ):  # fmt: skip
                yield f"{move} was sent while {other} looks for a node: {world}"
        if before.run.is_closed and not any(isinstance(act, core.Send) for act in before.todo[:1]):
            yield f"{move} was sent after the run was closed: {world}"
        waiting = [
            other
            for other, stage in enumerate(before.run.stages)
            if stage is MoveStage.PLANNED and before.run.tries[other] and before.run.due_at[other] > before.now
        ]
        for other in waiting:
            tied = before.run.tied[other]
            if other not in before.run.crowded and (tied is None or move in tied):
                yield f"{move} was sent while {other} waits, without which it is of no use: {world}"

    def _tied_to(self, move: int) -> frozenset[int]:
        """The one after it, besides itself."""
        return frozenset({move, (move + 1) % len(self.rules.orders)})

    def _ended(self, world: World) -> Iterator[str]:
        """What must hold when nothing is left to be done."""
        self.ends.add(world.run.stages)
        open_ones = [
            move for move in world.intents if world.run.stages[move] in (MoveStage.PERMITTED, MoveStage.ANNOUNCED)
        ]
        if open_ones:
            yield f"intents are forgotten at the end: {world}"
        for move, stage in enumerate(world.run.stages):
            if move in world.sent and stage in (MoveStage.PLANNED, MoveStage.DROPPED) and not world.standing[move]:
                yield f"{move} was evicted and is told as not done: {world}"

    def after(self, world: World) -> Iterator[World]:
        """All that may happen next."""
        if world.is_over:
            return
        for move, stage in enumerate(world.truth):
            if not world.standing[move] and stage is not MoveStage.SETTLED:
                following = STEPS[STEPS.index(stage) + 1]
                yield world._replace(truth=_with(world.truth, move, following))
        if world.todo:
            yield from self._answers(world._replace(todo=world.todo[1:]), world.todo[0])

    def _answers(self, world: World, action: core.Action) -> Iterator[World]:
        match action:
            case core.Ask(move):
                yield self._told(world._replace(leave=move), core.Allowed(move))
                yield self._told(world, core.Dropped(move))
                if world.faults:
                    less = world._replace(faults=world.faults - 1)
                    later = world.now + 1.0
                    for event in (core.Refused(move), core.HeldBack(move), core.NotYet(move, later)):
                        yield self._told(less, event)
                    yield self._told(less, core.NotYet(move, later, tied=self._tied_to(move)))
                    yield self._told(less, core.NotYet(move, later, is_try=False))
            case core.WriteDown(move):
                yield self._told(world._replace(intents=world.intents | {move}), core.Written(move))
                if world.faults:
                    yield self._told(world._replace(faults=world.faults - 1), core.Refused(move))
                    yield self._told(world._replace(faults=world.faults - 1), core.HeldBack(move))
            case core.Send(move):
                yield from self._requests(world, move)
            case core.LookOn(until):
                yield from self._looks(world, until)
            case core.Rest(until):
                yield self._told(world._replace(now=until), core.Awake())
            case core.Over():
                yield world._replace(is_over=True)
            case _:
                yield world

    def _requests(self, world: World, move: int) -> Iterator[World]:
        sent = world._replace(sent=world.sent | {move}, leave=None)
        gone = sent._replace(
            standing=_with(world.standing, move, value=False), truth=_with(world.truth, move, MoveStage.EVICTED)
        )
        yield self._told(gone, core.Accepted(move))
        if world.faults:
            less = world.faults - 1
            for event in (core.Refused(move), core.NotYet(move, world.now + 1.0)):
                yield self._told(sent._replace(faults=less, sent=world.sent), event)
            yield self._told(sent._replace(faults=less), core.Doubtful(move))
            yield self._told(gone._replace(faults=less), core.Doubtful(move))

    def _looks(self, world: World, until: float | None) -> Iterator[World]:
        """A look shows all that is true; it ends where something has changed, or at its time."""
        seen = world
        for move, stage in enumerate(world.truth):
            if stage > world.run.stages[move] and world.run.stages[move] in UNDER_WAY | {MoveStage.READY}:
                seen = self._told(seen, core.Seen(move, stage))
        if seen != world:
            yield self._told(seen, core.Awake())
        elif until is not None:
            yield self._told(world._replace(now=max(world.now, until)), core.Awake())
        else:
            yield world._replace(todo=(core.LookOn(until), *world.todo))
        if world.faults:
            less = world._replace(faults=world.faults - 1)
            yield self._told(self._told(less, core.Halted()), core.Awake())
            for move, stage in enumerate(world.run.stages):
                if stage in UNDER_WAY:
                    yield self._told(self._told(less, core.Loose(move)), core.Awake())
                    yield self._told(self._told(less, core.Broken(move)), core.Awake())

    def _told(self, world: World, event: core.Event) -> World:
        run, actions = step(self.rules, world.run, event, world.now)
        return world._replace(run=run, todo=(*world.todo, *actions))


def _with(values: tuple, at: int, value: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:at], value, *values[at + 1 :])
