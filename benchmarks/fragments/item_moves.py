"""Turns changes of hosts into moves of items, in an order in which each finds its room free."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from benchmarks.fragments.fragmented import Fragmented
from benchmarks.fragments.host_changes import HostChange, HostChanges
from rescheduler.model.columns.arrays import IntArray

WIDE = -1


class Item(NamedTuple):
    """One item: ``compartment`` is WIDE for one that lies in all of its host's."""

    number: int
    kind: int
    host: int
    compartment: int


class ItemMove(NamedTuple):
    """An item goes to a compartment (WIDE: to all) of a host."""

    item: int
    host: int
    compartment: int


class _Slot(NamedTuple):
    kind: int
    host: int
    compartment: int


def item_moves(
    problem: Fragmented, columns: HostChanges, changes: tuple[HostChange, ...], items: list[Item]
) -> list[ItemMove]:
    """Moves that carry the changes out; which item goes where is decided so that few wait for each other.

    Where the rest wait for each other in a ring it is left out.
    """
    leaving, slots = _ends(columns, changes, items)
    return _Order(problem, leaving, slots).find()


def _ends(
    columns: HostChanges, changes: tuple[HostChange, ...], items: list[Item]
) -> tuple[dict[int, list[Item]], list[_Slot]]:
    """Items that leave by kind, and the slots that others come into."""
    at: dict[_Slot, list[Item]] = defaultdict(list)
    for item in items:
        at[_Slot(item.kind, item.host, item.compartment)].append(item)
    leaving: dict[int, list[Item]] = defaultdict(list)
    slots: list[_Slot] = []
    for change in changes:
        parts = [(WIDE, columns.wide, change.wide)]
        parts += [(compartment, columns.narrow, number) for compartment, number in enumerate(change.narrow)]
        for compartment, kind_of_change, number in parts:
            for kind in kind_of_change.departures[number].nonzero()[0].tolist():
                count = int(kind_of_change.departures[number, kind])
                leaving[kind] += at[_Slot(kind, change.host, compartment)][:count]
            for kind in kind_of_change.arrivals[number].nonzero()[0].tolist():
                slots += [_Slot(kind, change.host, compartment)] * int(kind_of_change.arrivals[number, kind])
    return leaving, slots


class _Order:
    """Fills slots one after another; of the items that may come the one is taken whose room others wait for."""

    def __init__(self, problem: Fragmented, leaving: dict[int, list[Item]], slots: list[_Slot]) -> None:
        self._request = problem.request
        self._free: IntArray = problem.free.copy()
        self._leaving = leaving
        self._slots = sorted(slots)

    def find(self) -> list[ItemMove]:
        moves: list[ItemMove] = []
        while True:
            slot = next((slot for slot in self._slots if self._has_room(slot)), None)
            item = None if slot is None else self._item_for(slot)
            if slot is None or item is None:
                return moves
            self._slots.remove(slot)
            self._leaving[slot.kind].remove(item)
            self._free[slot.host, _index(slot.compartment)] -= self._request[slot.kind]
            self._free[item.host, _index(item.compartment)] += self._request[slot.kind]
            moves.append(ItemMove(item.number, slot.host, slot.compartment))

    def _has_room(self, slot: _Slot) -> bool:
        room = self._free[slot.host, _index(slot.compartment)]
        return bool(self._leaving[slot.kind]) and bool((room >= self._request[slot.kind]).all())

    def _item_for(self, slot: _Slot) -> Item | None:
        """An item of the kind; one whose place a slot waits for goes first."""
        wanted = {(waiting.host, waiting.compartment) for waiting in self._slots if not self._has_room(waiting)}
        hosts = {host for host, _ in wanted}

        def rank(item: Item) -> tuple[bool, bool, int]:
            return ((item.host, item.compartment) not in wanted, item.host not in hosts, item.number)

        return min(self._leaving[slot.kind], key=rank, default=None)


def _index(compartment: int) -> int | slice:
    return slice(None) if compartment == WIDE else compartment
