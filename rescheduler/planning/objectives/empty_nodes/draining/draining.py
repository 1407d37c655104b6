"""Empties more nodes than a plan does by draining, or many at once, and finds an order of the moves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from rescheduler.extension_points import Progress
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.empty_nodes.draining.compiling import PLAIN, Loops, compilation
from rescheduler.planning.objectives.empty_nodes.draining.drain_search import DrainSearch, Faster
from rescheduler.planning.objectives.empty_nodes.draining.drain_state import DrainState
from rescheduler.planning.objectives.empty_nodes.draining.emptying_targets import TargetFinder
from rescheduler.planning.objectives.empty_nodes.draining.seatable import Seatable, seatable_pods
from rescheduler.planning.objectives.empty_nodes.draining.together import TogetherSearch, narrowed
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution, solution_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.remaining_limits import UNLIMITED
from rescheduler.planning.waves.wave_packing import as_far_as_possible, by_size, by_urgency
from rescheduler.planning.waves.waves import GroupsOfPods

_SHARE_OF_WAITING, _SHARE_OF_DRAINING, _SHARE_OF_THE_WAY_HOME = 0.4, 0.6, 0.5
_SHARE_OF_TARGETS, _SHARE_OF_TOGETHER, _SHARE_OF_THE_LONG_WAY_HOME = 0.3, 0.55, 0.8
_WORTH_COMPILING_SECONDS, _WORTH_COMPILING_PODS = 6.0, 1000


class Together(NamedTuple):
    """A plan, and of how many nodes that were to be emptied how many were not, before an order was asked for."""

    solution: Solution
    left: int


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
        seatable = self._seatable
        if not len(seatable.rows) or deadline.is_over():
            return None
        self._wait(deadline)
        state = DrainState(self.situation, seatable, draft, PLAIN, self.seed)
        is_free = self.situation.limits.in_all >= UNLIMITED
        search = DrainSearch(
            state,
            deadline.part(_SHARE_OF_DRAINING),
            keeps_changes=is_free and self.is_ready(deadline),
            faster=self._faster,
        )
        search.run(order, wanted, self.progress)
        search.bring_home(deadline.part(_SHARE_OF_THE_WAY_HOME))
        self.progress("finding an order of moves")
        return self._in_order(state, deadline)

    def together(self, spare: float, deadline: Deadline, number: int = 0) -> Together | None:
        """A plan that empties at once what can be if a share ``spare`` of all room stays free; None if there is none.

        Only where evictions have no limit that binds, since it takes more of them than one node after the other does,
        and where loops are fast. ``number``: of the try; each draws differently.
        """
        situation = self.situation
        if situation.limits.in_all < len(situation.problem.movable) or not len(self._seatable.rows):
            return None  # fewer than all pods, each of which moves once
        self._wait(deadline)
        if not self.is_ready(deadline) or deadline.is_over():
            return None
        targets = self._finder.targets(spare, deadline.part(_SHARE_OF_TARGETS))
        if targets is None or deadline.is_over():
            return None
        seatable, whole = narrowed(self._seatable, targets)
        state = DrainState(self.situation, seatable, {}, PLAIN, self.seed + number)
        search = TogetherSearch(state, deadline.part(_SHARE_OF_TOGETHER), keeps_changes=True, faster=self._faster)
        search.empty(targets.emptied, whole)
        search.bring_home(deadline.part(_SHARE_OF_THE_LONG_WAY_HOME))
        left = len(targets.emptied) - len(search.emptied)
        return Together(self._in_order(state, deadline), left)

    def is_ready(self, deadline: Deadline) -> bool:
        """Whether loops are fast enough for what there is to seat."""
        return len(self._seatable.rows) < _WORTH_COMPILING_PODS or self._is_fast(deadline)

    @cached_property
    def _seatable(self) -> Seatable:
        return seatable_pods(self.situation)

    @cached_property
    def _finder(self) -> TargetFinder:
        return TargetFinder(self.situation, self._seatable)

    @property
    def _faster(self) -> Faster:
        return compilation().loops if self._is_worth_compiling else _never

    def _is_fast(self, deadline: Deadline) -> bool:
        """Where work is counted, plain and compiled loops do the same, so that numba decides nothing."""
        return self._is_worth_compiling and (deadline.counts_work or compilation().loops() is not None)

    def _wait(self, deadline: Deadline) -> None:
        if self._is_worth_compiling:
            compilation().wait(deadline.part(_SHARE_OF_WAITING).wall_seconds())

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
        best = Solution()
        largest, makes_room = by_size(problem, moves)
        for order, alone in ((by_urgency(problem, self.groups, moves), 0), (largest, 0), (largest, makes_room)):
            waves, rest = as_far_as_possible(problem, self.groups, order, deadline, detours=is_open, alone=alone)
            found = solution_of(self.situation, waves.schedule)
            best = found if found.is_better_than(best) else best
            if not rest:
                break
        return best


def _never() -> Loops | None:
    return None
