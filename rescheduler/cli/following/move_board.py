"""What is known of a plan on its way: moves by state, nodes that lose pods, pods that get in, rate and time left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from rescheduler.model.plan.move_change import AT_REST, MoveChange, MoveState
from rescheduler.model.plan.plan import Plan, PodReference

_HAS_LEFT: Final = frozenset(MoveState) - {
    MoveState.PLANNED, MoveState.PERMITTED, MoveState.ANNOUNCED, MoveState.DROPPED, MoveState.UNKNOWN
}  # fmt: skip


class NodeLeft(NamedTuple):
    """A node that pods are moved away from. ``left``: so many of its ``total`` are still to leave."""

    name: str
    left: int
    total: int


class MoveBoard:
    """Takes changes in, from the thread that carries the plan out."""

    def __init__(self, plan: Plan, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._began: float | None = None
        self._states: dict[PodReference, MoveState] = {move.pod: MoveState.PLANNED for move in plan.moves}
        self._from: Mapping[PodReference, str] = {move.pod: move.from_node for move in plan.moves}
        self.placed, self.to_place = 0, len(plan.placements)
        self.step = ""

    def hear(self, change: MoveChange) -> None:
        """A move has come further."""
        if change.pod not in self._states:
            return
        self._states[change.pod] = change.state
        if self._began is None and change.state is not MoveState.PLANNED:
            self._began = self._monotonic()

    def note(self, step: str, done: int = 0, total: int | None = None) -> None:
        """What is being done beside moves."""
        self.step = step
        if step == "placing pending pods" and total is not None:
            self.placed = max(self.placed, done)

    @property
    def counts(self) -> Mapping[MoveState, int]:
        """Moves in each state in which there are any, in the order of states."""
        found = Counter(self._states.values())
        return {state: found[state] for state in MoveState if found[state]}

    @property
    def nodes(self) -> tuple[NodeLeft, ...]:
        """Nodes that pods are still to leave, those that will soon be rid of them first."""
        totals = Counter(self._from.values())
        gone = Counter(self._from[pod] for pod, state in self._states.items() if state in _HAS_LEFT)
        found = (NodeLeft(name, total - gone[name], total) for name, total in totals.items() if total > gone[name])
        return tuple(sorted(found, key=lambda item: (item.left, item.name)))

    @property
    def rate(self) -> float | None:
        """Moves a second that have come to rest, since the first one began; None before there is anything to tell."""
        at_rest = sum(1 for state in self._states.values() if state in AT_REST)
        seconds = 0.0 if self._began is None else self._monotonic() - self._began
        return at_rest / seconds if at_rest and seconds > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """Until all are at rest, if it goes on as it has gone so far; None where that is not known."""
        left = sum(1 for state in self._states.values() if state not in AT_REST)
        return left / self.rate if self.rate else None
