"""Empties more nodes than a plan does by draining, brings pods home that need not have moved, and finds an order."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from rescheduler.extension_points import Progress
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.empty_nodes.draining.compiling import PLAIN, Loops, compilation
from rescheduler.planning.objectives.empty_nodes.draining.drain_state import DrainState
from rescheduler.planning.objectives.empty_nodes.draining.seatable import seatable_pods
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution, solution_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.remaining_limits import UNLIMITED
from rescheduler.planning.waves.wave_packing import as_far_as_possible, by_urgency
from rescheduler.planning.waves.waves import GroupsOfPods

# Drains one node after the other by seating its pods and those of a few other nodes anew, many times.

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
        loops = self._faster()
        if loops is not None and loops is not state.loops:
            state.with_loops(loops)
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


_SHARE_OF_WAITING, _SHARE_OF_DRAINING, _SHARE_OF_THE_WAY_HOME = 0.4, 0.6, 0.5
_WORTH_COMPILING_SECONDS, _WORTH_COMPILING_PODS = 6.0, 1000


class Draining:
    """What draining needs beside a draft to begin with; made once for a situation."""

    def __init__(self, situation: EmptyingSituation, groups: GroupsOfPods, seed: int, progress: Progress) -> None:
        """Nothing is worked out before it is asked for."""
        self.situation = situation
        self.groups = groups
        self.seed = seed
        self.progress = progress
        self._is_worth_compiling = False

    def prepare(self, deadline: Deadline) -> None:
        """Begin to compile the loops beside other work, if the search is long and large enough for that to pay."""
        is_large = len(self.situation.problem.movable) >= _WORTH_COMPILING_PODS
        self._is_worth_compiling = is_large and deadline.seconds >= _WORTH_COMPILING_SECONDS
        if self._is_worth_compiling:
            compilation()

    def drained(
        self, draft: Mapping[int, int], order: IntArray, wanted: BoolArray, deadline: Deadline
    ) -> Solution | None:
        """A plan that empties more nodes than ``draft`` (pod to node); None if nothing came of it in time.

        ``order``: nodes to drain, ``wanted`` (bool[N]) among them those that take nobody at first.
        """
        if deadline.is_over():
            return None
        seatable = seatable_pods(self.situation)
        if not len(seatable.rows) or deadline.is_over():
            return None
        if self._is_worth_compiling:
            compilation().wait(deadline.part(_SHARE_OF_WAITING).wall_seconds())
        state = DrainState(self.situation, seatable, draft, PLAIN, self.seed)
        is_free = self.situation.limits.in_all >= UNLIMITED
        # Where work is counted, plain and compiled loops do the same, so that numba decides nothing.
        is_fast = self._is_worth_compiling and (deadline.counts_work or compilation().loops() is not None)
        search = DrainSearch(
            state,
            deadline.part(_SHARE_OF_DRAINING),
            keeps_changes=is_free and (is_fast or len(seatable.rows) < _WORTH_COMPILING_PODS),
            faster=compilation().loops if self._is_worth_compiling else _never,
        )
        search.run(order, wanted, self.progress)
        search.bring_home(deadline.part(_SHARE_OF_THE_WAY_HOME))
        self.progress("finding an order of moves")
        return self._in_order(state, deadline)

    def _in_order(self, state: DrainState, deadline: Deadline) -> Solution:
        """The draft in waves, less what found no order; moves that empty nothing after all are left out if they can."""
        moves = state.moves
        is_open = ~state.is_closed & ~self.situation.is_empty
        found = self._waves(moves, is_open, deadline)
        emptied = set(found.emptied)
        at = self.situation.start.node_of
        done = found.schedule.draft.moves
        vain = [pod for pod in done if state.is_closed[at[pod]] and int(at[pod]) not in emptied]
        if vain:
            fewer = self._waves({pod: node for pod, node in done.items() if pod not in vain}, is_open, deadline)
            found = fewer if fewer.is_better_than(found) else found
        return found

    def _waves(self, moves: dict[int, int], is_open: BoolArray, deadline: Deadline) -> Solution:
        problem = self.situation.problem
        order = by_urgency(problem, self.groups, moves)
        waves, _ = as_far_as_possible(problem, self.groups, order, deadline, detours=is_open)
        return solution_of(self.situation, waves.schedule)


def _never() -> Loops | None:
    return None
