"""What is left out of a plan with moves that are not made: what rests on them, and what was to be of use with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.landing.emptied import without_spoiled
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.run.resuming import GONE, rest_of
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.needs import Needs, needs_of
from rescheduler.model.plan.plan import MAKE_ROOM, Move, OutcomeKind, Plan, PlannedPlacement, PodReference

RESTS_ON_DROPPED: Final = "it rests on a move that was not made, or is of no use without it"


class LeftOut(NamedTuple):
    """``moves``: those that are not made and all that are left out with them; ``placements``: without their room."""

    moves: frozenset[PodReference] = frozenset()
    placements: frozenset[PodReference] = frozenset()


NOTHING_LEFT_OUT = LeftOut()


def left_out(
    dropped: Collection[PodReference],
    moves: Sequence[Move],
    placements: Iterable[PlannedPlacement],
    cluster: Cluster,
    together: Iterable[frozenset[PodReference]] = (),
    gone: Collection[PodReference] = (),
) -> LeftOut:
    """What falls with some moves of a list that was proven on a snapshot.

    Moves that need them, and so on; pods that leave before they arrive go with all of their wave or not at all. Room
    for a pending pod is made by all that leave its node for it, so that it is lost with any of these; moves that make
    room for nobody else are of no use then. ``together``: pods that go all or not at all; ``gone``: pending pods that
    need no room any more. What is left is the beginning of an order that was proven, so that it still holds.
    """
    if not dropped and not gone:
        return NOTHING_LEFT_OUT
    needs = needs_of(moves, cluster)
    bound = _bound_by(moves, needs, together)
    out = _falling({index for index, move in enumerate(moves) if move.pod in dropped}, bound)
    makers = {item.pod: _makers(item, moves) for item in placements if item.wave > 0}
    lost = frozenset(pod for pod, found in makers.items() if pod in gone or not out.isdisjoint(found))
    for_lost = _resting_on(set().union(*(makers[pod] for pod in lost)), needs)
    for_others = _resting_on(set().union(*(found for pod, found in makers.items() if pod not in lost)), needs)
    useless = {index for index in for_lost - for_others if moves[index].objective == MAKE_ROOM}
    out = _falling(out | useless, bound)
    return LeftOut(frozenset(moves[index].pod for index in out), lost)


class LeavingOut:
    """What one plan goes on without, and what else has no use then.

    ``sent``: pods that left or may have left, those of earlier attempts first; ``dropped``: moves that somebody said no
    to; ``promised_empty``: nodes that are to be empty at the end; ``groups``: pods that go all or not at all.
    """

    def __init__(
        self, plan: Plan, fresh: FreshCluster, outcomes: Outcomes, sent_before: Iterable[PodReference] = ()
    ) -> None:
        self.sent = [*sent_before]
        self.dropped: list[Move] = []
        self.promised_empty: Sequence[str] = ()
        self.groups: Sequence[frozenset[PodReference]] = ()
        self._plan = plan
        self._fresh = fresh
        self._outcomes = outcomes
        self._lost: set[PodReference] = set()
        self.now_at(plan, Cluster())

    def now_at(self, rest: Plan, cluster: Cluster) -> None:
        """Take note of what is left of the plan, proven on that snapshot."""
        self._rest, self._cluster, self._known = rest, cluster, (0, 0, NOTHING_LEFT_OUT)

    @property
    def told(self) -> str:
        """Why the plan was not carried out whole, in words; "" where nothing was left out."""
        if self.dropped:
            more = f" (and {len(self.dropped) - 1} more)" if len(self.dropped) > 1 else ""
            return f"not all moves were made: {self._outcomes.message_of(self.dropped[0])}{more}"
        gone = sorted(pod.key for pod in self._lost)
        return f"{gone[0]}, which room was made for, is gone or another pod by now" if gone else ""

    @property
    def fallen(self) -> LeftOut:
        """What falls with all that was dropped or lost; looked for once for as many of them."""
        if self._known[:2] != (len(self.dropped), len(self._lost)):
            found = self._falling_with({move.pod for move in self.dropped})
            self._known = len(self.dropped), len(self._lost), found
        return self._known[2]

    def is_of_use(self, move: Move) -> bool:
        """Whether a move still serves what it is made for; those that do not any more are told."""
        if move.pod in self.fallen.moves:
            self._outcomes.of_move(move, OutcomeKind.NOT_ATTEMPTED, None, RESTS_ON_DROPPED)
            return False
        gone = {*self.sent, *(other.pod for other in self.dropped)}
        same = [other for other in self._plan.moves if other.from_node == move.from_node and other.pod not in gone]
        left = without_spoiled(same, self.promised_empty, self._fresh.now, self._outcomes)
        return any(other.pod == move.pod for other in left)

    def tied_to(self, moves: Iterable[Move]) -> frozenset[PodReference]:
        """Pods of the rest that would move for nothing if these did not, and these: others of their node too."""
        tied = frozenset(move.pod for move in moves)
        while True:
            nodes = {move.from_node for move in self._rest.moves if move.pod in tied}.intersection(self.promised_empty)
            together = {move.pod for move in self._rest.moves if move.from_node in nodes}
            more = tied | together | self._falling_with(tied | together).moves
            if more == tied:
                return tied
            tied = more

    def without(
        self, rest: Plan, moves: Sequence[tuple[Move, str]] = (), placements: Sequence[PlannedPlacement] = ()
    ) -> Plan:
        """The rest without what was dropped, moves that do not hold any more, each with the reason, and pending pods
        that are gone; what falls with these is told."""
        for move, why in moves:
            self._outcomes.of_move(move, OutcomeKind.NOT_ATTEMPTED, None, f"it does not hold any more: {why}")
            self.dropped.append(move)
        for item in placements:
            self._outcomes.of_placement(item, OutcomeKind.NOT_ATTEMPTED, None, GONE)
            self._lost.add(item.pod)
        fallen = self.fallen
        lost = fallen.placements | self._lost
        for move in rest.moves:
            if move.pod in fallen.moves and not self._outcomes.is_told(move):
                self._outcomes.of_move(move, OutcomeKind.NOT_ATTEMPTED, None, RESTS_ON_DROPPED)
        for item in rest.placements:
            if item.pod in lost and not self._outcomes.is_told(item):
                self._outcomes.of_placement(item, OutcomeKind.NOT_ATTEMPTED, None, RESTS_ON_DROPPED)
        return rest_of(
            rest,
            [move for move in rest.moves if move.pod not in fallen.moves],
            [item for item in rest.placements if item.pod not in lost],
        )

    def _falling_with(self, dropped: Collection[PodReference]) -> LeftOut:
        """A group of which a pod was sent by then is not whole any more, and the others of it go on."""
        whole = [group for group in self.groups if group.isdisjoint(self.sent)]
        return left_out(dropped, self._rest.moves, self._rest.placements, self._cluster, whole, self._lost)


def _bound_by(moves: Sequence[Move], needs: Needs, together: Iterable[frozenset[PodReference]]) -> Needs:
    """Each with what it falls with: what it needs, those with which it changes places, and its group."""
    groups: defaultdict[PodReference, set[int]] = defaultdict(set)
    for group in together:
        members = {index for index, move in enumerate(moves) if move.pod in group}
        for pod in group:
            groups[pod] |= members
    exchanges = {
        move.wave: frozenset(index for index, other in enumerate(moves) if other.wave == move.wave)
        for move in moves
        if move.evict_first
    }
    return tuple(
        needed | exchanges.get(move.wave, frozenset()) | groups.get(move.pod, frozenset())
        for move, needed in zip(moves, needs, strict=True)
    )


def _makers(item: PlannedPlacement, moves: Sequence[Move]) -> set[int]:
    """Moves that leave the node of a pending pod for its sake."""
    return {
        index
        for index, move in enumerate(moves)
        if move.from_node == item.node and move.wave <= item.wave and move.objective == MAKE_ROOM
    }


def _falling(out: Collection[int], needs: Needs) -> set[int]:
    """With all that need one of them, directly or by others."""
    fallen, is_whole = set(out), False
    while not is_whole:
        more = {index for index, needed in enumerate(needs) if index not in fallen and not fallen.isdisjoint(needed)}
        fallen, is_whole = fallen | more, not more
    return fallen


def _resting_on(wanted: Collection[int], needs: Needs) -> set[int]:
    """With all that they need, directly or by others."""
    found, open_ = set(wanted), list(wanted)
    while open_:
        more = needs[open_.pop()] - found
        found |= more
        open_.extend(more)
    return found
