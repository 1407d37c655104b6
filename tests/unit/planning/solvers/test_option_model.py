"""Choosing options of nodes together with seats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.option_model import OptionChoice
from tests.clocks import FakeClock


def two_options() -> OptionChoice:
    """Two nodes may each send a pod of half a node away, for 3 and for 2; a third has room for one of them."""
    return OptionChoice(
        node=np.array([0, 1]),
        profit=np.array([3.0, 2.0]),
        moves=np.array([1, 1]),
        uses=np.array([[1], [1]]),
        slack=np.array([[0.0], [0.0]]),
        spare=np.array([[0.0], [0.0], [0.5]]),
        seat_kind=np.array([0]),
        seat_node=np.array([2]),
        seat_most=np.array([5]),
        request=np.array([[0.5]]),
        limit_of=np.zeros((0, 1), dtype=np.int64),
        limit=np.zeros(0, dtype=np.int64),
        most_moves=5,
    )


def chosen(choice: OptionChoice) -> tuple[list[int], list[int]]:
    """Options and seats within ample limits."""
    options, seats = choice.choose(Deadline(FakeClock(), 10.0), 100)
    return options.tolist(), seats.tolist()


def test_room_bounds_what_is_taken() -> None:
    """The dearer option gets the only seat; with room for two both are taken."""
    assert chosen(two_options()) == ([0], [1])
    assert chosen(replace(two_options(), spare=np.array([[0.0], [0.0], [1.0]]))) == ([0, 1], [2])


def test_room_that_an_option_makes_can_be_filled() -> None:
    """One pod takes the place that another leaves."""
    choice = replace(
        two_options(),
        slack=np.array([[0.5], [0.0]]),
        seat_kind=np.array([0, 0]),
        seat_node=np.array([0, 2]),
        seat_most=np.array([5, 5]),
    )
    assert chosen(choice) == ([0, 1], [1, 1])


def test_limits_bind() -> None:
    """So many moves in all, so many of some kinds, and so many in a seat."""
    roomy = replace(two_options(), spare=np.array([[0.0], [0.0], [1.0]]))
    assert chosen(replace(roomy, most_moves=1))[0] == [0]
    assert chosen(replace(roomy, seat_most=np.array([1])))[0] == [0]
    assert chosen(replace(roomy, limit_of=np.array([[1]]), limit=np.array([1])))[0] == [0]


def test_nothing_to_choose_from_and_no_time() -> None:
    """No options, or no seconds: nothing is taken."""
    assert two_options().choose(Deadline(FakeClock(), 0.0), 100)[0].tolist() == []
    none = replace(
        two_options(),
        node=np.zeros(0, dtype=np.int64),
        profit=np.zeros(0),
        moves=np.zeros(0, dtype=np.int64),
        uses=np.zeros((0, 1), dtype=np.int64),
        slack=np.zeros((0, 1)),
    )
    assert chosen(none) == ([], [0])


def test_options_that_do_not_pay_are_left() -> None:
    """A loss is taken only where it lets something better happen."""
    assert chosen(replace(two_options(), profit=np.array([-1.0, -2.0])))[0] == []
