"""Finds new places for evicted pods: best fit, the largest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rescheduler.model.arrays import NOWHERE
from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.problem import Problem
from rescheduler.planning.zero_moves import tightest


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
