"""The best plan of a small cluster: the best assignment of all that some order of moves can reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation, held_on_nodes
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.prices import ORDINARY_PRICE
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import UNLIMITED
from rescheduler.planning.search.search_state import SearchState
from rescheduler.planning.solvers.whole_assignment import AssignmentProgram, WholeAssignment
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.sequencing import sequence

# Which pods of a small cluster may not end up where, because of required anti-affinity and host ports.

Place = tuple[int, int]
"""A movable pod (row) on a node."""


def pairs_apart(problem: Problem) -> Iterator[tuple[Place, Place]]:
    """Pairs of places that exclude each other; a pair of one place with itself rules the place out.

    A conflict binds whoever arrives, so a pod that stays counts on its origin. Pairs of two that stay are left out.
    """
    start = problem.start.node_of
    for row, pod in enumerate(problem.movable.tolist()):
        if not problem.is_entangled(pod):
            continue
        for conflict in problem.entanglement.conflicts(pod):
            codes = _domains(problem, conflict.topology_key)
            for other in conflict.pods.tolist():
                if other == pod or start[other] == NOWHERE:
                    continue
                rival = problem.row_of_movable.get(other)
                if rival is None:
                    yield from (((row, node), (row, node)) for node in _shared(codes, int(start[other]), row, problem))
                else:
                    yield from _pairs(problem, codes, row, rival)


def _pairs(problem: Problem, codes: IntArray, row: int, rival: int) -> Iterator[tuple[Place, Place]]:
    for node in range(problem.node_count):
        for place in np.flatnonzero((codes == codes[node]) & (codes != NOWHERE)).tolist():
            if node != problem.origin[row] or place != problem.origin[rival]:
                yield (row, node), (rival, place)


def _shared(codes: IntArray, node: int, row: int, problem: Problem) -> list[int]:
    """Nodes of the same domain that the pod is not on."""
    same = np.flatnonzero((codes == codes[node]) & (codes != NOWHERE)).tolist()
    return [place for place in same if place != problem.origin[row]]


def _domains(problem: Problem, topology_key: str | None) -> IntArray:
    """Number of each node's domain, int64[N]; None: every node is its own."""
    if topology_key is None:
        return np.arange(problem.node_count)
    codes: IntArray = problem.columns.domains.of(topology_key)[0].astype(np.int64)
    return codes


_MOST_SEATS = 500
_MOST_RULED_OUT = 80
_SCALES = (1, 2, 4, 10, 100, 1000)
_LARGEST_AMOUNTS = 2**58
_LARGEST_VALUE = 2**50


class ExactWaves(NamedTuple):
    """A schedule, whose moves stand on the state; ``is_best``: no plan is worth more, less what its moves cost."""

    schedule: WaveSchedule
    is_best: bool


def best_plan(
    situation: DefragmentSituation, request: PlanRequest, current: SearchState, deadline: Deadline
) -> ExactWaves | None:
    """Solve, look for an order, rule the assignment out if there is none, and again; None where this leads nowhere."""
    scale = _scale(situation)
    if scale is None or not _is_small(situation):
        return None
    stated = _assignment_problem(situation, scale, request.move_cost)
    if stated is None:
        return None
    model = WholeAssignment(stated)
    is_complete = True
    for _ in range(_MOST_RULED_OUT):
        found = None if deadline.is_over() else model.solve(request.seed, deadline)
        if found is None:
            break
        schedule, is_settled = _ordered(situation, current, found.moves, deadline)
        if schedule is not None:
            return ExactWaves(schedule, is_best=is_complete and found.is_optimal)
        is_complete = is_complete and is_settled
        model.forbid(found.moves)
    return None


def _ordered(
    situation: DefragmentSituation, current: SearchState, moves: dict[int, int], deadline: Deadline
) -> tuple[WaveSchedule | None, bool]:
    """An order for these moves, which then stand on the search state; if there is none, whether that is certain."""
    problem = situation.problem
    draft = Draft(moves={int(problem.movable[row]): node for row, node in moves.items()})
    schedule, is_impossible = sequence(problem, draft, deadline)
    if schedule is None or replay(problem, schedule):
        return None, is_impossible
    current.reset([(problem.row_of_movable[pod], node) for wave in schedule.waves for pod, node in wave])
    if current.is_guarded:
        return schedule, True
    current.reset([])
    return None, True


def _is_small(situation: DefragmentSituation) -> bool:
    problem = situation.problem
    amounts = float(problem.columns.allocatable.sum()) + float(situation.held.sum())
    return len(problem.movable) * problem.node_count <= _MOST_SEATS and amounts < _LARGEST_AMOUNTS


def _scale(situation: DefragmentSituation) -> int | None:
    """What makes all weights whole; None if nothing small does."""
    weights = situation.shapes.weights
    return next((scale for scale in _SCALES if np.allclose(weights * scale, np.round(weights * scale))), None)


def _assignment_problem(situation: DefragmentSituation, scale: int, move_cost: float) -> AssignmentProgram | None:
    problem, shapes = situation.problem, situation.shapes
    cost = problem.eviction_cost(np.arange(len(problem.movable)))
    unit = int(cost.sum()) + 1  # all evictions together are worth less than one unit of value
    fee = move_cost * scale * unit * problem.prices(np.arange(len(cost))) / ORDINARY_PRICE
    most = shapes.often(problem.free + held_on_nodes(situation))
    worth = np.round(shapes.weights * scale) * unit
    if float(worth @ most.sum(axis=1)) + float(fee.sum()) > _LARGEST_VALUE:
        return None
    origin = problem.origin.astype(np.int64)
    return AssignmentProgram(
        arriving=problem.requests,
        held=situation.held,
        origin=origin,
        open_to=_open_to(situation),
        free=problem.free,
        amounts=shapes.amounts,
        most=most,
        worth=worth.astype(np.int64),
        cost=cost + np.ceil(fee).astype(np.int64),
        limits=tuple(_limits(situation)),
        conflicts=tuple(pairs_apart(problem)),
    )


def _open_to(situation: DefragmentSituation) -> BoolArray:
    problem = situation.problem
    masks = [problem.static_mask(pod)[1] for pod in problem.movable.tolist()]
    return np.array(masks, dtype=np.bool_).reshape(len(masks), problem.node_count)


def _limits(situation: DefragmentSituation) -> Iterator[tuple[tuple[int, ...], int]]:
    """Which pods (rows) share a limit, and how many of them may leave."""
    limits, origin = situation.limits, situation.problem.origin
    rows = np.arange(len(origin))
    if limits.in_all < len(rows):
        yield tuple(rows.tolist()), limits.in_all
    for node in np.flatnonzero(np.bincount(origin, minlength=len(limits.of_node)) > limits.of_node).tolist():
        yield tuple(rows[origin == node].tolist()), int(limits.of_node[node])
    for number, left in enumerate(situation.left_in_namespace.tolist()):
        if left < UNLIMITED:
            yield tuple(rows[situation.namespace_of == number].tolist()), left
