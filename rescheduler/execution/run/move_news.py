"""Tells how far each move of a plan has come: each state once, in order, whoever learns of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rescheduler.execution.landing.departures import EvictedPod
from rescheduler.extension_points import Clock, HearMoves
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.plan.move_change import AT_REST, MoveChange, MoveState
from rescheduler.model.plan.plan import Move, OutcomeKind, Plan, PlanResult, PodReference
from rescheduler.model.times import rfc3339

_RANK: Final = {state: number for number, state in enumerate(MoveState)}
_OF_ENTRY: Final = {
    EntryState.INTENDED: MoveState.ANNOUNCED,
    EntryState.SURGING: MoveState.ANNOUNCED,
    EntryState.OPEN: MoveState.EVICTED,
    EntryState.REPAID: MoveState.SETTLED,
    EntryState.FAILED: MoveState.FAILED,
}
"""A refusal is no end: the eviction may be tried again."""
_OF_OUTCOME: Final = {
    OutcomeKind.LANDED: MoveState.SETTLED,
    OutcomeKind.LANDED_ELSEWHERE: MoveState.SETTLED,
    OutcomeKind.REFUSED: MoveState.DROPPED,
    OutcomeKind.NOT_ATTEMPTED: MoveState.DROPPED,
    OutcomeKind.UNKNOWN: MoveState.UNKNOWN,
    OutcomeKind.UNDONE: MoveState.DROPPED,
}


def state_of(outcome: OutcomeKind) -> MoveState:
    """How far a move has come of which this became."""
    return _OF_OUTCOME[outcome]


class MoveNews:
    """Of one plan; begin with ``planned``."""

    def __init__(self, plan: Plan, hear: HearMoves, clock: Clock) -> None:
        self._moves: dict[PodReference, Move] = {move.pod: move for move in plan.moves}
        self._by_uid = {move.pod.uid: move.pod for move in plan.moves if move.pod.uid}
        self._states: dict[PodReference, MoveState] = {}
        self._hear = hear
        self._clock = clock

    def planned(self) -> None:
        """All moves are to be made."""
        for pod in self._moves:
            self.reached(pod, MoveState.PLANNED)

    def reached(self, pod: PodReference, state: MoveState, node: str | None = None, message: str = "") -> None:
        """A move is in a state; told if it was not known to have come that far."""
        move, before = self._moves.get(pod), self._states.get(pod)
        if move is None or not _comes_after(before, state):
            return
        self._states[pod] = state
        time = rfc3339(self._clock.now(), "milliseconds")
        self._hear(MoveChange(time, pod, state, move.from_node, move.destination, node, message))

    def learn(self, entries: Sequence[LedgerEntry]) -> None:
        """What was written down of evictions, of this plan's or of others'."""
        for entry in entries:
            state = _OF_ENTRY.get(entry.state)
            pod = self._by_uid.get(entry.pod.uid)
            if pod is None or state is None:
                continue
            if entry.is_in_doubt and state is MoveState.EVICTED:
                state = MoveState.UNKNOWN
            self.reached(pod, state, entry.landed_on or None, entry.failure or entry.message or "")

    def seen(self, departures: Iterable[EvictedPod]) -> None:
        """How far the replacements of pods that left have come, as the newest look shows it."""
        for item in departures:
            state, said = _stage(item)
            if state is not None:
                self.reached(item.move.pod, state, item.landed_on, said)

    def ended(self, result: PlanResult) -> None:
        """What became of each; what was not told to be at rest is so now."""
        for move in result.moves:
            state = state_of(move.outcome)
            if state is MoveState.UNKNOWN and self._states.get(move.pod) is MoveState.FAILED:
                continue
            self.reached(move.pod, state, move.landed_on, move.message)


def _stage(item: EvictedPod) -> tuple[MoveState | None, str]:
    if item.failure is not None:
        return MoveState.FAILED, item.failure
    if item.is_over and item.is_ready:
        return MoveState.SETTLED, ""
    if item.replacement is None:
        return None, ""
    if item.landed_on is None:
        return MoveState.REPLACED, ""
    return (MoveState.READY if item.is_ready else MoveState.BOUND), ""


def _comes_after(before: MoveState | None, state: MoveState) -> bool:
    """Whether a state is news; what is at rest changes only where more has been found out."""
    if before is None or before not in AT_REST:
        return before is None or _RANK[state] > _RANK[before]
    if before is MoveState.UNKNOWN:
        return state in (MoveState.SETTLED, MoveState.FAILED, MoveState.DROPPED)
    return before is MoveState.FAILED and state is MoveState.SETTLED
