"""Empties more nodes than a plan does by draining, brings pods home that need not have moved, and finds an order."""

from __future__ import annotations

from collections.abc import Mapping

from rescheduler.extension_points import Progress
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.empty_nodes.draining.compiling import PLAIN, Loops, compilation
from rescheduler.planning.objectives.empty_nodes.draining.drain_search import DrainSearch
from rescheduler.planning.objectives.empty_nodes.draining.drain_state import DrainState
from rescheduler.planning.objectives.empty_nodes.draining.seatable import seatable_pods
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution, solution_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.remaining_limits import UNLIMITED
from rescheduler.planning.waves.wave_packing import as_far_as_possible, by_urgency
from rescheduler.planning.waves.waves import GroupsOfPods

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
            compilation().wait(deadline.part(_SHARE_OF_WAITING).remaining())
        state = DrainState(self.situation, seatable, draft, PLAIN, self.seed)
        is_free = self.situation.limits.in_all >= UNLIMITED
        is_fast = self._is_worth_compiling and compilation().loops() is not None
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
