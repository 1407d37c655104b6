"""A plan that was planned again while it was carried out: what earlier attempts did, and what all came to together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from msgspec import UNSET, Struct, structs

from rescheduler.model.plan.plan import (
    EMPTY_NODES,
    Move,
    MoveOutcome,
    OutcomeKind,
    PlacementOutcome,
    PlannedPlacement,
    PlanResult,
    PodReference,
    WaveMark,
)

MOST_ATTEMPTS: Final = 3
"""What is left of a plan is planned again twice at most."""

Item = TypeVar("Item", Move, MoveOutcome, PlannedPlacement, PlacementOutcome)


class EarlierAttempts(Struct, frozen=True, gc=False):
    """What the attempts before this one did.

    ``sent``: moves whose pods left, or may have left: they count against the limits of the whole. ``ready``: those of
    their pods whose replacements work. ``since``: when the first plan's snapshot was taken, in seconds since the epoch:
    pods that were made since are the replacements, or as new as these, and no later attempt moves them.
    """

    sent: tuple[Move, ...] = ()
    ready: frozenset[PodReference] = frozenset()
    since: float | None = None
    number: int = 0

    @property
    def attempt(self) -> int:
        """The number of the attempt that comes after them, from 1."""
        return self.number + 1


NO_EARLIER_ATTEMPTS: Final = EarlierAttempts()


def newest(items: Iterable[Item]) -> list[Item]:
    """Moves or placements without those that a later attempt planned again; attempts follow one another."""
    return list({item.pod: item for item in items}.values())


def is_as_planned(result: PlanResult) -> bool:
    """True if every move and every placement ended as planned, or elsewhere without harm.

    What was planned again is judged by its last attempt. A placement that landed nowhere is harm, wherever the moves
    landed, and so is a pod that landed on a node which was to be empty.
    """
    moves, placements = newest(result.moves), newest(result.placements)
    empty = _to_be_empty(moves, placements)
    ends = [(move.outcome, move.landed_on) for move in moves]
    ends += [(place.outcome, place.landed_on) for place in placements]
    return all(outcome.has_landed and landed_on not in empty for outcome, landed_on in ends)


def _to_be_empty(moves: Sequence[MoveOutcome], placements: Sequence[PlacementOutcome]) -> set[str]:
    """Nodes that EmptyNodes takes pods off and that nobody is sent to."""
    emptied = {move.from_node for move in moves if move.objective == EMPTY_NODES}
    return emptied.difference([move.to_node for move in moves], [place.node for place in placements])


def last_attempt(result: PlanResult) -> int | None:
    """The number of the last attempt; None where there was but one."""
    attempt = max(map(_attempt_of, result.moves), default=1)
    return attempt if attempt > 1 else None


def _attempt_of(move: MoveOutcome) -> int:
    """From 1."""
    return move.attempt if isinstance(move.attempt, int) else 1


def dropped(result: PlanResult) -> list[MoveOutcome]:
    """Moves that were not made, and that no later attempt has planned again although there was one."""
    last = last_attempt(result) or 1
    return [move for move in newest(result.moves) if not may_have_left(move) and _attempt_of(move) < last]


def may_have_left(move: MoveOutcome) -> bool:
    """Whether the pod of a move left its node, as far as is known."""
    return move.outcome.has_landed or move.outcome is OutcomeKind.UNKNOWN


def joined(results: Sequence[PlanResult]) -> PlanResult:
    """What all attempts came to: the first one's plan, with the moves of the others after its own.

    Their waves are counted on. A pod that was to get a place by several attempts is told of by the last; what was not
    ready when the first was made is not in its objectives.
    """
    whole = results[0]
    for number, result in enumerate(results[1:], 2):
        last = max((move.wave for move in whole.moves), default=0)
        moves = tuple(structs.replace(move, wave=move.wave + last, attempt=number) for move in result.moves)
        places = (structs.replace(item, wave=item.wave + last) if item.wave else item for item in result.placements)
        marks = [WaveMark(mark.wave + last, mark.evict_first) for mark in _marks(result)]
        whole = structs.replace(
            whole,
            moves=(*whole.moves, *moves),
            placements=tuple(newest([*whole.placements, *places])),
            refusals=tuple(dict.fromkeys([*whole.refusals, *result.refusals])),
            warnings=tuple(dict.fromkeys([*whole.warnings, *result.warnings])),
            message=result.message,
            waves=(*_marks(whole), *marks) or UNSET,
        )
    return whole


def _marks(result: PlanResult) -> tuple[WaveMark, ...]:
    return result.waves if isinstance(result.waves, tuple) else ()
