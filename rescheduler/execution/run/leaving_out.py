"""What is left out of a plan with moves that are not made: what rests on them, and what was to be of use with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.needs import Needs, needs_of
from rescheduler.model.plan.plan import MAKE_ROOM, Move, Plan, PlannedPlacement, PodReference


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
) -> LeftOut:
    """What falls with some moves of a list that was proven on a snapshot.

    Moves that need them, and so on; pods that leave before they arrive go with all of their wave or not at all. Room
    for a pending pod is made by all that leave its node for it, so that it is lost with any of these; moves that make
    room for nobody else are of no use then. ``together``: pods that go all or not at all. What is left is the beginning
    of an order that was proven, so that it still holds.
    """
    if not dropped:
        return NOTHING_LEFT_OUT
    needs = needs_of(moves, cluster)
    bound = _bound_by(moves, needs, together)
    out = _falling({index for index, move in enumerate(moves) if move.pod in dropped}, bound)
    makers = {item.pod: _makers(item, moves) for item in placements if item.wave > 0}
    lost = frozenset(pod for pod, found in makers.items() if not out.isdisjoint(found))
    for_lost = _resting_on(set().union(*(makers[pod] for pod in lost)), needs)
    for_others = _resting_on(set().union(*(found for pod, found in makers.items() if pod not in lost)), needs)
    useless = {index for index in for_lost - for_others if moves[index].objective == MAKE_ROOM}
    out = _falling(out | useless, bound)
    return LeftOut(frozenset(moves[index].pod for index in out), lost)


class Segment:
    """What was left of the plan when its moves at hand were proven, with the snapshot of then.

    ``groups``: pods that move together or not at all.
    """

    def __init__(self, rest: Plan, cluster: Cluster, groups: Sequence[frozenset[PodReference]]) -> None:
        self._rest = rest
        self._cluster = cluster
        self._groups = groups
        self._known: tuple[int, LeftOut] = (0, NOTHING_LEFT_OUT)

    def without(self, dropped: Sequence[Move], sent: Collection[PodReference]) -> LeftOut:
        """What falls with moves that were dropped; looked for once for as many of them.

        A group of which a pod was sent by then is not whole any more, and the others of it go on.
        """
        if self._known[0] != len(dropped):
            pods = {move.pod for move in dropped}
            whole = [group for group in self._groups if group.isdisjoint(sent)]
            found = left_out(pods, self._rest.moves, self._rest.placements, self._cluster, whole)
            self._known = len(dropped), found
        return self._known[1]


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
