"""From samples to usage over windows."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NETWORK, NodeSamples
from rescheduler.model.usage.usage import Departure, Usage
from rescheduler.usage.rings import NodeRing, PodUse
from rescheduler.usage.windows import ResultScale, usage_windows, window_statistics
from tests.builders import NOW, node, pod
from tests.unit.usage.sampling import START, old_nodes, plain_statistics, tick

# Statistics of the samples in one window.

cells = st.lists(st.tuples(st.one_of(st.just(nan), st.floats(0, 4, width=32)), st.booleans()), min_size=1, max_size=40)


def of(*values: float, inside: list[bool] | None = None) -> dict[str, float]:
    """Statistics of one node's values, measured one second apart."""
    column = np.array(values, dtype=np.float32).reshape(-1, 1)
    is_inside = np.ones(column.shape, bool) if inside is None else np.array(inside).reshape(-1, 1)
    found = window_statistics(column, np.arange(len(values), dtype=float).reshape(-1, 1), is_inside)
    return {name: float(row[0]) for name, row in vars(found).items()}


@given(st.lists(cells, min_size=1, max_size=4))
def test_statistics_equal_the_textbook(columns: list[list[tuple[float, bool]]]) -> None:
    """Whatever gaps there are, and though nodes have different numbers of samples."""
    height = max(map(len, columns))
    padded = [column + [(nan, True)] * (height - len(column)) for column in columns]
    values = np.array([[cell[0] for cell in column] for column in padded], dtype=np.float32).T
    inside = np.array([[cell[1] for cell in column] for column in padded]).T
    times = np.arange(height, dtype=float)[:, None] * np.ones(len(columns))
    found = window_statistics(values, times, inside)
    for at, column in enumerate(padded):
        plain = plain_statistics([(float(t), v) for t, (v, is_in) in enumerate(column) if is_in and v == v])
        for name, wanted in plain.items():
            assert getattr(found, name)[at] == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True), name


def test_the_deviation_is_the_populations() -> None:
    """As of Prometheus' stddev_over_time, which divides by the number of samples, not by one less."""
    assert of(1, 3)["deviation"] == 1.0
    assert of(0.1, 0.1, 0.1)["deviation"] == 0.0


def test_a_percentile_is_a_value_that_was_measured() -> None:
    """The nearest rank: never a value between two samples."""
    found = of(*range(1, 21))
    assert [found[name] for name in ("p50", "p90", "p95", "p99", "maximum")] == [10, 18, 19, 20, 20]
    assert of(1, 2)["p50"] == 1


def test_gaps_and_samples_outside_do_not_count() -> None:
    """Missing is never 0."""
    found = of(nan, 5, 9, nan, inside=[True, True, False, True])
    assert (found["count"], found["average"], found["minimum"], found["latest"]) == (1, 5, 5, 5)


def test_nothing_known_is_nan_but_counted_as_none() -> None:
    """For a node without a sample, and for a window without a row."""
    for found in (of(nan, nan), of(1, inside=[False])):
        assert found.pop("count") == 0
        assert all(np.isnan(value) for value in found.values())
    empty = window_statistics(np.zeros((0, 2), np.float32), np.zeros((0, 2)), np.zeros((0, 2), bool))
    assert empty.count.tolist() == [0, 0]
    assert np.isnan(empty.maximum).all()
    assert np.isnan(empty.latest).all()


def test_the_latest_goes_by_its_own_time() -> None:
    """Not by when it was asked for; of two measured at once, by that."""
    values, times = np.array([[1], [2], [3]], np.float32), np.array([[30.0], [10], [20]])
    assert window_statistics(values, times, np.ones((3, 1), bool)).latest.tolist() == [1]
    times[:] = 7
    found = window_statistics(values, times, np.ones((3, 1), bool))
    assert (found.latest.tolist(), found.measured_at.tolist()) == ([3], [7])


def test_scaled_values_lose_the_noise_of_float32() -> None:
    """0.1 of capacity is 10 percent, not 10.000000149."""
    values = np.array([[0.1], [0.3]], np.float32)
    found = window_statistics(values, np.zeros((2, 1)), np.ones((2, 1), bool), ResultScale(100, 4))
    assert [found.minimum[0], found.maximum[0], found.average[0]] == [10.0, 30.0, 20.0]
    assert found.count.tolist() == [2]


WINDOWS = (300.0, 600.0, 900.0)


def ring_of(*ticks: NodeSamples) -> NodeRing:
    """A ring of the usual windows that took these ticks in."""
    ring = NodeRing(WINDOWS, 15.0)
    for samples in ticks:
        ring.append(samples, now=float(samples.times.max()))
    return ring


def over(ring: NodeRing, seconds: float, now: float, *names: str) -> Usage:
    """Usage of these nodes over one window."""
    found = usage_windows(ring, (seconds,), old_nodes(*names), now).over(seconds)
    assert found is not None
    return found


moments = st.integers(0, 1000).map(lambda second: START + second)
readings = st.dictionaries(st.sampled_from("abc"), st.tuples(moments, st.floats(0, 2, width=32)), max_size=3)


@settings(max_examples=60)
@given(st.lists(st.tuples(moments, readings), max_size=25), st.sampled_from(WINDOWS), moments)
def test_windows_equal_a_plain_computation(
    ticks: list[tuple[float, dict[str, tuple[float, float]]]], seconds: float, now: float
) -> None:
    """With gaps, doubles, ticks and samples out of order, and nodes that come and go."""
    ring = NodeRing(WINDOWS, 15.0)
    kept: dict[str, dict[float, float]] = {"a": {}, "b": {}, "c": {}}
    for time, row in ticks:
        ring.append(
            tick(time, {k: v for k, (_, v) in row.items()}, at={k: at for k, (at, _) in row.items()}), START + 1000
        )
        for name, (at, value) in row.items():
            kept[name].setdefault(at, value)
    found = over(ring, seconds, now, "a", "b", "c")
    for at, samples in enumerate(kept.values()):
        inside = [(time, value) for time, value in samples.items() if now - seconds < time <= now + 30]
        for name, wanted in plain_statistics(inside).items():
            scaled = wanted if name in ("count", "measured_at") else 100 * wanted
            assert getattr(found.statistics[CPU], name)[at] == pytest.approx(scaled, abs=1e-4, nan_ok=True), name
        newest = max((time for time, _ in inside), default=nan)
        assert found.window_end[at] == pytest.approx(min(newest, now), nan_ok=True)
        assert found.is_valid[at] == bool(inside)


def test_a_sample_belongs_to_a_window_by_its_own_time() -> None:
    """Not by when it was asked for: a source that lags by ten minutes says nothing of the last five."""
    ring = ring_of(tick(START, {"a": 0.5}, at=START - 600))
    assert over(ring, 300, START, "a").statistics[CPU].count.tolist() == [0]
    found = over(ring, 900, START, "a")
    assert found.statistics[CPU].average.tolist() == [50]
    assert found.window_end.tolist() == [START - 600]
    assert found.window_seconds.tolist() == [900]


def test_the_window_is_open_at_its_start() -> None:
    """As Prometheus' ranges: a sample every 15 seconds makes twenty in five minutes."""
    ring = ring_of(*(tick(START + 15 * at, {"a": 0.5}) for at in range(60)))
    now = START + 15 * 59
    found = usage_windows(ring, WINDOWS, old_nodes("a"), now).by_seconds
    assert [found[seconds].statistics[CPU].count[0] for seconds in WINDOWS] == [20, 40, 60]


def test_a_source_may_be_a_little_ahead_of_our_clock() -> None:
    """Its sample counts, but says nothing of times to come; far ahead it counts no more."""
    ring = ring_of(tick(START, {"a": 0.5, "b": 0.5}, at={"a": START + 20, "b": START + 60}))
    found = over(ring, 300, START, "a", "b")
    np.testing.assert_array_equal(found.window_end, [START, nan])
    assert found.is_valid.tolist() == [True, False]


def test_what_was_measured_before_a_node_was_made_is_not_its_own() -> None:
    """A provider's history knows names only."""
    ring = ring_of(tick(NOW, {"a": 0.75}), tick(NOW + 60, {"a": 0.25}))
    new = node("a")
    new = type(new)(name="a", uid="9", allocatable=new.allocatable, capacity=new.capacity, created_at=NOW + 30)
    found = usage_windows(ring, (300.0,), [new], NOW + 60).by_seconds[300.0]
    assert found.statistics[CPU].average.tolist() == [25]
    assert found.statistics[CPU].count.tolist() == [1]


def test_the_older_of_cpu_and_memory_ends_the_window() -> None:
    """An old memory sample is not made fresh by a new one of cpu; a metric never measured does not count."""
    ring = ring_of(tick(START, {"a": 0.5, "b": 0.5}, memory={"a": 0.5}), tick(START + 200, {"a": 0.5, "b": 0.5}))
    found = over(ring, 300, START + 200, "a", "b")
    assert found.window_end.tolist() == [START, START + 200]
    np.testing.assert_array_equal(found.statistics[MEMORY].count, [1, 0])
    np.testing.assert_array_equal(found.statistics[MEMORY].measured_at, [START, nan])


def test_network_is_in_bytes_per_second() -> None:
    """It has no capacity to be a percentage of."""
    one = tick(START, {"a": 0.5})
    ring = ring_of(NodeSamples(one.nodes, one.times, {**one.values, NETWORK: np.array([[1e6]])}, one.measured_at))
    found = over(ring, 300, START, "a")
    assert found.statistics[NETWORK].latest.tolist() == [1e6]


def test_pod_use_and_departures_go_with_each_window() -> None:
    """Pods of a window of another length are not taken for it."""
    average = {CPU: np.array([250.0])}
    use = PodUse(average, np.array([START]), np.array([3]))
    gone = (Departure("a", START, pod("p").spec),)
    found = usage_windows(ring_of(), (300.0, 600.0), [], START, pod_use={300.0: use}, departures=gone)
    assert found.by_seconds[300.0].pod_use is average
    assert found.by_seconds[600.0].pod_use == {}
    assert found.by_seconds[600.0].departures == gone


def test_nothing_asked_is_nothing_told() -> None:
    """No node, no window, no sample."""
    ring = ring_of(tick(START, {"a": 0.5}))
    assert usage_windows(ring, (), old_nodes("a"), START).by_seconds == {}
    assert over(ring, 300, START).node_count == 0
    unknown = over(ring_of(), 300, START, "a")
    assert not unknown.is_valid.any()
    assert np.isnan(unknown.percent(CPU)).all()
