"""Sends pods where the scheduler would send them by itself, wherever the room that was made does not suffer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.objectives.defragment.options import Option, Options
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.search.arranging import arrange
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.waves.scheduler_choice import SchedulerChoice, close
from rescheduler.planning.waves.waves import GroupsOfPods

# Room for shapes by moves that the scheduler makes by itself, with nothing held: each pod goes where it is sent.

_MOST_ROUNDS = 3
_MOST_TARGETS = 300


class Unguided:
    """Tries one option of a node after another, the most gain for each eviction first."""

    def __init__(self, situation: DefragmentSituation, current: SearchState) -> None:
        """Begin with what stands on the search state."""
        self._situation = situation
        self._current = current

    def run(self, deadline: Deadline) -> WaveSchedule:
        """The moves that pay and come about; they stand on the search state."""
        for _ in range(_MOST_ROUNDS):
            before = self._current.cost
            for option in self._options(deadline.part(0.5)):
                if deadline.is_over():
                    break
                self._try(option)
            if self._current.cost >= before - SAME:
                break
        schedule, _ = arrange(self._current, GroupsOfPods(self._situation.problem), deadline, only_predicted=True)
        return schedule

    def _options(self, deadline: Deadline) -> list[Option]:
        situation, current = self._situation, self._current
        spent = np.array(list(current.moved), dtype=np.int64)
        may_leave = np.ones(len(situation.problem.movable), dtype=np.bool_)
        may_leave[spent] = False
        options = Options(situation, current.free, may_leave, spent)
        found = list(options.covering(self._cost, _MOST_TARGETS, deadline)) if options.most_moves > 0 else []
        return sorted(found, key=lambda option: (-option.gain / option.moves, option.node, option.rows))

    def _cost(self, rows: IntArray) -> IntArray:
        return self._situation.problem.eviction_cost(rows)

    def _try(self, option: Option) -> None:
        current = self._current
        before = current.cost
        moved: list[int] = []
        for row in option.rows:
            node = self._destination(row)
            if node is None:
                break
            current.move(row, node)
            moved.append(row)
        if len(moved) < option.moves or current.cost >= before - SAME:
            for row in reversed(moved):
                current.undo(row)

    def _destination(self, row: int) -> int | None:
        """Where the scheduler sends a pod, the least harmful of equal nodes; None if it may come back."""
        current = self._current
        if not current.may_leave(row):
            return None
        liked = SchedulerChoice(current.problem, current.placement).best(current.pod(row))
        if not liked or current.problem.origin[row] in liked:
            return None
        best = np.array(liked)[current.open_to(row)[liked]]
        return int(best[np.argmin(current.state.change(row)[best])]) if len(best) else None


_MOST_TRIED = 3


def following_the_scheduler(
    current: SearchState, schedule: WaveSchedule, closes: Sequence[int], deadline: Deadline
) -> WaveSchedule:
    """The same pods moved, worth no less, to other nodes if the scheduler likes these better while ``closes`` are held.

    The moves stand on the state before and after. Where the new destinations find no order the old ones stay; so they
    do where pods leave before they arrive, since there is no room elsewhere then.
    """
    if schedule.evict_first:
        return schedule
    kept, cost = list(current.moved.items()), current.cost
    problem = current.problem
    choice = SchedulerChoice(problem, problem.start.copy())
    close(choice.placement, closes)
    for pod, node in choice.walk(schedule):
        target = node
        best = [] if deadline.is_over() else choice.elsewhere(pod)
        if best and node not in best:
            row = problem.row_of_movable[pod]
            target = next((other for other in best[:_MOST_TRIED] if _goes_as_well(current, row, other)), node)
        choice.send(pod, target)
    if dict(kept) == current.moved:
        return schedule
    found, _ = arrange(current, GroupsOfPods(problem), deadline, only_predicted=False)
    if current.cost <= cost + SAME and len(current.moved) <= len(kept) and not found.evict_first:
        return found
    current.reset(kept)
    return schedule


def _goes_as_well(current: SearchState, row: int, other: int) -> bool:
    """Move a pod elsewhere than it was, if it may and nothing is lost by it."""
    cost, node = current.cost, current.moved[row]
    current.undo(row)
    if current.open_to(row)[other]:
        current.move(row, other)
        if current.cost <= cost + SAME:
            return True
        current.undo(row)
    current.move(row, node)
    return False
