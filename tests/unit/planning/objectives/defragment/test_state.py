"""The cost that Defragment gives to placements: every change foretold is the change that comes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.planning.objectives.defragment.objective import DefragmentState
from rescheduler.planning.objectives.defragment.wanted_shapes import WantedShapes
from rescheduler.planning.search.local_search import problem_of
from tests.builders import cluster, node, pod
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.defragment.questions import question, question_for, shape
from tests.unit.planning.tiny import tiny_clusters


@settings(max_examples=60, deadline=None)
@given(tiny=tiny_clusters(), data=st.data())
def test_cost_after_moves_is_the_cost_counted_afresh(tiny: TinyCluster, data: st.DataObject) -> None:
    """Foretold changes add up, and the cost is the negated number of shapes that fit in the room that is left."""
    asked = question_for(tiny)
    problem = problem_of(asked)
    shapes = WantedShapes(problem.columns, [shape(cpu="1"), shape(weight=2.0, cpu="3")])
    state = DefragmentState(problem, shapes)
    placement = problem.start.copy()
    for _ in range(3 if len(problem.movable) else 0):
        row = data.draw(st.integers(0, len(problem.movable) - 1))
        place = data.draw(st.integers(0, problem.node_count - 1))
        foretold = state.cost + float(state.change(row)[place])
        state.move(row, place)
        placement.forget(int(problem.movable[row]))
        placement.assume(int(problem.movable[row]), place)
        assert state.cost == pytest.approx(foretold)
        assert state.cost == pytest.approx(-float(shapes.worth(placement.free()).sum()))


def test_promising_pods_are_those_whose_departure_completes_a_shape() -> None:
    """Largest gain first; a pod that frees too little is not promising by itself."""
    made = cluster(
        node("a", cpu="8"),
        node("b", cpu="8"),
        pod("one-0", cpu="4", node="a"),
        pod("two-0", cpu="8", node="b"),
        pod("tiny-0", cpu="1", node="a"),
    )
    problem = problem_of(question(made))
    state = DefragmentState(problem, WantedShapes(problem.columns, [shape(cpu="4")]))
    names = [made.pods[int(problem.movable[row])].name for row in state.promising().tolist()]
    assert names == ["two-0", "one-0", "tiny-0"]
    assert state.change(0)[int(problem.origin[0])] == 0


def test_a_resized_pod_frees_what_it_holds_and_takes_what_it_requests() -> None:
    """A pod that was given more in place than its template asks for gives that much back."""
    made = cluster(node("a"), node("b"), pod("x-0", cpu="1", node="a", held=(("cpu", 3000), ("memory", 2**30))))
    problem = problem_of(question(made))
    state = DefragmentState(problem, WantedShapes(problem.columns, [shape(cpu="1")]))
    assert state.cost == -(1 + 4)
    change = state.change(0)
    assert change[1] == -(4 + 3) + 5
    state.move(0, 1)
    assert state.cost == -(4 + 3)
    state.move(0, 0)
    assert state.cost == -5
    assert np.isfinite(change).all()
