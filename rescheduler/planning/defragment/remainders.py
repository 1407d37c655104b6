"""What a departure can add at most once the pod has arrived elsewhere: the part of it that is no whole shape.

Let a pod request at least k times what a shape asks for. On whatever node it arrives, the shape fits at least k times
less, since the floor of a sum of room and k whole shapes is k more than the floor of the room. So departures gain no
more, taken together with their arrivals, than if each pod held k shapes less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.arrays import BoolArray, IntArray
from rescheduler.model.resources import PODS
from rescheduler.planning.covers import Covers
from rescheduler.planning.defragment.situation import Situation


class Remainders(NamedTuple):
    """For one shape: ``rows`` of the resources that decide how often it fits, and covers by what departures add."""

    rows: IntArray
    covers: Covers


def remainders_of(situation: Situation, shape: int) -> Remainders:
    """See above; ``covers`` counts the resources ``rows`` only, in this order."""
    rows = situation.shapes.asked[shape]
    slots = situation.columns.resource_index[PODS]
    is_free_of_slots = len(rows) > 1 and _has_slots_to_spare(situation, shape, slots)
    if is_free_of_slots:
        rows = rows[rows != slots]
    amounts = situation.shapes.amounts[shape, rows][:, None]
    least = np.minimum(situation.held[rows], situation.arriving[rows])
    whole = np.where(_arrives_where_it_counts(situation, shape), (least // amounts).min(axis=0), 0)
    if not is_free_of_slots:
        whole = np.minimum(whole, 1)
    held = situation.held[rows] - whole * amounts
    return Remainders(rows, Covers(held, situation.problem.origin, situation.problem.node_count))


def _has_slots_to_spare(situation: Situation, shape: int, slots: int) -> bool:
    """Whether slots for pods can never be what a shape lacks, whoever arrives."""
    shapes, problem = situation.shapes, situation.problem
    usable = shapes.is_usable[shape]
    rows = shapes.asked[shape][shapes.asked[shape] != slots]
    offered = problem.columns.allocatable[rows][:, usable] // shapes.amounts[shape, rows][:, None]
    slots_left = problem.free[slots, usable] - situation.most_moves
    return bool((slots_left >= offered.min(axis=0)).all())


def _arrives_where_it_counts(situation: Situation, shape: int) -> BoolArray:
    """Movable pods that may arrive only on nodes where the shape is counted, bool[M]."""
    problem, usable = situation.problem, situation.shapes.is_usable[shape]
    numbers = problem.mask_numbers
    is_bound = np.array([not (mask & ~usable).any() for mask in problem.masks], dtype=np.bool_)
    found: BoolArray = is_bound[numbers] if len(numbers) else np.zeros(0, dtype=np.bool_)
    return found
