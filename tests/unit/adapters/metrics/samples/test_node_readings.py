"""NodeReadings: what hosts say becomes samples of nodes, and what contradicts itself becomes nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.node_readings import NodeReadings, PodReadings, number
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK, PodKey
from tests.builders import NOW, node

# PodReadings: the sum over the containers that still report.

WEB = PodKey("shop", "web")


def test_containers_are_summed_and_the_oldest_time_counts() -> None:
    """By metric, with the newest reading of each container."""
    found = PodReadings()
    found.add(CPU, WEB, NOW - 20, 900.0, container="a")
    found.add(CPU, WEB, NOW - 5, 100.0, container="a")
    found.add(CPU, WEB, NOW, 50.0, container="b")
    found.add(MEMORY, WEB, NOW, 7.0, container="b")
    samples = found.samples()
    assert samples.pods == (WEB,)
    assert samples.values[CPU].tolist() == [150.0]
    assert samples.values[MEMORY].tolist() == [7.0]
    assert samples.measured_at.tolist() == [NOW - 5]


def test_a_container_without_a_number_makes_the_pod_unknown() -> None:
    """A sum of the others would be too small."""
    found = PodReadings()
    found.add(CPU, WEB, NOW, math.nan, container="a")
    found.add(CPU, WEB, NOW, 50.0, container="b")
    assert np.isnan(found.samples().values[CPU]).all()


def test_a_metric_nobody_reported_is_unknown() -> None:
    """Not 0; and nameless pods are no pods."""
    found = PodReadings()
    found.add(CPU, WEB, NOW, 1.0)
    found.add(CPU, PodKey("", "x"), NOW, 1.0)
    found.add(CPU, PodKey("x", ""), NOW, 1.0)
    samples = found.samples()
    assert samples.pods == (WEB,)
    assert np.isnan(samples.values[MEMORY]).all()


def test_no_pod_at_all() -> None:
    """Empty arrays of the right kind."""
    samples = PodReadings().samples()
    assert samples.pods == ()
    assert samples.values[CPU].shape == samples.measured_at.shape == (0,)


NODES = [node("n1"), node("n2.example.com")]


def readings(times: list[float] | None = None, step: float | None = None) -> NodeReadings:
    """Of one sample, or of regular times."""
    return NodeReadings(NODES, Hosts(NODES), np.array(times or [NOW]), step_seconds=step)


def test_of_two_points_the_newer_counts_in_whatever_order() -> None:
    """Sources give points in any order."""
    for points in ([(NOW - 30, 0.2), (NOW, 0.9)], [(NOW, 0.9), (NOW - 30, 0.2)]):
        found = readings()
        for at, value in points:
            found.add(CPU, "n1", at, value)
        samples = found.samples()
        assert samples.values[CPU][0, 0] == 0.9
        assert samples.measured_at[0, 0] == NOW


@pytest.mark.parametrize(("cpu_at", "memory_at"), [(NOW, NOW - 60), (NOW - 60, NOW)])
def test_a_sample_is_as_old_as_the_older_of_cpu_and_memory(cpu_at: float, memory_at: float) -> None:
    """Whichever that is; network and disk do not make it older."""
    found = readings()
    found.add(CPU, "n1", cpu_at, 0.5)
    found.add(MEMORY, "n1", memory_at, 0.5)
    found.add(DISK, "n1", NOW - 100, 0.5)
    assert found.samples().measured_at[0, 0] == NOW - 60


def test_two_names_of_one_host_that_agree_are_one() -> None:
    """Short and full name, nearly the same value at nearly the same time."""
    found = readings()
    found.add(CPU, "n2", NOW, 0.50)
    found.add(CPU, "n2.example.com", NOW - 5, 0.51)
    assert found.samples().values[CPU][0, 1] == 0.50
    assert found.unusable == {}


def test_two_names_of_one_host_that_disagree_make_the_node_unusable() -> None:
    """Every metric of it, with both values told; a third opinion does not settle it."""
    found = readings()
    found.add(MEMORY, "n2", NOW, 0.3)
    found.add(CPU, "n2", NOW, 0.1)
    found.add(CPU, "n2.example.com", NOW, 0.9)
    found.add(CPU, "n2", NOW + 1, 0.9)
    samples = found.samples()
    assert np.isnan([samples.values[CPU][0, 1], samples.values[MEMORY][0, 1], samples.measured_at[0, 1]]).all()
    assert "0.1" in found.unusable["n2.example.com"]
    assert "0.9" in found.unusable["n2.example.com"]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_series_that_ended_long_ago_is_a_leftover_not_a_rival(is_first: bool) -> None:
    """The agent was given another host name: the new series counts."""
    added = [("n2", NOW - 200, 0.1), ("n2.example.com", NOW, 0.9)]
    found = readings()
    for host, at, value in added if is_first else reversed(added):
        found.add(CPU, host, at, value)
    assert found.samples().values[CPU][0, 1] == 0.9
    assert found.unusable == {}


def test_a_contradiction_about_disks_costs_the_disk_only() -> None:
    """With a warning that names the node."""
    found = readings()
    found.add(CPU, "n2", NOW, 0.5)
    for host, value in (("n2", 0.1), ("n2.example.com", 0.9)):
        found.add(DISK, host, NOW, value)
    samples = found.samples()
    assert samples.values[CPU][0, 1] == 0.5
    assert np.isnan(samples.values[DISK][0, 1])
    assert found.unusable == {}
    assert any("n2.example.com" in warning for warning in found.warnings())


@pytest.mark.parametrize(("at", "value"), [(NOW, math.nan), (NOW, math.inf), (math.nan, 0.5), (0.0, 0.5), (1e15, 0.5)])
def test_what_is_no_number_or_has_no_time_is_told(at: float, value: float) -> None:
    """The node is unusable, never 0."""
    found = readings()
    found.add(CPU, "n1", at, value)
    assert np.isnan(found.samples().values[CPU][0, 0])
    assert "n1" in found.unusable["n1"]


def test_a_host_that_may_be_two_nodes_counts_for_neither() -> None:
    """Both are unusable, and the host is named."""
    twins = [node("n1.a.example.com"), node("n1.b.example.com")]
    found = NodeReadings(twins, Hosts(twins), np.array([NOW]))
    found.add(CPU, "n1", NOW, 0.5)
    assert set(found.unusable) == {one.name for one in twins}
    assert np.isnan(found.samples().values[CPU]).all()


def test_hosts_of_which_none_is_a_node_are_told() -> None:
    """Most likely the names do not fit; with one that fits, strangers are no news."""
    found = readings()
    found.add(CPU, "i-0a1b\x1b[2J", NOW, 0.5)
    assert "i-0a1b" in found.warnings()[0]
    assert "n1" in found.warnings()[0]
    assert "\x1b" not in found.warnings()[0]
    found.add(CPU, "n1", NOW, 0.5)
    assert found.warnings() == ()


def test_readings_of_a_history_go_to_the_end_of_their_step() -> None:
    """What is older or newer than the times is left out."""
    found = readings([NOW, NOW + 60, NOW + 120], 60)
    for at in (NOW - 61, NOW - 30, NOW, NOW + 1, NOW + 120, NOW + 121):
        found.add(NETWORK, "n1", at, at - NOW)
    assert found.samples().values[NETWORK][:, 0].tolist() == [0.0, 1.0, 120.0]


def test_a_hole_in_a_history_makes_no_node_unusable() -> None:
    """A point that is no number leaves a gap at its time alone."""
    found = readings([NOW, NOW + 60], 60)
    found.add(CPU, "n1", NOW, math.nan)
    found.add(CPU, "n1", NOW + 60, 0.5)
    assert found.unusable == {}
    values = found.samples().values[CPU][:, 0]
    assert np.isnan(values[0])
    assert values[1] == 0.5


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["n1", "n2", "n2.example.com", "n3", ""]),
            st.sampled_from([CPU, MEMORY, NETWORK, DISK]),
            st.floats(NOW - 400, NOW + 400) | st.just(math.nan),
            st.floats(),
        ),
        max_size=30,
    )
)
def test_a_value_is_finite_with_a_time_or_not_there(added: list[tuple[str, str, float, float]]) -> None:
    """Whatever comes: values and times are known together, no unusable node has any, and none is invented."""
    found = readings()
    for host, metric, at, value in added:
        found.add(metric, host, at, value)
    samples = found.samples()
    given_values = {value for _, _, _, value in added}
    for values in samples.values.values():
        known = ~np.isnan(values)
        assert np.isfinite(samples.measured_at[known]).all()
        assert set(values[known].tolist()) <= given_values
    for name in found.unusable:
        assert np.isnan(samples.measured_at[0, samples.nodes.index(name)])


@pytest.mark.parametrize("found", [None, "1", "NaN", True, [], {}, 10**400, math.inf])
def test_only_finite_numbers_are_numbers(found: object) -> None:
    """Not texts, truth values, or numbers beyond all bounds."""
    assert math.isnan(number(found))


def test_a_number_that_cannot_be_is_passed_on() -> None:
    """A counter that went below zero as an unsigned number is for the analyser to judge."""
    assert number(18446744073709551591, 0.01) == pytest.approx(1.8446744e17)
    assert number(-5) == -5
