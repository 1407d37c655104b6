"""The ring of the nodes' samples."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, nan

import numpy as np
import pytest

from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NODE_METRICS, NodeSamples, PodKey, PodSamples
from rescheduler.usage import rings as pod_ring
from rescheduler.usage.rings import NodeRing, PodRing
from rescheduler.usage.sample_ring import MOST_ROWS, row_count
from tests.builders import NOW, pod
from tests.unit.usage.sampling import START, tick

# The ring of the pods' samples.

WINDOWS = (300.0, 900.0)


def samples(at: float, use: Mapping[str, tuple[float, float]]) -> PodSamples:
    """Millicores and bytes by pod of the namespace default."""
    rows = np.array(list(use.values()), dtype=float).reshape(-1, 2).T
    keys = tuple(PodKey("default", name) for name in use)
    return PodSamples(keys, {CPU: rows[0], MEMORY: rows[1]}, np.full(len(keys), at))


def old_pod(name: str, namespace: str = "default", created_at: float = NOW - 86400) -> Pod:
    """A pod made long ago."""
    return pod(name, namespace=namespace, created_at=created_at)


def test_averages_over_each_window() -> None:
    """Aligned with the pods asked for; unknown ones are NaN."""
    ring = PodRing(WINDOWS, 60.0)
    for at, cpu in enumerate((100.0, 200.0, 600.0)):
        ring.append(samples(NOW + 240 * at, {"a": (cpu, 2.0**20)}), NOW + 240 * at)
    found = ring.use([old_pod("z"), old_pod("a"), old_pod("a", "elsewhere")], WINDOWS, NOW + 480)
    np.testing.assert_array_equal(found[300.0].average[CPU], [nan, 400, nan])
    np.testing.assert_array_equal(found[900.0].average[CPU], [nan, 300, nan])
    np.testing.assert_array_equal(found[900.0].average[MEMORY], [nan, 2.0**20, nan])
    np.testing.assert_array_equal(found[300.0].measured_at, [nan, NOW + 480, nan])
    assert found[900.0].count.tolist() == [0, 3, 0]


def test_a_metric_that_is_missing_is_not_0() -> None:
    """The other metric of the same sample counts."""
    ring = PodRing(WINDOWS, 60.0)
    ring.append(samples(NOW, {"a": (100, nan)}), NOW)
    found = ring.use([old_pod("a")], WINDOWS, NOW)[300.0]
    assert found.average[CPU].tolist() == [100]
    assert np.isnan(found.average[MEMORY]).all()


def test_an_earlier_pod_of_the_same_name_does_not_count() -> None:
    """A StatefulSet's pod keeps its name when it is made anew."""
    ring = PodRing(WINDOWS, 60.0)
    ring.append(samples(NOW, {"web-0": (900, 1)}), NOW)
    ring.append(samples(NOW + 60, {"web-0": (100, 1)}), NOW + 60)
    found = ring.use([old_pod("web-0", created_at=NOW + 30)], WINDOWS, NOW + 60)
    assert found[900.0].average[CPU].tolist() == [100]


def test_old_samples_leave_the_window() -> None:
    """The last high value is not kept for ever."""
    ring = PodRing(WINDOWS, 60.0)
    ring.append(samples(NOW, {"a": (900, 1)}), NOW)
    assert np.isnan(ring.use([old_pod("a")], WINDOWS, NOW + 300)[300.0].average[CPU]).all()
    assert ring.use([old_pod("a")], WINDOWS, NOW + 300)[900.0].average[CPU].tolist() == [900]


def test_the_age_is_that_of_the_sample_measured_last() -> None:
    """Though an older one came after it."""
    ring = PodRing(WINDOWS, 60.0)
    ring.append(samples(NOW, {"a": (900, 1)}), NOW)
    ring.append(samples(NOW - 30, {"a": (100, 1)}), NOW + 60)
    found = ring.use([old_pod("a")], WINDOWS, NOW + 60)[300.0]
    assert (found.measured_at.tolist(), found.average[CPU].tolist()) == ([NOW], [500])


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_many_pods_are_worked_out_in_parts(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Each keeps its own figures, wherever the parts end."""
    monkeypatch.setattr(pod_ring, "_AT_ONCE", at_once)
    ring = PodRing(WINDOWS, 60.0)
    names = [f"p{number}" for number in range(5)]
    ring.append(samples(NOW, {name: (number, 10 * number) for number, name in enumerate(names)}), NOW)
    found = ring.use([old_pod(name) for name in [*names[::-1], "z"]], WINDOWS, NOW)[300.0]
    np.testing.assert_array_equal(found.average[CPU], [4, 3, 2, 1, 0, nan])
    np.testing.assert_array_equal(found.average[MEMORY], [40, 30, 20, 10, 0, nan])
    np.testing.assert_array_equal(found.measured_at, [NOW] * 5 + [nan])
    assert found.count.tolist() == [1] * 5 + [0]


def test_more_pods_than_the_limit_are_unknown() -> None:
    """Those gone make room first."""
    ring = PodRing(WINDOWS, 60.0, limit=2)
    ring.append(samples(NOW, {"a": (1, 1), "b": (2, 1)}), NOW)
    ring.append(samples(NOW + 60, {"b": (3, 1), "c": (4, 1), "d": (5, 1)}), NOW + 60)
    found = ring.use([old_pod(name) for name in "abcd"], WINDOWS, NOW + 60)[900.0]
    np.testing.assert_array_equal(found.average[CPU], [nan, 2.5, 4, nan])


def test_nothing_sampled_is_nothing_known() -> None:
    """No pods, no metrics, no samples."""
    ring = PodRing(WINDOWS, 60.0)
    assert np.isnan(ring.use([old_pod("a")], WINDOWS, NOW)[300.0].average[CPU]).all()
    ring.append(PodSamples((), {}, np.zeros(0)), NOW)
    ring.append(PodSamples((PodKey("default", "a"),), {}, np.array([NOW])), NOW)
    assert ring.use([old_pod("a")], WINDOWS, NOW)[300.0].count.tolist() == [0]
    assert ring.use([], WINDOWS, NOW)[300.0].average[CPU].tolist() == []


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
