"""The exact model of every pod on every node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rescheduler.planning.solvers.whole_assignment import Assignment, AssignmentProgram, WholeAssignment
from tests.unit.planning.planning_requests import endless


def two_pods() -> AssignmentProgram:
    """Two nodes of 4 with a pod of 1 each; a shape of 4 is worth 100, a move costs 1 or 2."""
    return AssignmentProgram(
        arriving=np.array([[1, 1]]),
        held=np.array([[1, 1]]),
        origin=np.array([0, 1]),
        open_to=np.ones((2, 2), dtype=np.bool_),
        free=np.array([[3, 3]]),
        amounts=np.array([[4]]),
        most=np.array([[1, 1]]),
        worth=np.array([100]),
        cost=np.array([1, 2]),
        limits=(),
        conflicts=(),
    )


def solved(problem: AssignmentProgram) -> Assignment:
    """The best assignment."""
    found = WholeAssignment(problem).solve(0, endless())
    assert found is not None
    return found


def test_cheapest_of_equal_assignments() -> None:
    """The cheaper pod joins the other."""
    assert solved(two_pods()) == Assignment({0: 1}, 99, is_optimal=True)


def test_forbidden_assignments_are_not_found_again() -> None:
    """The next best comes, then the one after, at last doing nothing, at last none."""
    model = WholeAssignment(two_pods())
    found = []
    while (answer := model.solve(0, endless())) is not None:
        found.append(answer.moves)
        model.forbid(answer.moves)
    assert found[:3] == [{0: 1}, {1: 0}, {}]
    assert sorted(map(sorted, (moves.items() for moves in found[3:]))) == [[(0, 1), (1, 0)]]


def test_limits_and_closed_nodes_bind() -> None:
    """No more pods than a limit leave, and none goes where it may not."""
    assert solved(replace(two_pods(), limits=(((0, 1), 0),))).moves == {}
    assert solved(replace(two_pods(), limits=(((0,), 0),))).moves == {1: 0}
    assert solved(replace(two_pods(), open_to=np.array([[True, False], [True, True]]))).moves == {1: 0}


def test_pairs_keep_apart() -> None:
    """Pods that must not meet stay where they are, whichever of them would move."""
    conflicts = (((0, 1), (1, 1)), ((0, 0), (1, 0)))
    assert solved(replace(two_pods(), conflicts=conflicts)).moves == {}
    assert solved(replace(two_pods(), conflicts=(((0, 1), (0, 1)),))).moves == {1: 0}


def test_overcommitted_nodes_let_nobody_in() -> None:
    """A node with less than nothing free receives no pod, and does not make the model impossible."""
    overfull = replace(two_pods(), free=np.array([[3, -2]]), open_to=np.array([[True, True], [False, True]]))
    assert solved(overfull).moves == {}


def test_without_pods_nothing_moves() -> None:
    """What fits already is counted."""
    nobody = replace(
        two_pods(),
        arriving=np.zeros((1, 0), dtype=np.int64),
        held=np.zeros((1, 0), dtype=np.int64),
        origin=np.zeros(0, dtype=np.int64),
        open_to=np.zeros((0, 2), dtype=np.bool_),
        free=np.array([[4, 3]]),
        cost=np.zeros(0, dtype=np.int64),
    )
    assert solved(nobody) == Assignment({}, 100, is_optimal=True)
