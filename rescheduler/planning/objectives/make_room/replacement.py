"""Finds new places for evicted pods: best fit, the largest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.planning.objectives.make_room.hole_ranking import HoleRanking
from rescheduler.planning.problem.covers import Covers
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.arrivals import Arrivals
from rescheduler.planning.waves.free_places import tightest


@dataclass(frozen=True)
class Replacement:
    """New nodes of evicted pods in the order of their moves, and the rows that found none."""

    moves: dict[int, int]
    failed: tuple[int, ...]


def replace_rows(problem: Problem, state: Arrivals, rows: Iterable[int]) -> Replacement:
    """Move pods (rows) out of their nodes, in ``state`` too; helped pods stand in it already, so holes are closed.

    First into room that is free before anybody leaves; who finds none tries again once the others have left.
    """
    waiting = list(rows)
    moves: dict[int, int] = {}
    for _ in range(2):
        waiting = _one_wave(problem, state, waiting, moves)
        if not waiting:
            break
        state.placement.settle()
    state.placement.settle()
    return Replacement(moves, tuple(waiting))


def _one_wave(problem: Problem, state: Arrivals, rows: list[int], moves: dict[int, int]) -> list[int]:
    scale = np.maximum(1, problem.columns.allocatable.max(axis=1, initial=1))
    size = (problem.requests[:, rows] / scale[:, None]).max(axis=0) if rows else np.zeros(0)
    failed = []
    for position in np.argsort(-size, kind="stable").tolist():
        row = rows[position]
        pod = int(problem.movable[row])
        nodes = np.flatnonzero(state.open_nodes(pod))
        nodes = nodes[nodes != problem.origin[row]]
        if len(nodes):
            node = tightest(state.placement.free(), problem.request_of(pod), nodes)
            state.placement.move(pod, node)
            moves[pod] = node
            if problem.is_entangled(pod):  # such pods take turns, each in a wave of its own
                state.placement.settle()
        else:
            failed.append(row)
    return failed


def assume_all(state: Arrivals, places: dict[int, int]) -> None:
    """Put pending pods on their nodes, room or no room."""
    for pod, node in places.items():
        if state.placement.node_of[pod] == NOWHERE:
            state.placement.assume(pod, node)


# Chains: an evicted pod that finds no place gets one by evicting smaller pods elsewhere.

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
