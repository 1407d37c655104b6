"""A first plan: one pending pod after the other gets the node that its covers make cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from rescheduler.planning.objectives.make_room.hole_ranking import HoleRanking
from rescheduler.planning.objectives.make_room.replacement import assume_all, replace_rows
from rescheduler.planning.objectives.make_room.waiting import WaitingForReplacements
from rescheduler.planning.problem.covers import IMPOSSIBLE, Covers
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.sequencing import sequence


def plan_one_by_one(
    problem: Problem, waiting: WaitingForReplacements, deadline: Deadline, *, largest_first: bool
) -> WaveSchedule | None:
    """Help as many waiting pods as this greedy way can, the most important first, then by size.

    Large pods first succeeds more often in helping all; where that cannot be, small ones first helps more.
    """
    attempt = _Attempt(problem, waiting)
    for unit in problem.pending_groups.in_units(waiting.by_size(largest_first=largest_first)):
        if deadline.is_over():
            break
        after = attempt.copy() if len(unit) > 1 else attempt
        if after.help_all(unit):
            attempt = after
    return sequence(problem, Draft(attempt.moves, attempt.places), deadline, hint=tuple(attempt.moves.items())).schedule


class _Attempt:
    """What has been moved and placed so far."""

    def __init__(self, problem: Problem, waiting: WaitingForReplacements) -> None:
        self.problem = problem
        self.waiting = waiting
        self.covers = Covers(problem.held, problem.origin, problem.node_count, waiting.placeable)
        self.ranking = HoleRanking(problem, self.covers)
        self.state = waiting.state.copy()
        self.moves: dict[int, int] = {}
        self.places = dict(waiting.placed)

    def copy(self) -> _Attempt:
        """An independent copy."""
        other = copy(self)
        other.covers = self.covers.copy()
        other.ranking = HoleRanking(self.problem, other.covers)
        other.state = self.state.copy()
        other.moves, other.places = dict(self.moves), dict(self.places)
        return other

    def help_all(self, unit: Sequence[int]) -> bool:
        """Whether all pods of a unit get a place, for no more evictions than they are worth."""
        before = len(self.moves)
        return all(self._help(pod, self._worth(pod, len(unit)) - (len(self.moves) - before)) for pod in unit)

    def _worth(self, pod: int, number: int) -> int:
        pending_groups = self.problem.pending_groups
        if pending_groups.evictions_per_pod is None or pending_groups.priority(pod) != pending_groups.levels[-1]:
            return IMPOSSIBLE
        return pending_groups.evictions_per_pod * number

    def _help(self, pod: int, most: int) -> bool:
        left = self.problem.remaining
        allowance = min(most, left.in_all - len(self.moves), int(left.of_node.max(initial=0)), IMPOSSIBLE)
        for node, rows in self.ranking.options(self.state.placement.free(), pod, allowance):
            trial = self.state.copy()
            assume_all(trial, {pod: node})
            replacement = replace_rows(self.problem, trial, rows)
            if not replacement.failed:
                self.state = trial
                self.moves.update(replacement.moves)
                self.places[pod] = node
                self.covers.remove(node, rows)
                self.ranking.note_changes({node, *replacement.moves.values()})
                return True
        return False
