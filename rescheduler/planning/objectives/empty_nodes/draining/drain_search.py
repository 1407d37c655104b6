"""Drains one node after the other by seating its pods and those of a few other nodes anew; brings pods home again."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from rescheduler.extension_points import Progress
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.empty_nodes.draining.compiling import Loops
from rescheduler.planning.objectives.empty_nodes.draining.drain_state import DrainState
from rescheduler.planning.problem.deadline import Deadline

Faster: TypeAlias = Callable[[], Loops | None]
_TRIES = 25
_NOISE = 0.5
_DEARER_BY_FAILURE = 1.1
_MOST_FAILURES_EACH = 24
_MOST_HOME_PASSES = 12


class DrainSearch:
    """One run over a state. ``emptied``: nodes drained here.

    ``keeps_changes``: what a failed attempt has shifted stays, at the price of more evictions, which the way home
    takes back for the most part.
    """

    def __init__(self, state: DrainState, deadline: Deadline, *, keeps_changes: bool, faster: Faster) -> None:
        """``faster`` is asked now and then for loops to go on with."""
        self.state = state
        self.deadline = deadline
        self.keeps_changes = keeps_changes
        self.emptied: list[int] = []
        self._faster = faster
        self._failures: dict[int, int] = {}

    def run(self, nodes: IntArray, wanted: BoolArray, progress: Progress) -> None:
        """Drain what can be drained of ``nodes``: in the order given at first, and without arrivals on ``wanted``."""
        targets = [node for node in nodes.tolist() if self.state.may_be_drained(node)]
        wanted = wanted.copy()
        for node in targets:
            if self.deadline.is_over():
                return
            self._attempt(node, self._receivers(wanted))
            wanted[node] = False
        self._insist([node for node in targets if node not in self.emptied], progress)

    def _insist(self, targets: list[int], progress: Progress) -> None:
        """Always the node with the least on it for what it is worth, until all have failed too often."""
        queue = [(self._rank(node), node) for node in targets]
        heapq.heapify(queue)
        receivers = self._receivers(np.zeros(self.state.problem.node_count, dtype=np.bool_))
        while queue and not self.deadline.is_over():
            rank, node = heapq.heappop(queue)
            now = self._rank(node)
            if now > rank and queue and now > queue[0][0]:
                heapq.heappush(queue, (now, node))
                continue
            if not self.state.may_be_drained(node) or self._failures[node] > _MOST_FAILURES_EACH:
                continue
            if self._attempt(node, receivers):
                receivers = self._receivers(np.zeros(self.state.problem.node_count, dtype=np.bool_))
                progress(f"{len(self.emptied)} more nodes drained")
            else:
                heapq.heappush(queue, (self._rank(node), node))

    def _rank(self, node: int) -> float:
        price = float(self.state.situation.price[node])
        return self.state.load(node) / price * _DEARER_BY_FAILURE ** self._failures.get(node, 0)

    def _receivers(self, shunned: BoolArray) -> IntArray:
        return np.flatnonzero(~self.state.is_closed & ~shunned)

    def _attempt(self, node: int, receivers: IntArray) -> bool:
        """Drain a node; what was shifted in vain goes back, unless changes are kept."""
        state = self.state
        self._go_faster()
        self._failures[node] = self._failures.get(node, 0)
        if not len(receivers):
            return False
        guests = state.seat_others(node)
        if guests is None:
            self._failures[node] += 2
            return False
        state.forget_journal()
        choice = receivers if state.loops.is_compiled else receivers.tolist()
        is_drained = state.loops.drain(state.seats, node, choice, _TRIES, _NOISE)
        if is_drained and state.keeps_limits():
            state.close(node)
            self.emptied.append(node)
            return True
        self._failures[node] += 1
        if is_drained or not self.keeps_changes or not state.keeps_limits():
            state.loops.undo(state.seats, 0)
        state.bring_back([row for row in guests if state.has_room_at_home(row)])
        return False

    def _go_faster(self) -> None:
        loops = self._faster()
        if loops is not None and loops is not self.state.loops:
            self.state.with_loops(loops)

    def bring_home(self, deadline: Deadline) -> None:
        """Give moved pods of nodes that are kept their seats at home back, as far as all others still find one."""
        state = self.state
        for row in [row for row in state.guests if not state.is_closed[state.problem.origin[row]]]:
            if state.has_room_at_home(row):
                state.bring_back([row])
        random = np.random.default_rng(state.seed)
        home = np.asarray(state.seats.home)
        for _ in range(_MOST_HOME_PASSES):
            before = state.evictions
            away = np.flatnonzero((np.asarray(state.seats.node_of) != home) & ~state.is_closed[home])
            for pod in random.permutation(away).tolist():
                if deadline.is_over():
                    return
                state.loops.go_home(state.seats, pod, _NOISE)
            if state.evictions > 0.995 * before:
                return
