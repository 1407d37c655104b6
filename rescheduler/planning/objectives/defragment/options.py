"""What could be done on one node: pods that leave it together, and how many more pods of the shapes fit then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation
from rescheduler.planning.problem.covers import IMPOSSIBLE, CostOf, Covers
from rescheduler.planning.problem.deadline import Deadline

_MOST_STEPS_UP = 4
_MOST_LOOKS = 16  # at all nodes
_COVER_STEPS = 300
_SEARCH_MOVES = 40  # a cover of more pods is left to luck


@dataclass(frozen=True, eq=False)
class Option:
    """Pods (rows) that leave a node, what its room is worth more then, and the room that may be filled again.

    ``slack``: int64[R], what newcomers may take of the node without the worth falling again.
    """

    node: int
    rows: tuple[int, ...]
    gain: float
    slack: IntArray

    @property
    def moves(self) -> int:
        """Departures."""
        return len(self.rows)


class Options:
    """Makes options for one placement: ``free`` int64[R, N] and which movable pods may still leave (bool[M])."""

    def __init__(self, situation: DefragmentSituation, free: IntArray, may_leave: BoolArray, spent: IntArray) -> None:
        """``spent``: pods (rows) that have left their nodes already, which count against the limits."""
        self.situation = situation
        self.free = free
        limits = situation.limits
        origin = situation.problem.origin
        self.most_moves = max(0, situation.most_moves - len(spent))
        self.left_on_node: IntArray = limits.of_node - np.bincount(origin[spent], minlength=free.shape[1])
        self.left_in_namespace: IntArray = situation.left_in_namespace - np.bincount(
            situation.namespace_of[spent], minlength=len(situation.left_in_namespace)
        )
        self.often = situation.shapes.often(free)
        self.slack: IntArray = (free - situation.shapes.needed(self.often)).clip(min=0)
        self._worth: FloatArray = situation.shapes.weights @ self.often
        self._may_leave = may_leave
        self._covers: Covers = situation.covers_of(may_leave)

    def made(self, node: int, rows: tuple[int, ...]) -> Option:
        """The option that these pods leave a node."""
        situation = self.situation
        room = self.free[:, [node]] + situation.held[:, list(rows)].sum(axis=1, keepdims=True)
        place = np.array([node])
        often = situation.shapes.often(room, place)
        gain = float((situation.shapes.weights @ often)[0] - self._worth[node])
        slack = (room - situation.shapes.needed(often))[:, 0].clip(min=0)
        return Option(node, rows, gain, slack)

    def covering(self, cost_of: CostOf, most: int, deadline: Deadline) -> Iterator[Option]:
        """Options by which some shape fits once more, or a few times, at the least cost of the pods that leave.

        At most so many targets are looked at, those first that promise the most for each departure.
        """
        for shape, node, up in self._targets[:most]:
            if deadline.is_over():
                return
            limit = int(min(self.most_moves, self.left_on_node[node], _SEARCH_MOVES))
            cover = self._covers.cheapest(node, self._deficit(shape, up, node)[:, 0], cost_of, limit, _COVER_STEPS)
            if cover is not None and cover.rows:
                option = self.made(node, cover.rows)
                if option.gain > 0:
                    yield option

    def single(self) -> Iterator[Option]:
        """Options that one pod leaves: they may be worth nothing by themselves, and make room for others."""
        for row in np.flatnonzero(self._may_leave).tolist():
            node = int(self.situation.problem.origin[row])
            if self.left_on_node[node] > 0:
                yield self.made(node, (row,))

    def given_up(self) -> Iterator[Option]:
        """Options that a node takes others in so that a shape fits there once less."""
        shapes = self.situation.shapes
        for shape, node in zip(*np.nonzero(self.often), strict=True):
            place = np.array([node])
            often = shapes.often(self.free[:, place] - shapes.amounts[shape][:, None], place)
            loss = float(self._worth[node] - (shapes.weights @ often)[0])
            yield Option(int(node), (), -loss, (self.free[:, place] - shapes.needed(often))[:, 0].clip(min=0))

    def _deficit(self, shape: int, up: int, node: int | None = None) -> IntArray:
        """What nodes (None: all) lack for so many more of a shape, int64[R, n]."""
        places = slice(None) if node is None else slice(node, node + 1)
        amounts = self.situation.shapes.amounts[shape][:, None]
        return np.where(amounts > 0, amounts * (self.often[shape, places] + up) - self.free[:, places], 0)

    @cached_property
    def _targets(self) -> list[tuple[int, int, int]]:
        """(shape, node, how many more): the most worth for each departure first."""
        situation = self.situation
        found = []
        for shape in range(len(situation.shapes)):
            for up in range(1, 1 + max(1, min(_MOST_STEPS_UP, _MOST_LOOKS // len(situation.shapes)))):
                least = self._covers.least(self._deficit(shape, up))
                possible = situation.shapes.is_usable[shape] & (least < IMPOSSIBLE)
                possible &= least <= np.minimum(self.most_moves, self.left_on_node)
                nodes = np.flatnonzero(possible)
                share = situation.shapes.weights[shape] * up / np.maximum(1, least[nodes])
                found += [(-value, shape, node, up) for value, node in zip(share.tolist(), nodes.tolist(), strict=True)]
        found.sort()
        return [(shape, node, up) for _, shape, node, up in found]
