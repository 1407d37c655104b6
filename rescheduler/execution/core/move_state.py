"""The way of one move, from the plan to rest, and the run of all moves that are on their way together."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple


class MoveStage(IntEnum):
    """Where a move is. Up to SETTLED each follows the one before; a look at the cluster may show several at once.

    PLANNED: nothing was done. PERMITTED: the gate has given leave for this very pod, on reads a moment old. ANNOUNCED:
    the intent stands in the ledger. EVICTED: the request was accepted, or its effect was seen. REPLACED: a new pod is
    there; BOUND: on a node; READY: it works; SETTLED: and the old pod is gone too.

    FAILED: the replacement does not work. UNKNOWN: the request was sent, and nobody knows with what effect: a debt.
    DROPPED: not done, and not to be done by this run; nothing is owed.
    """

    PLANNED = 0
    PERMITTED = 1
    ANNOUNCED = 2
    EVICTED = 3
    REPLACED = 4
    BOUND = 5
    READY = 6
    SETTLED = 7
    FAILED = 8
    UNKNOWN = 9
    DROPPED = 10


UNDER_WAY: Final = frozenset({MoveStage.EVICTED, MoveStage.REPLACED, MoveStage.BOUND})
"""Counted in flight: somebody is missing, or is not known to work yet."""
HOMELESS: Final = frozenset({MoveStage.EVICTED, MoveStage.REPLACED})
"""Evicted, and the replacement has no node yet."""


class Order(NamedTuple):
    """What the run has to know of one move.

    ``needs``: moves that have to be settled before it starts. ``place``: only replacements of one place look for a node
    at a time, since one of another would find the room that is open for this one; None: there is room for anybody.
    ``is_led``: all other ways are shut meanwhile; such moves come last. ``rank``: how many moves rest on it; those with
    most come first.
    """

    needs: frozenset[int] = frozenset()
    place: str | None = None
    is_led: bool = False
    rank: int = 0

    @property
    def way(self) -> tuple[str | None, bool]:
        """By which its replacement comes to its node."""
        return self.place, self.is_led

    @property
    def lane(self) -> str | None:
        """The place that has to be opened for it."""
        return self.place if self.is_led else None


class RunRules(NamedTuple):
    """``in_flight``: so many moves are under way at once. ``attempts``: so often one is asked for."""

    orders: tuple[Order, ...]
    in_flight: int = 10
    attempts: int = 3


class RunState(NamedTuple):
    """``tries`` and ``due_at`` of each move: how often it was put off, and until when; ``tied``: who is put off with
    it, None: all others. ``at_hand``: the one that is being asked for, announced or sent. ``lane``: the one that is
    open. ``loose``: moves whose replacements others do not wait for any more. ``crowded``: those put off only because
    of others under way, and due at once when the replacement of one of these works. ``is_closed``: nothing more is
    started.
    """

    stages: tuple[MoveStage, ...]
    tries: tuple[int, ...]
    due_at: tuple[float, ...]
    tied: tuple[frozenset[int] | None, ...]
    at_hand: int | None = None
    lane: str | None = None
    loose: frozenset[int] = frozenset()
    crowded: frozenset[int] = frozenset()
    is_closed: bool = False


def beginning(rules: RunRules) -> RunState:
    """Nothing has been done yet."""
    number = len(rules.orders)
    return RunState((MoveStage.PLANNED,) * number, (0,) * number, (0.0,) * number, (frozenset(),) * number)
