"""Packs pods onto the nodes that stay and onto new machines, the largest first: quick, and no proof of anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.replacement.replacement_problem import ReplacementProblem


def packs(problem: ReplacementProblem, numbers: Sequence[int]) -> bool:
    """Whether so many of each machine take all pods, by this rule."""
    left = beside_nodes(problem)
    for machine in np.repeat(np.arange(len(numbers)), numbers).tolist():
        _fill(problem, machine, left)
    return not left.any()


def beside_nodes(problem: ReplacementProblem) -> IntArray:
    """How many pods of each kind find no room on the nodes that stay, int64[K]."""
    left = problem.count.copy()
    for node in range(len(problem.node_room)):
        _take(problem, problem.node_room[node].copy(), problem.most_on_node[:, node], left)
    return left


def of_one_machine(problem: ReplacementProblem, machine: int, pods: IntArray, most: int) -> int | None:
    """How many of one machine take these pods (int64[K]); None: it does not take some of them, or it takes more."""
    left, number = pods.copy(), 0
    while left.any():
        if number == most:
            return None
        before = int(left.sum())
        _fill(problem, machine, left)
        if int(left.sum()) == before:
            return None
        number += 1
    return number


def _fill(problem: ReplacementProblem, machine: int, left: IntArray) -> None:
    _take(problem, problem.machine_room[machine].copy(), problem.most_on_machine[:, machine], left)


def _take(problem: ReplacementProblem, room: IntArray, most: IntArray, left: IntArray) -> None:
    """Let one room take what it can, the kinds of which the fewest would fit first."""
    for kind in np.lexsort((np.arange(len(most)), most)).tolist():
        if not left[kind]:
            continue
        request = problem.request[kind]
        asked = request > 0
        fits = int((room[asked] // request[asked]).min()) if asked.any() else int(left[kind])
        taken = min(fits, int(most[kind]), int(left[kind]))
        room -= taken * request
        left[kind] -= taken
