"""Tiny questions are answered by looking at every placement that moves can lead to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.every_placement import cheapest_placement, is_tiny
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.search.search_state import SearchState
from tests.clocks import FakeClock
from tests.unit.planning.objectives.spread_load.test_against_brute_force import OVER_ZONES, SAME, THE_LARGER_ONE
from tests.unit.planning.objectives.spread_load.tiny_loads import TinyLoad, least_overload, question_and_use, tiny_loads


def at_home(load: TinyLoad) -> SearchState:
    """Nobody has moved yet."""
    question, observed = question_and_use(load)
    problem = problem_of(question)
    state = LoadState(problem, observed, {"cpu": load.target / 10}, is_strict=True)
    return SearchState(problem, state, remaining_limits(question.eligibility.limits, question.placement))


def reached(load: TinyLoad, seconds: float = 1e6) -> tuple[float, int]:
    """Cost after the moves, each made where it is possible, and how many there are; the state is left at home."""
    current = at_home(load)
    order = cheapest_placement(current, Deadline(FakeClock(), seconds))
    assert not current.moved
    for row, node in order:
        assert current.may_leave(row)
        assert current.open_to(row)[node]
        current.move(row, node)
    return current.cost, len(order)


@settings(max_examples=30)
@given(tiny_loads(most_running=5))
def test_nothing_that_moves_can_lead_to_is_cheaper(load: TinyLoad) -> None:
    """By a search of its own, with predicates of its own."""
    assert reached(load)[0] == pytest.approx(least_overload(load), abs=SAME)


@pytest.mark.parametrize(("load", "moves"), [(OVER_ZONES, 3), (THE_LARGER_ONE, 2)])
def test_pods_that_make_way_for_each_other_are_found(load: TinyLoad, moves: int) -> None:
    """And no more moves than are needed; within fewer it is the best of those."""
    assert reached(load) == (pytest.approx(least_overload(load), abs=SAME), moves)
    fewer = replace(load, cluster=replace(load.cluster, max_evictions=moves - 1))
    assert reached(fewer)[0] == pytest.approx(least_overload(fewer), abs=SAME)
    assert reached(load, seconds=0.0)[1] == 0


def test_what_is_not_tiny_is_left_to_others() -> None:
    """By nodes and movable pods."""
    assert is_tiny(at_home(OVER_ZONES))
    pods = OVER_ZONES.cluster.pods * 3
    assert not is_tiny(at_home(replace(OVER_ZONES, cluster=replace(OVER_ZONES.cluster, pods=pods), uses=(10,) * 9)))
