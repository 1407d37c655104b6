"""Takes one option after another whose pods all find seats that nothing wanted is lost by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rescheduler.model.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.defragment.kinds import Kinds
from rescheduler.planning.defragment.options import Option, Options
from rescheduler.planning.defragment.situation import Seat


class Greedy:
    """Seats in the room that is nobody's loss; tightest first, so that wide room stays for large pods."""

    def __init__(self, options: Options, kinds: Kinds) -> None:
        """Begin with all nodes as they are."""
        self._options = options
        self._kinds = kinds
        self._slack = options.slack.copy()
        self._scale = np.maximum(1, options.situation.columns.allocatable.max(axis=1, initial=1)).astype(np.float64)
        self._is_done: BoolArray = np.zeros(self._slack.shape[1], dtype=np.bool_)
        self._left_in_namespace = options.left_in_namespace.copy()
        self._lonely: set[Seat] = set()  # (kind, node): one is there
        self.seats: list[Seat] = []
        self.gain = 0.0

    def run(self, options: Iterable[Option], deadline: Deadline) -> None:
        """Take whatever can be taken, in this order."""
        for option in options:
            if deadline.is_over():
                return
            if option.moves <= self._options.most_moves - len(self.seats) and not self._is_done[option.node]:
                self._take(option)

    def _take(self, option: Option) -> None:
        if not self._is_within_namespaces(option.rows):
            return
        before = self._slack.copy()
        lonely = set(self._lonely)
        self._slack[:, option.node] = 0  # nobody of them comes back
        seats: list[Seat] = []
        for row in sorted(option.rows, key=self._size, reverse=True):
            node = self._seat(row, option.node)
            if node == NOWHERE:
                self._slack, self._lonely = before, lonely
                return
            seats.append((row, node))
        self._slack[:, option.node] = option.slack
        self._is_done[option.node] = True
        self._is_done[[node for _, node in seats]] = True  # its options were made for the room it had before
        np.subtract.at(self._left_in_namespace, self._options.situation.namespace_of[list(option.rows)], 1)
        self.seats += seats
        self.gain += option.gain

    def _seat(self, row: int, origin: int) -> int:
        kind = self._kinds.of(row)
        request = self._kinds.request[kind]
        asked = np.flatnonzero(request)
        fits = self._kinds.open_to[kind] & (self._slack[asked] >= request[asked, None]).all(axis=0)
        fits[origin] = False
        places = np.flatnonzero(fits)
        if self._kinds.is_alone[kind]:
            places = np.array([node for node in places.tolist() if (kind, node) not in self._lonely], dtype=np.int64)
        if not len(places):
            return NOWHERE
        rest = (self._slack[:, places] - request[:, None]) / self._scale[:, None]
        node = int(places[np.argmin(rest[asked].sum(axis=0))])
        self._slack[:, node] -= request
        if self._kinds.is_alone[kind]:
            self._lonely.add((kind, node))
        return node

    def _size(self, row: int) -> float:
        return float((self._options.situation.arriving[:, row] / self._scale).max())

    def _is_within_namespaces(self, rows: Sequence[int]) -> bool:
        situation = self._options.situation
        numbers = situation.namespace_of[list(rows)]
        leaving: IntArray = np.bincount(numbers, minlength=len(self._left_in_namespace))
        return bool((leaving <= self._left_in_namespace).all())
