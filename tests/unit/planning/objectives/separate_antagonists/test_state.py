"""The pairs that the state counts are those of the independent recount, before and after any move."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.checker.recounts.antagonists import pairs_left
from rescheduler.model.objects.cluster import Cluster
from rescheduler.planning.objectives.separate_antagonists.antagonists import find_antagonists
from rescheduler.planning.objectives.separate_antagonists.objective import SeparationState
from rescheduler.planning.search.local_search import problem_of
from tests.builders import NOW
from tests.unit.planning.objectives.fault_domains.test_state import after
from tests.unit.planning.objectives.separate_antagonists.questions import question
from tests.unit.planning.objectives.separate_antagonists.test_against_brute_force import SETS, clusters


@settings(max_examples=100, deadline=None)
@given(clusters(), st.data())
def test_the_state_agrees_with_the_recount_after_every_move(found: Cluster, data: st.DataObject) -> None:
    """Cost, the change that each possible move would make, and hopes hold at every step, room or no room."""
    asked = question(found)
    problem = problem_of(asked)
    state = SeparationState(problem, find_antagonists(problem.columns, SETS, NOW))
    places: dict[int, int] = {}
    assert state.cost == pairs_left(found, after(found, places), SETS, NOW)
    for _ in range(4 if len(problem.movable) else 0):
        row = data.draw(st.integers(0, len(problem.movable) - 1))
        pod = int(problem.movable[row])
        change = state.change(row)
        for node in range(len(found.nodes)):
            assert state.cost + change[node] == pairs_left(found, after(found, {**places, pod: node}), SETS, NOW)
        assert -change.min() <= state.hopes()[row]
        assert (row in state.promising()) == bool(state.hopes()[row])
        places[pod] = data.draw(st.integers(0, len(found.nodes) - 1))
        state.move(row, places[pod])
        assert state.cost == pairs_left(found, after(found, places), SETS, NOW)
