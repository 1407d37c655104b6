"""HotNode: only use that is high for long enough, and believed, asks for a round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import Occasion
from rescheduler.model.usage.trust import TrustState
from tests.builders import NOW, node
from tests.unit.daemon.triggers.loads import load
from tests.unit.daemon.triggers.sights import report, sight, trigger

NODES = (node("n1"), node("n2"))


def look(asked: Trigger, at: float, cpu: Sequence[float], memory: Sequence[float] | None = None, **more: Any) -> Any:
    """What it asks for at this load of the two nodes."""
    return asked.look(sight(at, *NODES, usage=load(at, cpu, memory, **more)))


def first(cpu: Sequence[float], memory: Sequence[float] | None = None, until: int = 1200, **more: Any) -> Any:
    """When it asks first at a load that stays, and for what; looked at every thirty seconds."""
    asked = trigger("HotNode", **more.pop("args", {}))
    for at in range(0, until, 30):
        occasion = look(asked, at, cpu, memory, **more)
        if occasion is not None:
            return at, occasion
    return None


def test_a_node_that_stays_hot_asks_after_five_minutes() -> None:
    """The occasion names it and says how hot it is."""
    at, occasion = first([90, 50])
    assert at == 300
    assert isinstance(occasion, Occasion)
    assert occasion.nodes == ("n1",)
    assert occasion.reason == "1 node has been hot for 5m: n1 (cpu 90%)"


def test_any_resource_is_enough() -> None:
    """And all that are high are told."""
    _, occasion = first([90, 50], [95, 91])
    assert occasion.nodes == ("n1", "n2")
    assert occasion.reason == "2 nodes have been hot for 5m: n1 (cpu 90%, memory 95%) and n2 (memory 91%)"


@pytest.mark.parametrize("cpu", [85.0, 40.0, float("nan"), -5.0, float("inf")])
def test_use_that_is_not_above_or_not_known_is_not_hot(cpu: float) -> None:
    """At the threshold it is not above it; what cannot be is not known."""
    assert first([cpu, 10]) is None


def test_a_short_dip_within_the_margin_does_not_begin_anew() -> None:
    """Hot until it is five points lower."""
    asked = trigger("HotNode")
    for at, cpu in ((0, 90), (60, 82), (120, 81), (300, 90)):
        occasion = look(asked, at, [cpu, 0])
    assert occasion is not None


def test_a_dip_below_the_margin_begins_anew() -> None:
    """And a node that is only warm was never hot."""
    asked = trigger("HotNode")
    for at, cpu in ((0, 90), (60, 79), (120, 90), (330, 90)):
        assert look(asked, at, [cpu, 83]) is None
    occasion = look(asked, 420, [90, 83])
    assert occasion is not None
    assert occasion.nodes == ("n1",)


@pytest.mark.parametrize(
    "state", [state for state in TrustState if state not in (TrustState.TRUSTED, TrustState.PREDICTED)]
)
def test_use_that_is_not_believed_does_not_ask(state: TrustState) -> None:
    """A node that settles after a move too: its use is true, but no reason for another."""
    assert first([90, 10], states=[state, TrustState.TRUSTED]) is None


def test_a_gap_in_trust_begins_anew() -> None:
    """For a while nobody knew."""
    asked = trigger("HotNode")
    look(asked, 0, [90, 0])
    look(asked, 200, [90, 0], states=[TrustState.STALE, TrustState.TRUSTED])
    look(asked, 210, [90, 0])
    assert look(asked, 400, [90, 0]) is None
    assert look(asked, 510, [90, 0]) is not None


def test_no_load_a_frozen_one_an_old_one_or_one_of_other_nodes_asks_for_nothing() -> None:
    """Whatever is wrong with it."""
    assert first([90, 10], freeze="the provider lies") is None
    assert first([90, 10], age=301.0) is None
    assert first([90, 10, 10]) is None
    asked = trigger("HotNode")
    assert all(asked.look(sight(at, *NODES)) is None for at in range(0, 1200, 30))


def test_other_thresholds_and_statistics_are_the_policys() -> None:
    """A margin of two deviations makes 70 percent hot."""
    args = {"above": {"cpu": "80%"}, "for": "1m", "statistic": "mean+2*std"}
    at, occasion = first([70, 50], deviation=10.0, args=args)
    assert at == 60
    assert occasion.reason == "1 node has been hot for 60s: n1 (cpu 90%)"


def test_starvation_for_cpu_counts_where_it_is_measured() -> None:
    """A node whose tasks wait for a cpu may use no more of it than others."""
    args = {"above": {"cpuPressure": "20%"}}
    at, occasion = first([50, 50], pressure=[30, 10], args=args)
    assert at == 300
    assert occasion.reason == "1 node has been hot for 5m: n1 (cpuPressure 30%)"
    assert first([99, 99], args=args) is None


def test_a_node_that_stays_hot_after_a_round_asks_more_and_more_seldom() -> None:
    """After one minute, two, four."""
    asked = trigger("HotNode")
    times = []
    for at in range(0, 1500, 10):
        if look(asked, at, [90, 10]) is not None:
            times.append(at)
            asked.answered(report(at, at))
    assert times == [300, 360, 480, 720, 1200]


def test_a_node_that_was_cool_again_is_a_new_case() -> None:
    """Its back-off goes with the heat."""
    asked = trigger("HotNode")
    look(asked, 0, [90, 10])
    assert look(asked, 300, [90, 10]) is not None
    look(asked, 310, [50, 10])
    look(asked, 320, [90, 10])
    assert look(asked, 620, [90, 10]) is not None


def test_it_wants_to_look_again_though_nothing_changes() -> None:
    """Use changes by itself; and earlier where a node is about to have been hot for long enough."""
    asked = trigger("HotNode")
    assert asked.wake_at(NOW) == NOW
    look(asked, 0, [90, 10])
    assert asked.wake_at(NOW) == NOW + 30
    look(asked, 290, [90, 10])
    assert asked.wake_at(NOW + 290) == NOW + 300
    assert asked.wake_at(NOW + 200) == NOW + 200  # the clock was set back
