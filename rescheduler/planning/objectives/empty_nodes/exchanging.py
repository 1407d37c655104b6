"""Gives up a few of the nodes that a plan empties and empties others, as long as that is worth more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from rescheduler.planning.objectives.empty_nodes.node_by_node import NodeByNode
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution
from rescheduler.planning.problem.deadline import Deadline

_MOST_EXCHANGED: Final = 3
_SHUFFLED: Final = 0.3
_IDLE_TRIES: Final = 12
"""So many for each node that could be emptied are made without any gain before the search ends."""
_LEAST_TRIES, _FIRST_TRIES = 100, 3
"""A search that has no time for so many ends after the first few."""
_SAME: Final = 1e-9


class Exchanges:
    """A search by ruin and recreation (Schrimpf et al., 2000) over sets of nodes that are emptied one by one.

    Each try leaves some nodes of the set out, puts others first or last, and empties further ones where there is room.
    A set that is worth as much takes the place of the last one, so that the search does not stand still.
    """

    def __init__(self, situation: EmptyingSituation, by_pods: Sequence[int], seed: int) -> None:
        """``by_pods``: all nodes that could be emptied, those first that cost the fewest evictions for their worth."""
        self._situation = situation
        self._by_pods = list(by_pods)
        self._random = np.random.default_rng(seed)
        self._emptied: list[int] = []
        self._value = float("-inf")
        self._idle = self._tries = 0
        self._seconds = 0.0

    def better_than(self, best: Solution, deadline: Deadline) -> NodeByNode | None:
        """The next draft that is worth more than the best plan; None: none was found, or there is no time to look.

        The last one may have been better on paper only.
        """
        self._idle = 0 if best.value != self._value else self._idle
        self._emptied, self._value = list(best.emptied), best.value
        while self._idle < _IDLE_TRIES * len(self._by_pods) and not deadline.is_over():
            before = deadline.remaining()
            work = self._try(deadline)
            self._idle, self._tries = self._idle + 1, self._tries + 1
            self._seconds += before - deadline.remaining()
            if self._seconds * _LEAST_TRIES > self._tries * deadline.seconds and self._tries >= _FIRST_TRIES:
                return None
            value = float(self._situation.price[work.emptied].sum())
            if value >= self._value - _SAME:
                self._emptied = list(work.emptied)
            if value > self._value + _SAME * max(1.0, abs(self._value)):
                return work
        return None

    def _try(self, deadline: Deadline) -> NodeByNode:
        random, chosen = self._random, set(self._emptied)
        out = self._some(self._emptied)
        kept = [node for node in self._emptied if node not in out]
        if random.random() < _SHUFFLED:
            random.shuffle(kept)
        put_in = self._some([node for node in self._by_pods if node not in chosen])
        order = [*put_in, *kept] if random.random() < 0.5 else [*kept, *put_in]
        is_closed = self._situation.is_empty.copy()
        is_closed[order] = True
        work = NodeByNode(self._situation, is_closed)
        work.run(order, deadline, may_eject=False)
        emptied, first = set(work.emptied), set(order)
        others = [node for node in self._by_pods if node not in first]
        work.run([*(node for node in order if node not in emptied), *others], deadline, may_eject=True)
        return work

    def _some(self, nodes: Sequence[int]) -> list[int]:
        """A few of these nodes, drawn by lot."""
        number = min(int(self._random.integers(1, _MOST_EXCHANGED + 1)), len(nodes))
        found: list[int] = self._random.choice(nodes, number, replace=False).tolist() if number else []
        return found
