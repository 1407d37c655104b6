"""What each node could give up, and the room that it has then: for a plan as it is, for a bound at least so much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.objectives.make_room.patterns.arriving_classes import ArrivingClasses
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem

MOST_STATES = 60_000
MOST_HARD_LEAVING = 3
MOST_EASY_LEAVING, MOST_TOLD_APART = 6, 10
_SECONDS_PER_STATE = 1e-5


@dataclass(frozen=True, eq=False)
class NodeStates:
    """S states. ``node``: position in the classes' nodes; ``cost``: evictions; ``leaving``: int64[S, C] hard pods.

    ``room``: int64[S, R], never too little for a bound, the true one for a plan; ``rows``: who leaves then.
    """

    node: IntArray
    cost: IntArray
    leaving: IntArray
    room: IntArray
    rows: tuple[tuple[int, ...], ...]


def node_states(
    problem: Problem, classes: ArrivingClasses, deadline: Deadline, *, is_bound: bool, most: int = MOST_STATES
) -> NodeStates | None:
    """All states with few pods that leave; None where they are more than ``most``, or time is over.

    They are counted before any is made: to find out that they are too many takes a small part of the time.
    """
    order = np.argsort(problem.origin, kind="stable")
    starts = np.searchsorted(problem.origin[order], np.arange(problem.node_count + 1))
    candidates: list[_Candidates] = []
    for node in classes.nodes.tolist():
        candidates.append(_candidates(problem, classes, node, order[starts[node] : starts[node + 1]], is_bound))
        most -= candidates[-1].states
        if most < 0:
            return None
    position: list[int] = []
    found: list[_State] = []
    states_of = _bounding if is_bound else _possible
    for number, of_node in enumerate(candidates):
        found += states_of(problem, of_node, len(classes.asked))
        position += [number] * of_node.states
        deadline.work(_SECONDS_PER_STATE * of_node.states)
        if deadline.is_over():
            return None
    return NodeStates(
        np.array(position, dtype=np.int64),
        np.array([state.cost for state in found], dtype=np.int64),
        np.array([state.leaving for state in found], dtype=np.int64).reshape(len(found), len(classes.asked)),
        np.array([state.room for state in found], dtype=np.int64).reshape(len(found), len(problem.free)),
        tuple(state.rows for state in found),
    )


@dataclass(frozen=True, eq=False)
class _State:
    cost: int
    leaving: IntArray
    room: IntArray
    rows: tuple[int, ...] = ()


class _Candidates(NamedTuple):
    """Who may leave a node: hard pods by class, the others, and for a plan who of them may leave together.

    ``states``: how many this makes.
    """

    node: int
    by_class: dict[int, IntArray]
    easy: IntArray
    together: list[list[int]]
    states: int


def _candidates(problem: Problem, classes: ArrivingClasses, node: int, rows: IntArray, is_bound: bool) -> _Candidates:
    if is_bound:
        by_class, easy = _by_class(classes, rows)
        return _Candidates(node, by_class, easy, [], sum(_ways(by_class)) * (MOST_TOLD_APART + 2))
    held, most = problem.held, int(problem.remaining.of_node[node])
    size = (held[classes.scarce] / np.maximum(1, classes.asked[0][classes.scarce])[:, None])[:, rows]
    by_class, easy = _by_class(classes, rows[np.argsort(-size.sum(axis=0), kind="stable")])
    orders = [easy]
    if len(classes.scarce) > 1:
        orders += [easy[np.argsort(-held[row, easy], kind="stable")] for row in classes.scarce.tolist()]
    together = _beginnings(orders)
    count = sum(
        ways * sum(number + len(some) <= most for some in together) for number, ways in enumerate(_ways(by_class))
    )
    return _Candidates(node, by_class, easy, together, count)


def _ways(by_class: dict[int, IntArray]) -> list[int]:
    """How many choices of ``_choices`` let 0, 1, ... hard pods leave."""
    ways = [1] + [0] * MOST_HARD_LEAVING
    for members in by_class.values():
        ways = [sum(ways[max(0, number - len(members)) : number + 1]) for number in range(len(ways))]
    return ways


def _possible(problem: Problem, of_node: _Candidates, width: int) -> Iterator[_State]:
    """States that can be had: of each class the largest pods leave, of the others those largest in one way."""
    held, node, together = problem.held, of_node.node, of_node.together
    most = int(problem.remaining.of_node[node])
    gains = [held[:, some].sum(axis=1) for some in together]
    for leaving, number in _choices(of_node.by_class, width):
        hard = [row for name, members in of_node.by_class.items() for row in members[: leaving[name]].tolist()]
        room = problem.free[:, node] + held[:, hard].sum(axis=1)
        for some, gain in zip(together, gains, strict=True):
            if number + len(some) <= most:
                yield _State(number + len(some), leaving, room + gain, (*hard, *some))


def _beginnings(orders: Sequence[IntArray]) -> list[list[int]]:
    """The first few pods of each order, none of them included; the same pods once, as they come first."""
    found: dict[tuple[int, ...], list[int]] = {}
    for order in orders:
        for count in range(min(len(order), MOST_EASY_LEAVING) + 1):
            some = order[:count].tolist()
            found.setdefault(tuple(sorted(some)), some)
    return [*found.values()]


def _bounding(problem: Problem, of_node: _Candidates, width: int) -> Iterator[_State]:
    """States of which each way to leave is one, or has no more room for no fewer evictions and no fewer hard pods.

    With as many hard pods as a state tells apart all further ones count as if they were easy to place; with as many
    easy ones as it tells apart, all of them leave.
    """
    held, by_class = problem.held, of_node.by_class
    largest = {name: _sums(held[:, members], MOST_HARD_LEAVING) for name, members in by_class.items()}
    rows = np.concatenate([of_node.easy, *by_class.values()])
    of_easy, of_all = _sums_and_whole(held[:, of_node.easy]), _sums_and_whole(held[:, rows])
    for leaving, number in _choices(by_class, width):
        room = problem.free[:, of_node.node].copy()
        for name, sums in largest.items():
            room = room + sums[:, leaving[name]]
        gains = of_all if number == MOST_HARD_LEAVING else of_easy
        for count in range(gains.shape[1]):
            yield _State(number + count, leaving, room + gains[:, count])


def _by_class(classes: ArrivingClasses, rows: IntArray) -> tuple[dict[int, IntArray], IntArray]:
    """Hard pods of a node by class, and the others, in the same order."""
    of = classes.of_row[rows]
    return {int(name): rows[of == name] for name in np.unique(of[of >= 0])}, rows[of < 0]


def _choices(by_class: dict[int, IntArray], width: int) -> list[tuple[IntArray, int]]:
    """How many hard pods of each class leave, and how many in all."""
    found = [(np.zeros(width, dtype=np.int64), 0)]
    for name, members in by_class.items():
        more = []
        for leaving, number in found:
            for count in range(1, min(len(members), MOST_HARD_LEAVING - number) + 1):
                after = leaving.copy()
                after[name] = count
                more.append((after, number + count))
        found += more
    return found


def _sums(amounts: IntArray, most: int) -> IntArray:
    """Sums of the 0, 1, ... ``most`` largest of each row, int64[R, most + 1]; of all where there are fewer."""
    largest = np.sort(amounts, axis=1)[:, ::-1][:, :most]
    sums = np.zeros((len(amounts), most + 1), dtype=np.int64)
    sums[:, 1 : largest.shape[1] + 1] = np.cumsum(largest, axis=1)
    sums[:, largest.shape[1] + 1 :] = largest.sum(axis=1)[:, None]
    return sums


def _sums_and_whole(amounts: IntArray) -> IntArray:
    return np.column_stack([_sums(amounts, MOST_TOLD_APART), amounts.sum(axis=1)])
