"""What happens to a run, and what is to be done for it: events and actions, as plain data."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from rescheduler.execution.core.move_state import MoveStage

# What happens.


class Awake(NamedTuple):
    """The run begins, or all that a look or a rest has shown is told."""


class Allowed(NamedTuple):
    """The gate permits a move, and its pod stands as planned."""

    move: int


class NotYet(NamedTuple):
    """A move is put off: by a budget or an API server that may say otherwise at ``due_at``.

    ``is_try``: that counts, and ``tied`` are put off with it: moves that are of no use without it; None: all others.
    Otherwise others under way are the reason, and it is due too when one of them is Ready.
    """

    move: int
    due_at: float
    is_try: bool = True
    tied: frozenset[int] | None = None


class Written(NamedTuple):
    """The intent of a move stands in the ledger."""

    move: int


class Accepted(NamedTuple):
    """The eviction of a move has taken effect."""

    move: int


class Refused(NamedTuple):
    """A definite no to a move, from whomever; where an intent stands it was taken back. What rests on it is left out.

    Whoever says no to all moves, whichever they are, has the run halted besides.
    """

    move: int


class Dropped(NamedTuple):
    """A move is of no use any more; it, and what rests on it, is left out, and the others go on."""

    move: int


class HeldBack(NamedTuple):
    """A move is not started now: something is to be looked at anew before anything more is."""

    move: int


class Doubtful(NamedTuple):
    """The request of a move was sent, and its effect is not known."""

    move: int


class Seen(NamedTuple):
    """A look shows a move that far; never further back than it was known to be."""

    move: int
    stage: MoveStage


class Loose(NamedTuple):
    """The replacement of a move comes late, or whenever it likes: others do not wait until it has a node."""

    move: int


class Broken(NamedTuple):
    """The replacement of a move does not work."""

    move: int


class Halted(NamedTuple):
    """Breaker, kill switch, freeze, a lost lease or ledger, or somebody in the way: nothing more is started."""


NotSent: TypeAlias = NotYet | Refused | Dropped | HeldBack | Doubtful
Learned: TypeAlias = Seen | Loose | Broken | Halted
Event: TypeAlias = Awake | Allowed | Written | Accepted | NotSent | Learned

# What is to be done.


class Ask(NamedTuple):
    """Get leave for a move: verdict on live reads, its pod read live, a dry run."""

    move: int


class WriteDown(NamedTuple):
    """Write the intent of a move into the ledger."""

    move: int


class Send(NamedTuple):
    """A last look, then the request."""

    move: int


class Withdraw(NamedTuple):
    """Take an intent back that was not sent."""

    move: int


class GiveUp(NamedTuple):
    """Tell that a move is not done."""

    move: int


class ShutAll(NamedTuple):
    """Leave the pods that have lanes no room anywhere."""


class OpenLane(NamedTuple):
    """Let the pods of one lane come to their place."""

    lane: str


class ShutLane(NamedTuple):
    """Take that back."""

    lane: str


class OpenAll(NamedTuple):
    """Take back all that was shut."""


class LookOn(NamedTuple):
    """Look how the moves under way stand; ``until``: when something may be started though nothing changes."""

    until: float | None


class Rest(NamedTuple):
    """Nothing is under way: wait."""

    until: float


class Over(NamedTuple):
    """Nothing is left to be started, and nothing is without a node."""


Way: TypeAlias = ShutAll | OpenLane | ShutLane | OpenAll
Action: TypeAlias = Ask | WriteDown | Send | Withdraw | GiveUp | Way | LookOn | Rest | Over
