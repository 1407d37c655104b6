"""ObjectiveDrift: a value that became worse asks once, and values are asked for seldom."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import Occasion, Sight
from rescheduler.policy.fields.policy import Objective, Policy
from tests.builders import NOW, cluster
from tests.unit.daemon.triggers.sights import carried_out, report, trigger

POLICY = Policy(objectives=(Objective(name="MakeRoom"), Objective(name="SpreadLoad")))


def look(asked: Trigger, at: float, **values: float) -> Occasion | None:
    """What it asks for at these values."""
    return asked.look(Sight(cluster(taken_at=NOW + at), values=lambda: values))


def drift(**args: object) -> Trigger:
    """Asked every minute, with a tenth."""
    return trigger("ObjectiveDrift", policy=POLICY, **args)


def test_a_value_that_became_worse_asks_once() -> None:
    """And says by how much; then only what is worse still."""
    asked = drift()
    assert look(asked, 0, SpreadLoad=10.0) is None
    assert look(asked, 60, SpreadLoad=11.0) is None
    occasion = look(asked, 120, SpreadLoad=11.5)
    assert occasion is not None
    assert occasion.reason == "SpreadLoad has become worse, from 10 to 11.5"
    assert look(asked, 180, SpreadLoad=11.5) is None
    assert look(asked, 240, SpreadLoad=12.6) is None
    assert look(asked, 300, SpreadLoad=12.7) is not None


def test_it_is_measured_against_the_best_seen() -> None:
    """Which a slow creep does not move."""
    asked = drift()
    values = [10.0, 8.0, 8.3, 8.6, 8.9]
    assert [look(asked, 60 * number, SpreadLoad=value) is not None for number, value in enumerate(values)] == [
        False, False, False, False, True,
    ]  # fmt: skip


def test_small_values_are_measured_against_one() -> None:
    """Else anything would be worse than nothing."""
    asked = drift()
    assert look(asked, 0, SpreadLoad=0.0) is None
    assert look(asked, 60, SpreadLoad=0.1) is None
    assert look(asked, 120, SpreadLoad=0.11) is not None


def test_values_below_zero_become_worse_upwards() -> None:
    """Fewer shapes fit than before."""
    asked = trigger("ObjectiveDrift", policy=Policy(objectives=(Objective(name="FaultDomains"),)))
    assert look(asked, 0, FaultDomains=-20.0) is None
    assert look(asked, 60, FaultDomains=-18.0) is None
    assert look(asked, 120, FaultDomains=-17.0) is not None


def test_after_a_round_that_acted_it_begins_anew() -> None:
    """What it left is what it could do; a round that did nothing changes nothing."""
    asked = drift()
    look(asked, 0, SpreadLoad=10.0)
    asked.answered(report(1, 2))
    assert look(asked, 60, SpreadLoad=12.0) is not None
    look(asked, 120, SpreadLoad=5.0)
    asked.answered(carried_out(121, 125))
    assert look(asked, 180, SpreadLoad=9.0) is None
    assert look(asked, 240, SpreadLoad=10.0) is not None


def test_values_are_asked_for_at_most_once_in_a_while() -> None:
    """They take long on a large cluster."""
    asked, count = drift(every="2m"), 0

    def values() -> Mapping[str, float]:
        nonlocal count
        count += 1
        return {}

    for at in range(0, 600, 10):
        asked.look(Sight(cluster(taken_at=NOW + at), values=values))
    assert count == 5
    assert asked.wake_at(NOW + 590) == NOW + 600


def test_a_clock_that_is_set_back_does_not_silence_it() -> None:
    """It looks at once."""
    asked = drift()
    look(asked, 86400, SpreadLoad=10.0)
    assert asked.wake_at(NOW) == NOW
    assert look(asked, 0, SpreadLoad=20.0) is not None


def test_only_the_objectives_that_are_named_count() -> None:
    """And only those of the policy; with none there is nothing to wake for."""
    asked = drift(of=["MakeRoom"])
    look(asked, 0, SpreadLoad=1.0, MakeRoom=1.0)
    assert look(asked, 60, SpreadLoad=9.0, MakeRoom=1.0) is None
    assert look(asked, 120, SpreadLoad=9.0, MakeRoom=2.0) is not None
    assert drift(of=["EmptyNodes"]).wake_at(NOW) is None


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_what_is_no_number_is_passed_over(value: float) -> None:
    """And is nothing to be measured against."""
    asked = drift()
    assert look(asked, 0, SpreadLoad=value) is None
    assert look(asked, 60, SpreadLoad=10.0) is None
    assert look(asked, 120, SpreadLoad=value) is None
    assert look(asked, 180, SpreadLoad=12.0) is not None


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=20))
def test_it_asks_exactly_if_the_best_since_it_asked_is_a_tenth_better(values: list[float]) -> None:
    """Whatever the values do."""
    asked = drift()
    best = values[0]
    for number, value in enumerate(values):
        is_worse = value - best > 0.1 * max(1.0, abs(best))
        assert (look(asked, 60.0 * number, SpreadLoad=value) is not None) is is_worse
        best = value if is_worse else min(best, value)
