"""Tests of what is dropped at the door."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK, NodeSamples
from rescheduler.usage.checks.plausibility import sift, sift_sample
from tests.builders import NOW
from tests.unit.usage.cases import answer, lively, nan, samples


@pytest.mark.parametrize("bad", [float("inf"), float("-inf"), -0.513, -1e-9, 1.51, 1.8e10, 1e308])
@pytest.mark.parametrize("metric", [CPU, MEMORY])
def test_a_value_that_cannot_be_is_dropped_with_its_reason(metric: str, bad: float) -> None:
    """Infinite, negative and absurdly large values become no value, and the other node keeps its own."""
    values = {CPU: np.array([[0.4, 0.5]]), MEMORY: np.array([[0.3, 0.2]])}
    values[metric] = np.array([[bad, 0.5]])
    sifted = sift(NodeSamples(("n0", "n1"), np.array([NOW]), values, np.full((1, 2), NOW)), {})
    assert np.isnan(sifted.samples.values[metric][0, 0])
    assert sifted.samples.values[metric][0, 1] == 0.5
    assert list(sifted.reasons) == ["n0"]
    assert metric in sifted.reasons["n0"]
    assert (sifted.given, sifted.dropped) == (2, 1)


def test_a_little_above_capacity_is_kept() -> None:
    """Bursts and rounding go above 100 %."""
    sifted = sift_sample(answer([1.5, 1.0], NOW))
    assert sifted.samples.values[CPU].tolist() == [[1.5, 1.0]]
    assert sifted.dropped == 0


def test_what_is_missing_is_not_counted_as_dropped() -> None:
    """NaN is no sample, and no fault of the values."""
    sifted = sift_sample(answer([nan, 0.4], NOW))
    assert (sifted.given, sifted.dropped, dict(sifted.reasons)) == (1, 0, {})


@pytest.mark.parametrize(
    ("cpu", "memory", "kept"),
    [
        (0.0, 0.4, (0.0, 0.4)),
        (0.0, 0.0, (nan, nan)),
        (0.0, nan, (nan, nan)),
        (0.4, 0.0, (0.4, nan)),
        (nan, 0.0, (nan, nan)),
    ],
)
def test_no_running_node_uses_nothing(cpu: float, memory: float, kept: tuple[float, float]) -> None:
    """Exactly 0 memory cannot be, nor cpu of 0 unless memory beside it tells that the source has data."""
    found = sift_sample(answer([cpu], NOW, memory=[memory])).samples.values
    assert np.array_equal([found[CPU][0, 0], found[MEMORY][0, 0]], kept, equal_nan=True)


def test_a_value_without_a_time_is_dropped() -> None:
    """Nobody could say how old it is."""
    given_samples = samples(np.array([[0.4]]), np.array([[0.4]]), measured_at=np.array([[nan]]))
    sifted = sift(given_samples, {})
    assert np.isnan(sifted.samples.values[CPU]).all()
    assert "without a time" in sifted.reasons["n0"]


def test_a_sample_from_our_future_is_dropped() -> None:
    """By more than clocks may differ; its time would hide all later samples."""
    at = np.array([[NOW + 30.0, NOW + 31.0]])
    sifted = sift(samples(np.array([[0.4, 0.5]]), np.array([[0.3, 0.2]]), measured_at=at), {}, 30.0)
    assert sifted.samples.values[CPU][0, 0] == 0.4
    assert np.isnan([sifted.samples.values[CPU][0, 1], sifted.samples.measured_at[0, 1]]).all()
    assert sifted.reasons["n1"].startswith("cpu of 50 % of capacity measured 31s in our future")


def test_network_and_disk_are_dropped_but_do_not_count_against_the_node() -> None:
    """Nobody is judged by them."""
    sample = answer([0.4], NOW)
    sample.nodes.values[NETWORK][0, 0] = -5.0  # type: ignore[index]
    sample.nodes.values[DISK][0, 0] = 7.0  # type: ignore[index]
    sifted = sift_sample(sample)
    assert np.isnan(sifted.samples.values[NETWORK]).all()
    assert np.isnan(sifted.samples.values[DISK]).all()
    assert (sifted.dropped, dict(sifted.reasons)) == (0, {})


def test_what_the_source_calls_unusable_is_counted() -> None:
    """Duplicate series and unparsable values arrive without a value, but with a reason."""
    sifted = sift_sample(answer([nan, 0.4], NOW, unusable={"n0": "two series that disagree"}))
    assert sifted.reasons == {"n0": "two series that disagree"}
    assert (sifted.given, sifted.dropped) == (2, 1)
    assert not sifted.is_believable


def test_five_percent_may_be_dropped_before_the_rest_is_doubted() -> None:
    """One of 20 nodes is 5 %; two are more."""
    values = [0.4 + number / 100 for number in range(20)]
    assert sift_sample(answer([-1.0, *values[1:]], NOW)).is_believable
    assert not sift_sample(answer([-1.0, -1.0, *values[2:]], NOW)).is_believable


def test_reasons_are_those_of_the_newest_row() -> None:
    """History has old faults that say nothing about now."""
    cpu = lively(2, 3)
    cpu[0, 0], cpu[2, 1] = -1.0, nan
    sifted = sift(samples(cpu), {})
    assert dict(sifted.reasons) == {}
    assert sifted.dropped == 1


@given(arrays.arrays(np.float64, (3, 4), elements=st.floats(width=64)), arrays.arrays(np.float64, (3, 4)))
def test_whatever_is_given_only_possible_values_are_kept(cpu: np.ndarray, memory: np.ndarray) -> None:
    """Kept values are finite, not negative and at most 1.5; what was NaN stays NaN, never 0; nothing raises."""
    sifted = sift(samples(cpu, memory), {})
    for metric, found in ((CPU, cpu), (MEMORY, memory)):
        kept = sifted.samples.values[metric]
        known = ~np.isnan(kept)
        assert np.array_equal(kept[known], found[known])
        assert ((kept[known] >= 0) & (kept[known] <= 1.5)).all()
        assert np.isnan(kept[np.isnan(found)]).all()
    assert 0 <= sifted.dropped <= sifted.given <= 12
