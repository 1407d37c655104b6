"""The ring of the nodes' samples."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.samples import NODE_METRICS, NodeSamples
from rescheduler.usage.ring import NodeRing
from rescheduler.usage.sample_ring import MOST_ROWS, row_count
from tests.unit.usage.sampling import START, tick


def ring_of(*ticks: NodeSamples, window: float = 60.0, interval: float = 15.0) -> NodeRing:
    """A ring that took these ticks in, each when it was taken."""
    ring = NodeRing((window,), interval)
    for samples in ticks:
        ring.append(samples, now=float(samples.times.max()))
    return ring


def cpu_of(ring: NodeRing, node: str) -> list[float]:
    """A node's cpu samples, oldest tick first."""
    found = ring.samples((node,)).values[CPU][:, 0]
    return [round(float(value), 6) for value in found if value == value]


def test_samples_come_back_as_they_went_in() -> None:
    """With their own times, in the order of the ticks, for nodes in the order asked for."""
    ring = ring_of(tick(START, {"a": 0.5, "b": 0.25}, at=START - 3), tick(START + 15, {"b": 0.75}, memory={"b": 0.5}))
    found = ring.samples(("b", "nobody", "a"))
    np.testing.assert_array_equal(found.times, [START, START + 15])
    np.testing.assert_array_equal(found.values[CPU], [[0.25, nan, 0.5], [0.75, nan, nan]])
    np.testing.assert_array_equal(found.values[MEMORY], [[nan, nan, nan], [0.5, nan, nan]])
    np.testing.assert_array_equal(found.measured_at, [[START - 3, nan, START - 3], [START + 15, nan, nan]])
    assert ring.newest_time == START + 15
    np.testing.assert_array_equal(ring.samples(("b",), since=START).times, [START + 15])


def test_a_ring_without_samples_knows_nothing() -> None:
    """Neither a time nor a tick."""
    ring = ring_of()
    assert ring.newest_time is None
    assert ring.samples(("a",)).times.tolist() == []


@pytest.mark.parametrize("value", [nan, inf, -inf, 1e300])
def test_what_is_no_number_is_no_sample(value: float) -> None:
    """And is never taken for 0; a value that float32 cannot hold is none either."""
    ring = ring_of(tick(START, {"a": value, "b": 0.5}))
    assert cpu_of(ring, "a") == []
    assert cpu_of(ring, "b") == [0.5]
    assert np.isnan(ring.samples(("a",)).measured_at).all()


@pytest.mark.parametrize("time", [nan, inf])
def test_a_sample_without_a_time_of_its_own_is_none(time: float) -> None:
    """No window could say whether it lies in it."""
    assert cpu_of(ring_of(tick(START, {"a": 0.5}, at=time)), "a") == []


def test_the_oldest_tick_makes_room() -> None:
    """The ring holds somewhat more than its longest window and no more than its rows."""
    rows = row_count(60, 15)
    ring = ring_of(*(tick(START + 15 * at, {"a": at / 1024}) for at in range(50)))
    assert cpu_of(ring, "a") == [round(at / 1024, 6) for at in range(50 - rows, 50)]
    assert rows > (60 + 30) / 15


def test_a_sample_seen_twice_counts_once() -> None:
    """A source that was asked more often than it scrapes repeats its last sample; only what was missing is filled."""
    first = tick(START, {"a": 0.5}, at=START - 5)
    again = tick(START + 15, {"a": 0.75}, at=START - 5, memory={"a": 0.25})
    ring = ring_of(first, again, again)
    assert cpu_of(ring, "a") == [0.5]
    found = ring.samples(("a",))
    np.testing.assert_array_equal(found.values[MEMORY][:, 0], [0.25])
    assert found.times.tolist() == [START]


def test_late_samples_find_their_place() -> None:
    """Ticks in any order, and a source whose older sample comes after a newer one."""
    ring = ring_of(tick(START + 30, {"a": 0.75}))
    ring.append(tick(START, {"a": 0.25}), now=START + 31)
    ring.append(tick(START + 45, {"a": 0.5}, at=START + 10), now=START + 45)
    ring.append(tick(START + 46, {"a": 0.5}, at=START), now=START + 46)
    found = ring.samples(("a",))
    assert found.times.tolist() == [START, START + 30, START + 45]
    assert found.measured_at[:, 0].tolist() == [START, START + 30, START + 10]


def test_a_tick_older_than_a_full_ring_is_not_kept() -> None:
    """It would push a newer one out."""
    ring = ring_of(*(tick(START + 15 * at, {"a": at / 1024}) for at in range(30)))
    before = cpu_of(ring, "a")
    ring.append(tick(START - 900, {"a": 0.5}), now=START + 435)
    assert cpu_of(ring, "a") == before


def test_a_clock_set_back_far_drops_what_is_yet_to_come() -> None:
    """Or such ticks would outlive the new ones; a small step back loses nothing."""
    ring = ring_of(tick(START, {"a": 0.25}), tick(START + 15, {"a": 0.5}))
    ring.append(tick(START + 5, {"a": 0.75}), now=START + 5)
    assert cpu_of(ring, "a") == [0.25, 0.75, 0.5]
    ring.append(tick(START - 3600, {"a": 0.125}), now=START - 3600)
    assert cpu_of(ring, "a") == [0.125]
    ring.append(tick(START - 3585, {"a": 0.5}), now=START - 3585)
    assert cpu_of(ring, "a") == [0.125, 0.5]


def test_a_tick_from_the_future_is_not_taken_in() -> None:
    """A restored file may hold such ticks, written before the clock was set right."""
    ring = ring_of()
    ring.append(tick(START + 3600, {"a": 0.5}), now=START)
    assert ring.newest_time is None


def test_a_node_made_anew_has_no_history() -> None:
    """The same name with another uid; the others keep theirs."""
    ring = ring_of(
        tick(START, {"a": 0.25, "b": 0.25}, uids={"a": "1", "b": "2"}),
        tick(START + 15, {"a": 0.5, "b": 0.5}, uids={"a": "9", "b": "2"}),
    )
    assert cpu_of(ring, "a") == [0.5]
    assert cpu_of(ring, "b") == [0.25, 0.5]


def test_a_node_made_anew_may_repeat_a_time() -> None:
    """Its sample is no duplicate of the old node's."""
    ring = ring_of(tick(START, {"a": 0.25}, uids={"a": "1"}))
    ring.append(tick(START, {"a": 0.5}, uids={"a": "2"}), now=START)
    assert cpu_of(ring, "a") == [0.5]


def test_a_node_that_comes_back_has_its_history() -> None:
    """If it was away for less than the window; else its column is another's by then."""
    ring = ring_of(tick(START, {"a": 0.25, "b": 0.5}), tick(START + 15, {"b": 0.5}), tick(START + 30, {"a": 0.5}))
    assert cpu_of(ring, "a") == [0.25, 0.5]
    for at in range(40):
        ring.append(tick(START + 45 + at, {f"other-{at}": 0.5}), now=START + 45 + at)
    assert cpu_of(ring, "a") == []


def test_nodes_that_come_and_go_take_no_room_for_ever() -> None:
    """As many columns as nodes within the window, with some to spare."""
    ring = NodeRing((60.0,), 15.0)
    for at in range(500):
        ring.append(tick(START + 15 * at, {f"n{at}": 0.5, "stays": 0.5}), now=START + 15 * at)
    assert len(cpu_of(ring, "stays")) == row_count(60, 15)
    assert ring._ring._at.shape[1] < 2 * row_count(60, 15)


def test_history_of_many_ticks_goes_in_at_once() -> None:
    """As a provider or the store gives it; metrics of other kinds are passed over, missing ones unknown."""
    times = START + 15.0 * np.arange(4)
    values = {CPU: np.full((4, 1), 0.5), "gpu": np.full((4, 1), 9.0)}
    history = NodeSamples(("a",), times, values, times[:, None])
    ring = NodeRing((60.0,), 15.0)
    ring.append(history, now=START + 45)
    ring.append(history, now=START + 46)
    assert cpu_of(ring, "a") == [0.5] * 4
    assert set(ring.samples(("a",)).values) == set(NODE_METRICS)


def test_windows_that_need_too_many_rows_are_refused() -> None:
    """The message says what would help."""
    with pytest.raises(ValueError, match=f"at most {MOST_ROWS} are kept: sample less often, or choose shorter"):
        NodeRing((86400.0,), 0.5)
