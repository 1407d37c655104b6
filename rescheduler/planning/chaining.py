"""Chains: an evicted pod that finds no place gets one by evicting smaller pods elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.covers import Covers
from rescheduler.planning.hole_ranking import HoleRanking
from rescheduler.planning.problem import Problem
from rescheduler.planning.replacement import replace_rows

MOST_IN_CHAIN = 3


def chain(problem: Problem, state: Arrivals, covers: Covers, rows: Sequence[int]) -> dict[int, int] | None:
    """New nodes for pods (rows) that stand in the way in ``state``, and for those evicted for them; None: no way.

    Moves are in an order in which they may happen. ``covers`` must not hold pods that have moved already; both it and
    ``state`` are used up.
    """
    moves: dict[int, int] = {}
    ranking = HoleRanking(problem, covers)
    for row in rows:
        pod = int(problem.movable[row])
        for node, evicted in ranking.options(state.placement.free(), pod, MOST_IN_CHAIN):
            if node == problem.origin[row] or row in evicted:
                continue
            trial = state.copy()
            trial.placement.move(pod, node)
            replacement = replace_rows(problem, trial, evicted)
            if not replacement.failed:
                state = trial
                moves.update(replacement.moves)
                moves[pod] = node
                covers.remove(node, evicted)
                ranking.note_changes({node, int(problem.origin[row]), *replacement.moves.values()})
                break
        else:
            return None
    return moves
