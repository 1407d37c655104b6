"""Empties a large set of nodes at once: all their pods are seated together, and nodes whose pods find none reopen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.node_by_node import NodeByNode
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage
from rescheduler.planning.objectives.empty_nodes.repacking.mending import seat_or_make_room
from rescheduler.planning.objectives.empty_nodes.repacking.seating import Seating
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import solution_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.waves.wave_packing import as_far_as_possible
from rescheduler.planning.waves.waves import GroupsOfPods

# Seats pods where what they ask for looks most like what is free: the vector packing rule for several resources.

# How strongly a resource that is nearly used up counts before one that is not.
_EMPHASIS = 4


def seat_by_alignment(seating: Seating, deadline: Deadline | None = None) -> None:
    """Seat what has no seat, the largest first, until the deadline; some may stay without."""
    drainage = seating.drainage
    waiting = np.array(seating.unseated, dtype=np.int64)
    if not waiting.size or not len(seating.kept):
        return
    weight = _scarcity(seating, waiting)
    request = drainage.request * weight
    order = waiting[np.lexsort((drainage.kind_of[waiting], -request[waiting].sum(axis=1)))]
    free = seating.free * weight
    for _, alike in groupby(order.tolist(), key=lambda pod: int(drainage.kind_of[pod])):
        if deadline is not None and deadline.is_over():
            return
        _seat_alike(seating, list(alike), request, weight, free)


def _seat_alike(seating: Seating, pods: list[int], request: FloatArray, weight: FloatArray, free: FloatArray) -> None:
    """Seat pods that ask for the same; after each only the node that took it looks different."""
    drainage = seating.drainage
    asked, wanted = drainage.request[pods[0]], request[pods[0]]
    likeness = np.where(seating.fits(pods[0]), _likeness(free, wanted), -np.inf)
    for pod in pods:
        node = int(likeness.argmax())
        if likeness[node] == -np.inf:
            return
        seating.seat(pod, node)
        free[node] = seating.free[node] * weight
        has_room = bool((seating.free[node] >= asked).all())
        likeness[node] = float(_likeness(free[node], wanted)) if has_room else -np.inf


def _likeness(free: FloatArray, wanted: FloatArray) -> FloatArray:
    """Cosine of the angle between room and request, times a constant."""
    likeness: FloatArray = free @ wanted / np.sqrt((free**2).sum(axis=-1) + 1e-18)
    return likeness


def _scarcity(seating: Seating, waiting: IntArray) -> FloatArray:
    """One over the capacity of a kept node in the mean, times how much of what is free is asked for, emphasised."""
    drainage = seating.drainage
    wanted = drainage.request[waiting].sum(axis=0)
    free = np.maximum(1, seating.free[seating.kept].clip(min=0).sum(axis=0))
    mean = np.maximum(1.0, drainage.capacity[seating.kept].clip(min=0).mean(axis=0))
    weight: FloatArray = np.minimum(1.0, wanted / free) ** _EMPHASIS / mean
    return weight if weight.any() else np.asarray(1.0 / mean)


_TARGETS = 6
_SHARE_OF_SEATS = 0.6  # of what is left; the rest is for the order
_MOST_MENDED_SHARE = 0.05


@dataclass
class _Repacking:
    """Entangled pods sit as ``work`` has them; all others are seated together."""

    work: NodeByNode
    drainage: Drainage
    rows: IntArray


def repacked(
    situation: EmptyingSituation,
    groups: GroupsOfPods,
    chosen: IntArray,
    deadline: Deadline,
    random: np.random.Generator,
) -> WaveSchedule:
    """Waves that empty as many of the ``chosen`` nodes as find seats for their pods; perhaps none."""
    if not len(chosen):
        return WaveSchedule()
    repacking = _with_entangled_seated(situation, chosen, deadline.part(_SHARE_OF_SEATS))
    emptied = np.flatnonzero(repacking.work.is_closed & situation.could_be_emptied)
    seating = Seating(repacking.drainage, emptied.tolist())
    seat_by_alignment(seating, deadline.part(_SHARE_OF_SEATS))
    if len(seating.unseated) <= _MOST_MENDED_SHARE * len(np.flatnonzero(~seating.is_native)):
        _mend(seating, deadline.part(_SHARE_OF_SEATS), random)
    _reopen(situation, repacking, seating)
    order = list(repacking.work.order)
    for number in np.flatnonzero(seating.node_of != repacking.drainage.home).tolist():
        pod = int(situation.problem.movable[repacking.rows[number]])
        order.append((pod, int(seating.node_of[number])))
    return _carried_out(situation, groups, order, deadline)


def _with_entangled_seated(situation: EmptyingSituation, chosen: IntArray, deadline: Deadline) -> _Repacking:
    """Seat the pods that look at others first; nodes whose pods find no seat stay in use."""
    problem = situation.problem
    is_closed = situation.is_empty.copy()
    is_closed[chosen] = True
    work = NodeByNode(situation, is_closed)
    is_plain = ~situation.is_entangled_row
    for node in chosen.tolist():
        entangled = [row for row in situation.rows_on[node].tolist() if not is_plain[row]]
        if deadline.is_over() or not work.seat_all(entangled):
            work.is_closed[node] = False
    rows = np.flatnonzero(is_plain)
    request = problem.requests[:, rows].T
    home = problem.origin[rows].astype(np.int64)
    capacity = np.maximum(0, work.free).T.copy()
    np.add.at(capacity, home, request)
    classes = problem.mask_numbers[rows]  # hands all masks out
    open_to = np.array(problem.masks, dtype=np.bool_) & ~situation.is_empty
    drainage = Drainage(capacity, request, home, classes, open_to, situation.could_be_emptied)
    return _Repacking(work, drainage, rows)


def _mend(seating: Seating, deadline: Deadline, random: np.random.Generator) -> None:
    """Make room by exchanges for those that have no seat, the largest first."""
    for pod in seating.unseated:
        if deadline.is_over():
            return
        seat_or_make_room(seating, pod, _TARGETS, random)


def _reopen(situation: EmptyingSituation, repacking: _Repacking, seating: Seating) -> None:
    """Keep nodes in use until all others have seats: those first whose pods without one are the most."""
    home = repacking.drainage.home
    while seating.unseated:
        waiting = np.array(seating.unseated, dtype=np.int64)
        without = np.bincount(home[waiting], minlength=situation.node_count)
        node = int((without / situation.price.clip(min=1e-9)).argmax())
        _bring_back(repacking, seating, node)
        _seat_on(seating, node)


def _seat_on(seating: Seating, node: int) -> None:
    """Seat those that have no seat on one node as far as it has room, the largest first."""
    drainage = seating.drainage
    waiting = np.array(seating.unseated, dtype=np.int64)
    waiting = waiting[drainage.open_to[drainage.class_of[waiting], node]]
    for pod in waiting[(drainage.request[waiting] <= seating.free[node]).all(axis=1)].tolist():
        if (drainage.request[pod] <= seating.free[node]).all():
            seating.seat(pod, node)


def _bring_back(repacking: _Repacking, seating: Seating, node: int) -> None:
    """All pods of a node stay where they are, but those that are entangled and have moved."""
    seating.reopen(node, repacking.drainage.capacity[node])
    for pod in np.flatnonzero(repacking.drainage.home == node).tolist():
        seating.seat(pod, node)
    repacking.work.is_closed[node] = False


def _carried_out(
    situation: EmptyingSituation, groups: GroupsOfPods, order: list[tuple[int, int]], deadline: Deadline
) -> WaveSchedule:
    """What of the moves has an order, less those of nodes that are not emptied after all."""
    waves, rest = as_far_as_possible(situation.problem, groups, order, deadline)
    if not rest:
        return waves.schedule
    emptied = frozenset(solution_of(situation, waves.schedule).emptied)
    origin = situation.start.node_of
    useful = [move for wave in waves.done for move in wave if int(origin[move[0]]) in emptied]
    fewer, rest = as_far_as_possible(situation.problem, groups, useful, deadline)
    is_as_good = not rest and len(solution_of(situation, fewer.schedule).emptied) >= len(emptied)
    return fewer.schedule if is_as_good else waves.schedule
