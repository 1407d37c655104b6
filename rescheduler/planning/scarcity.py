"""Room of one size, on the nodes that pods of one kind may use, of which there is not enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.planning.problem import Problem


class Scarcity(NamedTuple):
    """``mask_number`` names the nodes (see Problem.masks), ``size`` the amounts by resource row."""

    mask_number: int
    size: tuple[int, ...]


def at_least_as_hard(problem: Problem, scarcity: Scarcity) -> BoolArray:
    """Movable pods, bool[M], that ask for at least that much and may be on no other nodes."""
    size = np.array(scarcity.size, dtype=np.int64)
    return np.asarray((problem.requests >= size[:, None]).all(axis=0) & is_confined(problem, scarcity.mask_number))


def is_confined(problem: Problem, mask_number: int) -> BoolArray:
    """Movable pods, bool[M], that may arrive on no nodes but those of a mask."""
    mask = problem.masks[mask_number]
    numbers = problem.mask_numbers
    inside = np.array([not (other & ~mask).any() for other in problem.masks], dtype=np.bool_)
    return np.asarray(inside[numbers] & mask[problem.origin])
