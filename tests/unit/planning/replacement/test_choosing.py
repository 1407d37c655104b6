"""The cheapest machines for some pods: against trying every set, and with a bound that holds."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.clock import SystemClock
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.replacement.choosing import (
    ReplacementChoice,
    beside_nodes,
    cheapest_machines,
    of_one_machine,
    packs,
)
from rescheduler.planning.replacement.replacement_problem import ReplacementProblem
from tests.builders import PLENTY
from tests.clocks import FakeClock
from tests.unit.planning.replacement.problems import least_cost, replacement, takes_all


def chosen(problem: ReplacementProblem) -> ReplacementChoice:
    """The answer when time is no matter."""
    return cheapest_machines(problem, 0, Deadline(SystemClock(), PLENTY))


POD = st.tuples(st.integers(1, 2), st.integers(1, 5), st.integers(1, 5))
MACHINE = st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(1, 9))
NODE = st.tuples(st.integers(0, 4), st.integers(0, 4))


@settings(max_examples=60)
@given(
    st.lists(POD, min_size=1, max_size=2),
    st.lists(MACHINE, min_size=1, max_size=3),
    st.lists(NODE, max_size=2),
    st.booleans(),
    st.integers(1, 3),
)
def test_no_set_is_cheaper_and_the_bound_says_so(
    pods: list[tuple[int, int, int]],
    machines: list[tuple[float, int, int]],
    nodes: list[tuple[int, int]],
    is_alone: bool,
    most_types: int,
) -> None:
    """Whatever the sizes: the answer takes all pods, costs the least that any set does, and is proven."""
    problem = replacement(pods, machines, nodes, alone=[0] if is_alone else [], most_types=most_types)
    found, least = chosen(problem), least_cost(problem)
    assert found.bound <= least + 1e-6
    if math.isinf(least):
        assert found.numbers == ()
        assert math.isinf(found.bound)
        return
    assert found.cost == pytest.approx(least)
    assert found.cost == pytest.approx(problem.cost(found.numbers))
    assert takes_all(problem, found.numbers)
    assert found.is_proven


def test_room_in_sum_is_not_room_for_each() -> None:
    """Pods of three do not fit in pairs on fours, though two thirds of their room would be enough in sum."""
    found = chosen(replacement([(4, 3, 1)], [(1.0, 4, 9), (2.5, 9, 9)]))
    assert (found.numbers, found.cost) == ((1, 1), 3.5)
    assert found.is_proven


def test_the_room_that_there_is_comes_first() -> None:
    """Nothing is bought for pods that fit on nodes that stay."""
    found = chosen(replacement([(2, 2, 2)], [(1.0, 4, 4)], [(2, 2), (2, 3)]))
    assert (found.numbers, found.cost, found.bound) == ((0,), 0.0, 0.0)


def test_no_more_types_than_are_allowed() -> None:
    """With one type alone a dearer set is the cheapest."""
    pods, machines = [(1, 9, 1), (1, 1, 9)], [(2.0, 9, 1), (2.0, 1, 9), (5.0, 10, 10)]
    assert chosen(replacement(pods, machines)).cost == 4.0
    assert chosen(replacement(pods, machines, most_types=1)).cost == 5.0
    of_one_type = chosen(replacement(pods, machines, types=[0, 0, 1], most_types=1))
    assert of_one_type.cost == 4.0


def test_without_time_a_set_is_found_all_the_same_and_nothing_is_claimed() -> None:
    """The bound is then no more than what is known."""
    clock = FakeClock()
    deadline = Deadline(clock, 1.0)
    clock.sleep(2.0)
    problem = replacement([(4, 3, 1)], [(1.0, 4, 9), (2.5, 9, 9)])
    found = cheapest_machines(problem, 0, deadline)
    assert takes_all(problem, found.numbers)
    assert (found.bound, found.is_proven) == (0.0, False)


def test_nothing_to_choose_from_is_proven_to_do_nothing() -> None:
    """As when all machines are too small."""
    found = chosen(replacement([(1, 5, 5)], [(1.0, 4, 9)]))
    assert (found.numbers, math.isinf(found.bound)) == ((), True)
    found = chosen(replacement([(1, 5, 5)], []))
    assert (found.numbers, math.isinf(found.bound)) == ((), True)


def test_many_nodes_that_stay_are_one_room_for_the_bound() -> None:
    """The bound holds, and what is packed is packed on each node by itself."""
    problem = replacement([(80, 2, 1)], [(1.0, 4, 9)], [(2, 1)] * 70)
    found = chosen(problem)
    assert (found.numbers, found.is_proven) == ((5,), True)


@settings(max_examples=60)
@given(st.lists(POD, min_size=1, max_size=2), MACHINE, st.lists(NODE, max_size=2), st.integers(0, 3))
def test_what_is_said_to_pack_packs(
    pods: list[tuple[int, int, int]], machine: tuple[float, int, int], nodes: list[tuple[int, int]], number: int
) -> None:
    """It may miss a way, and never claims one that there is not."""
    problem = replacement(pods, [machine], nodes)
    if packs(problem, [number]):
        assert takes_all(problem, [number])
    alone = of_one_machine(problem, 0, beside_nodes(problem), problem.pods)
    if alone is not None:
        assert takes_all(problem, [alone])


def test_more_than_the_most_is_not_told() -> None:
    """Nor what some pods do not fit on."""
    problem = replacement([(4, 3, 1)], [(1.0, 4, 9)])
    assert of_one_machine(problem, 0, problem.count, 4) == 4
    assert of_one_machine(problem, 0, problem.count, 3) is None
    large = replacement([(1, 5, 1)], [(1.0, 4, 9)])
    assert of_one_machine(large, 0, large.count, 9) is None
