"""Chooses options and seats together: the integer program in the terms of nodes and pods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.defragment.kinds import MovableKinds
from rescheduler.planning.objectives.defragment.options import Option, Options
from rescheduler.planning.objectives.defragment.situation import Seat
from rescheduler.planning.problem.amounts import fits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.remaining_limits import UNLIMITED
from rescheduler.planning.solvers.option_model import OptionChoice

# Takes one option after another whose pods all find seats that nothing wanted is lost by.


class Greedy:
    """Seats in the room that is nobody's loss; tightest first, so that wide room stays for large pods."""

    def __init__(self, options: Options, kinds: MovableKinds) -> None:
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


_MOST_SEATS = 2_000
_LEAST_SEATS = 4  # of one kind


def chosen_seats(
    options: Options,
    kinds: MovableKinds,
    offered: Sequence[Option],
    profit: FloatArray,
    deadline: Deadline,
    most_branches: int,
) -> list[Seat]:
    """Who goes where by the best choice of the options offered, each worth its ``profit`` (float64[O])."""
    uses = np.zeros((len(offered), sum(len(option.rows) for option in offered)), dtype=np.int64)
    for number, option in enumerate(offered):
        for row in option.rows:
            uses[number, kinds.of(row)] += 1
    uses = uses[:, : len(kinds)]
    if not len(kinds):
        return []
    used = np.flatnonzero(uses.any(axis=0))
    kind, node = _possible_seats(options, kinds, offered, used)
    scale = np.maximum(1, options.situation.columns.allocatable.max(axis=1, initial=1)).astype(np.float64)
    spaces = np.flatnonzero(np.stack(kinds.request).any(axis=0))
    choice = OptionChoice(
        node=np.array([option.node for option in offered], dtype=np.int64),
        profit=profit,
        moves=uses.sum(axis=1),
        uses=uses,
        slack=(np.stack([option.slack for option in offered]) / scale)[:, spaces],
        spare=(options.slack.T / scale)[:, spaces],
        seat_kind=kind,
        seat_node=node,
        seat_most=np.where(np.array(kinds.is_alone)[kind], 1, min(options.most_moves, UNLIMITED)),
        request=(np.stack(kinds.request) / scale)[:, spaces],
        **_namespace_limits(options, kinds),
        most_moves=options.most_moves,
    )
    taken, seated = choice.choose(deadline, most_branches)
    return _matched(kinds, [offered[number] for number in taken.tolist()], choice, seated)


def _possible_seats(
    options: Options, kinds: MovableKinds, offered: Sequence[Option], used: IntArray
) -> tuple[IntArray, IntArray]:
    """(kind, node) pairs with room enough, the tightest of each kind where there are too many."""
    most_slack = options.slack.copy()
    for option in offered:
        most_slack[:, option.node] = np.maximum(most_slack[:, option.node], option.slack)
    scale = np.maximum(1, options.situation.columns.allocatable.max(axis=1, initial=1)).astype(np.float64)
    most = max(_LEAST_SEATS, _MOST_SEATS // max(1, len(used)))
    found_kinds, found_nodes = [], []
    for kind in used.tolist():
        request = kinds.request[kind]
        nodes = np.flatnonzero(kinds.open_to[kind] & fits(request, most_slack))
        if len(nodes) > most:
            rest = ((options.slack[:, nodes] - request[:, None]) / scale[:, None]).min(axis=0)
            order = np.lexsort((nodes, rest))
            order = np.concatenate((order[rest[order] >= 0], order[rest[order] < 0]))
            nodes = nodes[np.concatenate((order[: most // 2], order[-(most // 2) :]))]
        found_kinds.append(np.full(len(nodes), kind, dtype=np.int64))
        found_nodes.append(nodes)
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *found_kinds]), np.concatenate([empty, *found_nodes])


def _namespace_limits(options: Options, kinds: MovableKinds) -> dict[str, IntArray]:
    left = options.left_in_namespace
    bound = np.flatnonzero(left < options.most_moves)
    numbers = np.array(kinds.namespace, dtype=np.int64)
    return {"limit_of": (numbers[None, :] == bound[:, None]).astype(np.int64), "limit": left[bound]}


def _matched(kinds: MovableKinds, taken: Sequence[Option], choice: OptionChoice, seated: IntArray) -> list[Seat]:
    """Pods of each kind on the seats of that kind; who would go back to its node stays there instead."""
    leaving: dict[int, list[Seat]] = defaultdict(list)
    for option in taken:
        for row in option.rows:
            leaving[kinds.of(row)].append((row, option.node))
    coming: dict[int, list[int]] = defaultdict(list)
    for kind, node, count in zip(choice.seat_kind.tolist(), choice.seat_node.tolist(), seated.tolist(), strict=True):
        coming[kind] += [node] * count
    found: list[Seat] = []
    for kind, pods in sorted(leaving.items()):
        places = coming[kind]
        for row, node in list(pods):
            if node in places:
                places.remove(node)
                pods.remove((row, node))
        found += [(row, place) for (row, _), place in zip(pods, places, strict=False)]
    return found
