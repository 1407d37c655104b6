"""Series over nodes: who is counted, and what happens when two series speak for one node."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.series_join import (
    Series,
    instant_series,
    joined,
    latest,
    number_of,
    range_series,
)
from rescheduler.model.objects.node import Node

HOSTS = Hosts([Node("n1"), Node("n2")])


def series(host: str, *values: float, **labels: str) -> Series:
    """A series of one host."""
    return Series({"instance": f"{host}:9100", **labels}, np.array(values))


def test_values_stand_at_their_node() -> None:
    """In the order of the nodes, NaN for the others, unknown hosts by name."""
    found = joined([series("n2", 0.5), series("stranger", 0.9)], HOSTS, 1, 2)
    assert np.isnan(found.values[0, 0])
    assert found.values[0, 1] == 0.5
    assert list(found.unknown) == ["stranger:9100"]
    assert found.problems == {}


@pytest.mark.parametrize(("other", "agrees"), [(0.5, True), (0.515, True), (0.53, False), (0.0, False)])
def test_two_series_must_agree(other: float, agrees: bool) -> None:
    """Within two hundredths of capacity, as two scrapes of one machine do."""
    found = joined([series("n1", 0.5, job="a"), series("n1", other, job="b")], HOSTS, 1, 2)
    assert np.isfinite(found.values[0, 0]) == agrees
    assert (0 in found.problems) != agrees


def test_what_an_old_exporter_left_behind_does_not_count() -> None:
    """Rates outlive their series by minutes; the one that still has samples is believed."""
    old, new = series("n1", 0.9, pod="exporter-old"), series("n1", 0.2, pod="exporter-new")
    alive = [Series({**new.labels, "__name__": "node_memory_MemTotal_bytes"}, np.array([1.0]))]
    found = joined([old, new], HOSTS, 1, 2, alive)
    assert found.values[0, 0] == 0.2
    assert found.problems == {}


def test_two_live_series_are_not_told_apart() -> None:
    """Being alive is no proof."""
    both = [series("n1", 0.9, pod="a"), series("n1", 0.2, pod="b")]
    assert 0 in joined(both, HOSTS, 1, 2, both).problems


def test_contradictions_hold_for_their_time_only() -> None:
    """A history keeps the times at which the series agree, or at which there is one."""
    found = joined([series("n1", 0.1, 0.9, nan, 0.4, job="a"), series("n1", 0.1, 0.2, 0.3, nan, job="b")], HOSTS, 4, 2)
    assert found.values[:, 0].tolist() == pytest.approx([0.1, nan, 0.3, 0.4], nan_ok=True)
    assert found.problems == {}  # the newest time is fine


def test_an_ambiguous_host_is_a_problem_of_each_node_it_may_mean() -> None:
    """Unless a node has a series of its own."""
    hosts = Hosts([Node("a.rack1"), Node("a.rack2")])
    found = joined([series("a", 0.5), series("a.rack1", 0.25)], hosts, 1, 2)
    assert found.values[0, 0] == 0.25
    assert set(found.problems) == {1}


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "abc", None, [], {}, "", "0x1"])
def test_what_is_no_number_is_a_problem(value: object) -> None:
    """Never 0, never silence."""
    number, problem = number_of(value)
    assert np.isnan(number)
    assert problem
    assert 0 in joined([instant_series({"node": "n1"}, value)], HOSTS, 1, 2).problems


def test_points_go_to_their_times() -> None:
    """Missing ones stay NaN, and those outside are passed over."""
    found = range_series({}, [(100.0, "1"), (130.2, "3"), (160.0, "9"), (85.0, "9")], 100.0, 15.0, 4)
    assert found.values.tolist() == pytest.approx([1.0, nan, 3.0, nan], nan_ok=True)


def test_the_latest_time_of_a_node_counts() -> None:
    """Whichever of its series is the newest; None where no series belongs to a node."""
    found = latest([series("n1", 10.0), series("n1", 12.0), series("n1", nan)], HOSTS, 1, 2)
    assert found is not None
    assert found[0].tolist() == pytest.approx([12.0, nan], nan_ok=True)
    assert latest([series("stranger", 1.0)], HOSTS, 1, 2) is None
