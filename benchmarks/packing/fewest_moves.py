"""Empties a given number of nodes by the fewest moves: sets of nodes by price, then seats for their pods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.packing.emptied_set import FINENESS, EmptiedSet, EmptiedSetModel
from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage
from rescheduler.planning.objectives.empty_nodes.repacking.mending import mend
from rescheduler.planning.objectives.empty_nodes.repacking.seating import Seating, seat_by_best_fit
from rescheduler.planning.problem.deadline import Deadline

_SHARE_OF_A_FIRST_TRY = 0.15
_MOST_ROUNDS = 40


class Emptying(NamedTuple):
    """Nodes to empty, and where every pod ends. ``moves``: pods that end elsewhere than they are now."""

    emptied: tuple[int, ...]
    node_of: IntArray
    moves: int


class EmptyingAnswer(NamedTuple):
    """The best found (None: nothing), and how few moves any plan needs."""

    best: Emptying | None
    bound: int
    is_impossible: bool = False


def empty_nodes(drainage: Drainage, count: int, deadline: Deadline, seed: int) -> EmptyingAnswer:
    """Empty exactly ``count`` nodes, those that are empty already included, by the fewest moves.

    Sets with more spare room cost more moves of their own but fewer exchanges; each is tried briefly, then the
    cheaper ones again for as long as there is time and a better plan is possible.
    """
    model = EmptiedSetModel(drainage, count, seed)
    value, bound = model.fewest_pods(0, deadline.part(0.5))
    if value is None:
        return EmptyingAnswer(None, bound, is_impossible=bound == 0)
    best: Emptying | None = None
    tried: list[EmptiedSet] = []
    random = np.random.default_rng(seed)
    for candidate in _by_price(model, value, deadline):
        if best is not None and candidate.pods >= best.moves:
            break
        tried.append(candidate)
        best = _better(best, _fill(drainage, candidate, best, deadline.part(_SHARE_OF_A_FIRST_TRY), random))
        if best is not None and best.moves == candidate.pods:
            break
    for _ in range(_MOST_ROUNDS):
        for candidate in tried:
            if deadline.is_over() or (best is not None and best.moves <= bound):
                return EmptyingAnswer(best, bound)
            if best is None or candidate.pods < best.moves - 1:
                best = _better(best, _fill(drainage, candidate, best, deadline.part(0.4), random))
    return EmptyingAnswer(best, bound)


def _by_price(model: EmptiedSetModel, value: int, deadline: Deadline) -> Iterator[EmptiedSet]:
    """Sets of nodes, the cheapest first, each with more spare room than those before it."""
    pods: int | None = value
    slack = 0
    while pods is not None and slack <= FINENESS and not deadline.is_over():
        found = model.roomiest(pods, slack, deadline.part(0.3))
        if found is None:
            return
        yield found
        slack = found.slack + 1
        pods, _ = model.fewest_pods(slack, deadline.part(0.3))


def _fill(
    drainage: Drainage, chosen: EmptiedSet, best: Emptying | None, deadline: Deadline, random: np.random.Generator
) -> Emptying | None:
    seating = Seating(drainage, chosen.nodes)
    seat_by_best_fit(seating)
    most = drainage.node_count * len(drainage.home) if best is None else best.moves - chosen.pods - 1
    if not mend(seating, most, deadline, random):
        return None
    return Emptying(chosen.nodes, seating.node_of.copy(), chosen.pods + seating.displaced)


def _better(one: Emptying | None, other: Emptying | None) -> Emptying | None:
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda plan: plan.moves)
