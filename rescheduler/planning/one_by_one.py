"""A first plan: one pending pod after the other gets the node that its covers make cheapest."""

from __future__ import annotations

from rescheduler.planning.covers import IMPOSSIBLE, Covers
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Draft, Schedule
from rescheduler.planning.hole_ranking import HoleRanking
from rescheduler.planning.problem import Problem
from rescheduler.planning.replacement import assume_all, replace_rows
from rescheduler.planning.sequencing import sequence
from rescheduler.planning.waiting import Waiting


def plan_one_by_one(problem: Problem, waiting: Waiting, deadline: Deadline, *, largest_first: bool) -> Schedule | None:
    """Help as many waiting pods as this greedy way can, the most important first, then by size.

    Large pods first succeeds more often in helping all; where that cannot be, small ones first helps more.
    """
    covers = Covers(problem.held, problem.origin, problem.node_count, waiting.placeable)
    ranking = HoleRanking(problem, covers)
    state = waiting.state.copy()
    moves: dict[int, int] = {}
    places = dict(waiting.placed)
    for pod in waiting.by_size(largest_first=largest_first):
        if deadline.is_over():
            break
        allowance = _allowance(problem, moves)
        for node, rows in ranking.options(state.placement.free(), pod, allowance):
            trial = state.copy()
            assume_all(trial, {pod: node})
            replacement = replace_rows(problem, trial, rows)
            if not replacement.failed:
                state = trial
                moves.update(replacement.moves)
                places[pod] = node
                covers.remove(node, rows)
                ranking.note_changes({node, *replacement.moves.values()})
                break
    order = tuple(moves.items())
    return sequence(problem, Draft(moves, places), deadline, hint=order).schedule


def _allowance(problem: Problem, moves: dict[int, int]) -> int:
    limits = problem.limits
    left = IMPOSSIBLE if limits.max_evictions is None else limits.max_evictions - len(moves)
    return min(left, IMPOSSIBLE if limits.max_evictions_per_node is None else limits.max_evictions_per_node)
