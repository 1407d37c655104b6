"""A draft of who ends where while nodes are drained: pods that loops may seat, and pods that only real filters may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.draining.compiling import Loops
from rescheduler.planning.objectives.empty_nodes.draining.seatable import Seatable
from rescheduler.planning.objectives.empty_nodes.draining.seats import (
    AWAY,
    NOTED,
    DrainSeats,
    SeatedPods,
    as_arrays,
    as_lists,
    seats_of,
)
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.problem.remaining_limits import UNLIMITED


class DrainState:
    """Seats of the pods that loops may seat, and ``guests``: where the others that have moved are (row to node).

    A node with a guest is not drained any more, since a pod moves once. ``is_shunned``: nodes that take no guests.
    """

    def __init__(
        self, situation: EmptyingSituation, seatable: Seatable, moves: Mapping[int, int], loops: Loops, seed: int
    ) -> None:
        """Begin with ``moves`` (pod to node) made; nodes that they empty, and those that are empty, are closed."""
        self.situation = situation
        self.seatable = seatable
        self.loops = loops
        self.seed = seed
        self.guests: dict[int, int] = {}
        self.is_shunned: BoolArray = np.zeros(situation.node_count, dtype=np.bool_)
        problem = self.problem = situation.problem
        self.resources = np.flatnonzero(problem.requests.any(axis=1))
        self.placement = situation.start.copy()
        self.is_closed: BoolArray = situation.is_empty | _emptied_by(situation, moves)
        is_seatable = np.zeros(len(problem.movable), dtype=np.bool_)
        is_seatable[seatable.rows] = True
        self.others_on = {
            node: [row for row in situation.rows_on[node].tolist() if not is_seatable[row]]
            for node in np.unique(problem.origin[~is_seatable]).tolist()
        }
        self.pods: IntArray = problem.movable[seatable.rows].astype(np.int64)
        node_of = np.array([moves.get(pod, -1) for pod in self.pods.tolist()], dtype=np.int64)
        home = problem.origin[seatable.rows].astype(np.int64)
        node_of = np.where(node_of < 0, home, node_of)
        self.placement.replace(self.pods, node_of)
        for pod, node in moves.items():
            row = problem.row_of_movable[pod]
            if not is_seatable[row]:
                self._move_guest(row, node)
        self._synced: IntArray = node_of
        self.seats = self._make_seats(home, node_of)

    def _make_seats(self, home: IntArray, node_of: IntArray) -> DrainSeats:
        problem, seatable = self.problem, self.seatable
        free = self.placement.free().T[:, self.resources].copy()
        request = problem.requests[self.resources][:, seatable.rows].T
        capacity = np.maximum(0, problem.columns.allocatable.T[:, self.resources])
        pods = SeatedPods(
            free, capacity, request, seatable.class_of, seatable.open_to, seatable.apart, home, node_of, self.is_closed
        )
        return seats_of(pods, self.seed, is_compiled=self.loops.is_compiled)

    @property
    def evictions(self) -> int:
        """Pods that end elsewhere."""
        return int(self.seats.state[AWAY]) + len(self.guests)

    @property
    def moves(self) -> dict[int, int]:
        """Every pod that ends elsewhere, with its node."""
        node_of, home = np.asarray(self.seats.node_of), np.asarray(self.seats.home)
        away = np.flatnonzero(node_of != home)
        found = dict(zip(self.pods[away].tolist(), node_of[away].tolist(), strict=True))
        found.update({int(self.problem.movable[row]): node for row, node in self.guests.items()})
        return found

    def with_loops(self, loops: Loops) -> None:
        """Go on with other loops from the very same state."""
        self.loops = loops
        self.seats = as_arrays(self.seats) if loops.is_compiled else as_lists(self.seats)

    def open_nodes(self, open_to: BoolArray) -> None:
        """From now on the classes of pods may use these nodes, bool[C, N]; where pods are they may stay."""
        self.seats.open_to[:] = open_to.ravel() if self.loops.is_compiled else open_to.ravel().tolist()

    def load(self, node: int) -> float:
        """How much the pods on a node take, in the loops' own measure."""
        seats, first = self.seats, node * self.seats.places
        pods = seats.pods_at[first : first + int(seats.count[node])]
        return float(sum(seats.size[seats.kind[pod]] for pod in pods))

    def may_be_drained(self, node: int) -> bool:
        """Whether all pods on a node are at home there or may be seated by the loops."""
        return not self.is_closed[node] and node not in self.guests.values()

    def close(self, node: int) -> None:
        """Nobody may arrive on a node any more."""
        self.is_closed[node] = True
        self.seats.is_closed[node] = True

    def forget_journal(self) -> None:
        """What was changed stays."""
        self.seats.state[NOTED] = 0

    def keeps_limits(self) -> bool:
        """Whether so many evictions are allowed: in all, from each node, of each namespace."""
        limits = self.situation.limits
        if self.evictions > limits.in_all:
            return False
        if limits.of_namespace is None and limits.of_node.min(initial=UNLIMITED) >= UNLIMITED:
            return True
        pods = np.fromiter(self.moves, dtype=np.int64)
        origins = np.bincount(self.situation.start.node_of[pods], minlength=self.problem.node_count)
        if (origins > limits.of_node).any():
            return False
        names = Counter(self.problem.columns.cluster.pods[pod].namespace for pod in pods.tolist())
        return all(number <= limits.of(name) for name, number in names.items())

    def seat_others(self, node: int) -> list[int] | None:
        """Move the pods of a node that the loops may not seat, by the real filters; None if one finds no place.

        Returns their rows.
        """
        rows = [row for row in self.others_on.get(node, ()) if row not in self.guests]
        for number, row in enumerate(rows):
            goal = self._place_for(row, node)
            if goal is None:
                self.bring_back(rows[:number])
                return None
            self._shift_room(row, goal, 1)
            self._move_guest(row, goal)
        return rows

    def bring_back(self, rows: list[int]) -> None:
        """Guests go home."""
        for row in reversed(rows):
            node, home = self.guests.pop(row), int(self.problem.origin[row])
            pod = int(self.problem.movable[row])
            self.placement.forget(pod)
            self.placement.assume(pod, home)
            self._shift_room(row, node, -1)

    def has_room_at_home(self, row: int) -> bool:
        """Whether a guest still fits where it came from."""
        home = int(self.problem.origin[row])
        first = home * self.seats.width
        room = np.asarray(self.seats.free[first : first + self.seats.width])
        return bool((room >= self.problem.held[self.resources, row]).all())

    def _place_for(self, row: int, node: int) -> int | None:
        """The open node on which the least room remains beside a pod."""
        self._sync()
        pod = int(self.problem.movable[row])
        open_to = self.problem.prediction.feasible(pod, self.placement) & ~self.is_closed & ~self.is_shunned
        open_to[node] = False
        nodes = np.flatnonzero(open_to)
        if not len(nodes):
            return None
        weight: FloatArray = np.asarray(self.seats.weight)
        room = self.placement.free()[np.ix_(self.resources, nodes)].T
        rest = (room - self.problem.requests[self.resources, row]) * weight
        return int(nodes[int((rest**2).sum(axis=1).argmin())])

    def _sync(self) -> None:
        node_of = np.array(self.seats.node_of, dtype=np.int64)
        changed = np.flatnonzero(node_of != self._synced)
        self.placement.replace(self.pods[changed], node_of[changed])
        self._synced = node_of

    def _move_guest(self, row: int, node: int) -> None:
        pod = int(self.problem.movable[row])
        self.placement.forget(pod)
        self.placement.assume(pod, node)
        self.guests[row] = node

    def _shift_room(self, row: int, node: int, sign: int) -> None:
        home, width = int(self.problem.origin[row]), self.seats.width
        for number, resource in enumerate(self.resources.tolist()):
            self.seats.free[home * width + number] += sign * int(self.problem.held[resource, row])
            self.seats.free[node * width + number] -= sign * int(self.problem.requests[resource, row])


def _emptied_by(situation: EmptyingSituation, moves: Mapping[int, int]) -> BoolArray:
    left = situation.pods_on.copy()
    np.subtract.at(left, situation.start.node_of[list(moves)], 1)
    np.add.at(left, list(moves.values()), 1)
    emptied: BoolArray = situation.could_be_emptied & (left == 0)
    return emptied
