"""The file that keeps samples over a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.files.sqlite.usage_store import (
    SqliteUsageStore,
    is_intact,
    layout_of,
    read_layout,
    read_usage_store,
    rows_of,
    samples_of,
)
from rescheduler.extension_points import StoreError
from rescheduler.model.objects.resources import CPU
from rescheduler.model.usage.samples import NODE_METRICS, NodeSamples
from rescheduler.usage.rings import NodeRing
from rescheduler.usage.windows import usage_windows
from tests.builders import NOW
from tests.unit.adapters.usage_stores import ALL, Told, opened, times_of
from tests.unit.usage.sampling import old_nodes, tick


def assert_same(found: Sequence[NodeSamples], wanted: Sequence[NodeSamples]) -> None:
    """Equal to the precision of float32, own times exactly."""
    assert [samples.nodes for samples in found] == [samples.nodes for samples in wanted]
    assert [samples.uids for samples in found] == [samples.uids for samples in wanted]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one.times, other.times)
        np.testing.assert_array_equal(one.measured_at, other.measured_at)
        for metric in NODE_METRICS:
            np.testing.assert_array_equal(one.values[metric], other.values[metric].astype(np.float32))


def test_samples_outlive_the_store(path: Path) -> None:
    """Ticks of the same nodes are joined, others stand alone, in the order of time."""
    store = opened(path)
    first = [tick(NOW + at, {"a": 0.1 * at, "b": nan}, at=NOW + at - 0.123456) for at in (0, 1)]
    other = tick(NOW + 2, {"b": 0.5}, uids={"b": "uid"})
    for samples in (*first, other, first[0]):
        store.append(samples)
    store.close()
    again = opened(path)
    found = again.restore(ALL)
    assert times_of(found) == [0, 0, 1, 2]
    assert_same(found[1:], [other])
    assert_same(
        again.restore(NOW + 1),
        [NodeSamples(("a", "b"), first[1].times, first[1].values, first[1].measured_at), other],
    )
    again.close()


def test_nothing_kept_is_nothing_restored(store: SqliteUsageStore) -> None:
    """Neither from a new store nor from a tick of no nodes."""
    assert store.restore(ALL) == []
    store.append(tick(NOW, {}))
    assert [samples.nodes for samples in store.restore(ALL)] == [()]


@settings(max_examples=25)
@given(st.data())
def test_windows_are_the_same_after_a_restart(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever gaps, lags and changes of nodes there were."""
    path = tmp_path_factory.mktemp("store") / "usage.sqlite"
    before, store = NodeRing((300.0, 900.0), 15.0), opened(path)
    values = st.one_of(st.just(nan), st.floats(0, 3))
    for at in range(data.draw(st.integers(1, 12))):
        cpu = data.draw(st.dictionaries(st.sampled_from("abc"), values, max_size=3))
        lag = data.draw(st.floats(0, 400))
        uids = {name: data.draw(st.sampled_from("12")) for name in cpu} if data.draw(st.booleans()) else None
        samples = tick(NOW + 15 * at, cpu, at=NOW + 15 * at - lag, uids=uids)
        before.append(samples, NOW + 15 * at)
        store.append(samples)
    store.close()
    after, now = NodeRing((300.0, 900.0), 15.0), NOW + 180
    for samples in read_usage_store(path, now - 2000, Told()):
        after.append(samples, now)
    for seconds in (300.0, 900.0):
        one, other = (
            usage_windows(ring, (seconds,), old_nodes(*"abc"), now).by_seconds[seconds] for ring in (before, after)
        )
        np.testing.assert_array_equal(one.window_end, other.window_end)
        for metric in NODE_METRICS:
            for name, row in vars(one.statistics[metric]).items():
                np.testing.assert_array_equal(row, getattr(other.statistics[metric], name))


def test_values_that_are_no_samples_stay_none(store: SqliteUsageStore) -> None:
    """Infinite ones and those beyond float32 do not come back as numbers."""
    store.append(tick(NOW, {"a": 1e300, "b": inf, "c": nan, "d": 0.5}))
    [found] = store.restore(ALL)
    assert np.isfinite(found.values[CPU]).tolist() == [[False, False, False, True]]


def test_no_more_ticks_are_kept_than_asked_for(path: Path) -> None:
    """Nor the names of nodes that no kept tick has; the file stops growing."""
    store = opened(path, keep_seconds=150.0)
    sizes = []
    for at in range(200):
        store.append(tick(NOW + 15 * at, {f"node-{at // 50}-{number}": 0.5 for number in range(100)}))
        if at % 50 == 49:
            sizes.append(path.stat().st_size + path.with_name(path.name + "-wal").stat().st_size)
    assert times_of(store.restore(ALL)) == [15 * at for at in range(189, 200)]
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM columns").fetchone() == (1,)
    connection.close()
    assert path.stat().st_size < 400_000


def test_a_clock_that_jumps_loses_no_tick(store: SqliteUsageStore) -> None:
    """Ticks are pruned by their number, not by their time."""
    for at in (0, 15, 365 * 86400, 30, 45):
        store.append(tick(NOW + at, {"a": 0.5}))
    assert times_of(store.restore(ALL)) == [0, 15, 30, 45, 365 * 86400]


@pytest.mark.parametrize("act", ["remove", "replace"])
def test_a_file_taken_away_is_noticed(path: Path, store: SqliteUsageStore, act: str) -> None:
    """Else ticks would go on into a file that nobody can open any more."""
    store.append(tick(NOW, {"a": 0.5}))
    path.unlink()
    if act == "replace":
        path.write_bytes(b"")
    with pytest.raises(StoreError, match="the file was removed or replaced while in use"):
        store.append(tick(NOW + 15, {"a": 0.5}))


A_TICK = tick(NOW, {"a": 0.5, "b": 0.25}, at=NOW - 0.1, uids={"a": "1", "b": ""})


def test_a_row_is_four_bytes_a_value_and_eight_a_time() -> None:
    """So that 5,000 nodes take 120 kB a tick."""
    layout = layout_of(A_TICK)
    [row] = rows_of(A_TICK, layout)
    assert len(row.blob) == layout.blob_size == 2 * (4 * len(NODE_METRICS) + 8)
    [again] = samples_of([(layout, row)])
    np.testing.assert_array_equal(again.measured_at, A_TICK.measured_at)


@given(st.data())
def test_any_change_of_a_row_is_noticed(data: st.DataObject) -> None:
    """Of its numbers, its time, or the nodes that it stands for."""
    layout = layout_of(A_TICK)
    [row] = rows_of(A_TICK, layout)
    assert is_intact(row, layout)
    place = data.draw(st.integers(0, len(row.blob) - 1))
    changed = bytearray(row.blob)
    changed[place] ^= data.draw(st.integers(1, 255))
    assert not is_intact(row._replace(blob=bytes(changed)), layout)
    assert not is_intact(row._replace(blob=row.blob[:place]), layout)
    assert not is_intact(row._replace(time=row.time + data.draw(st.integers(1, 1000))), layout)
    assert not is_intact(row._replace(time=None), layout)
    assert not is_intact(row._replace(blob="text"), layout)
    assert not is_intact(row, layout_of(tick(NOW, {"b": 0.5, "a": 0.5}, uids={"a": "1", "b": ""})))


def test_a_layout_is_read_as_it_was_written() -> None:
    """Names of any kind."""
    layout = layout_of(tick(NOW, {'quo"te\n': 0.5, "ünï": 0.5}, uids={'quo"te\n': "1", "ünï": "2"}))
    assert read_layout(layout.text) == layout


@pytest.mark.parametrize(
    "text", ["", "[]", "3", '{"metrics": []}', '{"metrics": [], "nodes": ["a"], "uids": ["1", "2"]}', '{"metrics": 1}']
)
def test_what_is_no_layout_is_refused(text: str) -> None:
    """Whatever else it is."""
    with pytest.raises(ValueError):  # noqa: PT011 (of json, or our own)
        read_layout(text)
