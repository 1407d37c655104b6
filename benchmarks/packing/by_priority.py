"""Places as many pods as it can of the highest priority, then of the next, and so on; what is lower makes way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.packing.packing_model import PackingModel
from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage
from rescheduler.planning.objectives.empty_nodes.repacking.mending import seat_waiting
from rescheduler.planning.objectives.empty_nodes.repacking.seating import Seating
from rescheduler.planning.problem.deadline import Deadline

_MOST_FAILURES = 15
_SHARE_OF_SEATING = 0.45


class Packing(NamedTuple):
    """Where each pod ends.

    ``node_of``: int64[P], NOWHERE without a place. By level of priority, the highest first: ``placed`` counts pods
    that have a place; ``bounds`` are the most that any answer with the same numbers above can place.
    """

    node_of: IntArray
    placed: tuple[int, ...]
    bounds: tuple[int, ...]


def pack_by_priority(drainage: Drainage, priority: IntArray, deadline: Deadline, seed: int) -> Packing:
    """Exchanges first, which are quick and nearly always enough; then an exact model with their answer as its hint."""
    levels = [np.flatnonzero(priority == level) for level in sorted(set(priority.tolist()), reverse=True)]
    node_of = _by_exchanges(drainage, levels, deadline.part(_SHARE_OF_SEATING), np.random.default_rng(seed))
    placed = _counts(node_of, levels)
    if placed == tuple(map(len, levels)):
        return Packing(node_of, placed, placed)
    return _exactly(drainage, levels, node_of, deadline, seed)


def _by_exchanges(
    drainage: Drainage, levels: list[IntArray], deadline: Deadline, random: np.random.Generator
) -> IntArray:
    """Level by level, as if those below were not there; pods keep their home where it has room."""
    seating = Seating(drainage, ())
    for pod in np.flatnonzero(seating.node_of != NOWHERE).tolist():
        seating.seat(pod, NOWHERE)
    for number, level in enumerate(levels):
        for pod in level.tolist():
            home = int(drainage.home[pod])
            if home != NOWHERE and (seating.free[home] >= drainage.request[pod]).all():
                seating.seat(pod, home)
        _seat_level(seating, level, deadline.part(1 / (len(levels) - number)), random)
    return seating.node_of.copy()


def _seat_level(seating: Seating, level: IntArray, deadline: Deadline, random: np.random.Generator) -> None:
    members = set(level.tolist())
    waiting = [pod for pod in seating.unseated if pod in members]
    seat_waiting(seating, waiting, random, most_failures=_MOST_FAILURES, is_over=deadline.is_over)


def _exactly(drainage: Drainage, levels: list[IntArray], node_of: IntArray, deadline: Deadline, seed: int) -> Packing:
    model = PackingModel(drainage, levels, seed)
    model.hint(node_of)
    bounds = []
    for number, level in enumerate(levels):
        bounds.append(min(len(level), model.raise_level(number, deadline.part(1 / (len(levels) - number)))))
    found = model.places()
    if found is not None and _counts(found, levels) > _counts(node_of, levels):
        node_of = found
    placed = _counts(node_of, levels)
    # A bound holds for an answer with the same numbers above; where the model's were better, it says nothing of ours.
    return Packing(node_of, placed, tuple(max(most, count) for most, count in zip(bounds, placed, strict=True)))


def _counts(node_of: IntArray, levels: list[IntArray]) -> tuple[int, ...]:
    return tuple(int((node_of[level] != NOWHERE).sum()) for level in levels)
