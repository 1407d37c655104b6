"""One move after the other, each time what is worth most: an answer within a second, whatever the size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from benchmarks.fragments.fragmented import Fragmented, Worth
from benchmarks.fragments.item_moves import WIDE, Item, ItemMove
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.problem.deadline import Deadline

_NOWHERE = -(10**9)


class _Departure(NamedTuple):
    """Items of these kinds leave one compartment (WIDE: all) of a host; ``gain``: what its room is worth more then."""

    gain: int
    kinds: tuple[int, ...]
    host: int
    compartment: int


def greedy_moves(
    problem: Fragmented, worth: Worth, most_moves: int, items: list[Item], deadline: Deadline
) -> list[ItemMove]:
    """Moves in an order in which each finds its room free, as many as gain something; at most two leave together."""
    search = _Greedy(problem, worth, items)
    while len(search.moves) < most_moves and not deadline.is_over():
        if not search.step(most_moves - len(search.moves)):
            break
    return search.moves


class _Greedy:
    """Where items are after the moves so far. What single departures gain is kept, and told anew for hosts that change.

    An item moves once only.
    """

    def __init__(self, problem: Fragmented, worth: Worth, items: list[Item]) -> None:
        self.moves: list[ItemMove] = []
        self._problem = problem
        self._worth = worth
        self._free: IntArray = problem.free.copy()
        self._value: IntArray = worth(self._free)
        self._at: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        for item in items:
            self._at[item.kind, item.host, item.compartment].append(item.number)
        self._departures = {host: list(self._leaving(host)) for host in range(len(self._free))}

    def step(self, most: int) -> bool:
        """Make the departure that gains most for each of its moves; False where none gains anything."""
        loss = [self._least_loss(kind) for kind in range(len(self._problem.request))]
        best = sorted(
            (
                ((found.gain - sum(loss[kind] for kind in found.kinds)) / len(found.kinds), number, found)
                for number, found in enumerate(each for some in self._departures.values() for each in some)
                if len(found.kinds) <= most
            ),
            reverse=True,
        )
        return any(self._try(found) for share, _, found in best if share > 0)

    def _leaving(self, host: int) -> Iterator[_Departure]:
        """Departures from a host that gain something."""
        request = self._problem.request
        for compartment in range(self._free.shape[1]):
            here = [kind for kind in self._problem.narrow.tolist() if self._at[kind, host, compartment]]
            pairs = [
                pair
                for pair in combinations_with_replacement(here, 2)
                if pair[0] != pair[1] or len(self._at[pair[0], host, compartment]) > 1
            ]
            sets: list[tuple[int, ...]] = [*((kind,) for kind in here), *pairs]
            if not sets:
                continue
            freed = np.array([sum(request[kind] for kind in kinds) for kinds in sets])
            gains = self._worth(self._free[host, compartment] + freed) - self._value[host, compartment]
            for number in np.flatnonzero(gains > 0).tolist():
                yield _Departure(int(gains[number]), sets[number], host, compartment)
        for kind in self._problem.wide.tolist():
            if self._at[kind, host, WIDE]:
                gain = int((self._worth(self._free[host] + request[kind]) - self._value[host]).sum())
                if gain > 0:
                    yield _Departure(gain, (kind,), host, WIDE)

    def _losses(self, kind: int) -> tuple[IntArray, BoolArray]:
        """What the arrival of an item costs, and where it has room: by host and compartment, or by host if wide."""
        after = self._free - self._problem.request[kind]
        loss, has_room = self._value - self._worth(after), (after >= 0).all(axis=-1)
        if self._problem.is_wide[kind]:
            return loss.sum(axis=1), has_room.all(axis=1)
        return loss, has_room

    def _least_loss(self, kind: int) -> int:
        loss, has_room = self._losses(kind)
        return int(loss[has_room].min()) if has_room.any() else -_NOWHERE

    def _try(self, found: _Departure) -> bool:
        """Make these moves, the largest first, if together they gain something."""
        begun, gain = len(self.moves), found.gain
        order = sorted(found.kinds, key=lambda kind: -int(self._problem.request[kind].sum()))
        for kind in order:
            seat = self._seat(kind, found.host)
            if seat is None or gain - seat[0] <= 0:
                break
            gain -= seat[0]
            self._send(kind, found, seat[1], seat[2])
        if len(self.moves) - begun == len(order):
            for host in {found.host, *(move.host for move in self.moves[begun:])}:
                self._departures[host] = list(self._leaving(host))
            return True
        self._take_back(begun, order, found)
        return False

    def _seat(self, kind: int, origin: int) -> tuple[int, int, int] | None:
        """Loss, host and compartment where an item costs least, of those the one with the least room left."""
        loss, has_room = self._losses(kind)
        has_room[origin] = False
        if not has_room.any():
            return None
        left = self._free.min(axis=-1) if not self._problem.is_wide[kind] else self._free.min(axis=(1, 2))
        cheapest = np.where(has_room, loss, -_NOWHERE)
        is_cheapest = cheapest == cheapest.min()
        place = np.unravel_index(int(np.where(is_cheapest, left, -_NOWHERE).argmin()), loss.shape)
        return int(cheapest.min()), int(place[0]), int(place[1]) if len(place) > 1 else WIDE

    def _send(self, kind: int, found: _Departure, host: int, compartment: int) -> None:
        item = self._at[kind, found.host, found.compartment].pop()
        self.moves.append(ItemMove(item, host, compartment))
        self._shift(kind, found.host, found.compartment, 1)
        self._shift(kind, host, compartment, -1)

    def _take_back(self, begun: int, order: list[int], found: _Departure) -> None:
        for kind, move in reversed(list(zip(order, self.moves[begun:], strict=False))):
            self._shift(kind, move.host, move.compartment, 1)
            self._shift(kind, found.host, found.compartment, -1)
            self._at[kind, found.host, found.compartment].append(move.item)
        del self.moves[begun:]

    def _shift(self, kind: int, host: int, compartment: int, sign: int) -> None:
        place = slice(None) if compartment == WIDE else compartment
        self._free[host, place] += sign * self._problem.request[kind]
        self._value[host] = self._worth(self._free[host])
