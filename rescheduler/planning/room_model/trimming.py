"""Takes needless moves out of a draft: of pods that can stay at home, and detours over a node that another leaves."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.problem.draft import Draft
from rescheduler.planning.problem.problem import Problem

MOST_PASSES = 6


def trim(problem: Problem, draft: Draft) -> Draft:
    """The same help with fewer moves, judged by the end state; the result still needs an order.

    Pods that others look at, or that look at others, keep their moves.
    """
    moves = dict(draft.moves)
    room = _room_at_the_end(problem, draft)
    loose = [pod for pod in moves if not problem.is_entangled(pod)]
    row = problem.row_of_movable
    scale = np.maximum(1, problem.columns.allocatable.max(axis=1, initial=1))
    loose.sort(key=lambda pod: (-float((problem.held[:, row[pod]] / scale).max()), pod))
    for _ in range(MOST_PASSES):
        before = len(moves)
        for pod in loose:
            if pod in moves:
                _stay(problem, moves, room, pod)
        for pod in loose:
            if pod in moves:
                _straighten(problem, moves, room, pod)
        if len(moves) == before:
            break
    return Draft(moves, draft.places)


def _room_at_the_end(problem: Problem, draft: Draft) -> IntArray:
    room = problem.free.copy()
    row = problem.row_of_movable
    for pod, node in draft.moves.items():
        room[:, problem.origin[row[pod]]] += problem.held[:, row[pod]]
        room[:, node] -= problem.request_of(pod)
    for pod, node in draft.places.items():
        room[:, node] -= problem.request_of(pod)
    return room


def _stay(problem: Problem, moves: dict[int, int], room: IntArray, pod: int) -> None:
    """Let a pod stay at home if there is room for it at the end."""
    row = problem.row_of_movable[pod]
    home = int(problem.origin[row])
    if _covers(room[:, home], problem.held[:, row]):
        room[:, home] -= problem.held[:, row]
        room[:, moves.pop(pod)] += problem.request_of(pod)


def _straighten(problem: Problem, moves: dict[int, int], room: IntArray, pod: int) -> None:
    """Let a pod stay at home by sending one that comes there on to where this one was to go."""
    row = problem.row_of_movable[pod]
    home, target = int(problem.origin[row]), moves[pod]
    held, request = problem.held[:, row], problem.request_of(pod)
    for other, node in moves.items():
        if node != home or other == pod or problem.is_entangled(other):
            continue
        asked = problem.request_of(other)
        if int(problem.start.node_of[other]) == target or not problem.static_mask(other)[1][target]:
            continue
        if _covers(room[:, home] + asked, held) and _covers(room[:, target] + request, asked):
            room[:, home] += asked - held
            room[:, target] += request - asked
            moves[other] = target
            del moves[pod]
            return


def _covers(room: IntArray, amounts: IntArray) -> bool:
    return bool(((amounts <= room) | (amounts == 0)).all())
