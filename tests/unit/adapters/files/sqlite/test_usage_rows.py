"""Ticks as rows of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.files.sqlite.usage_rows import is_intact, layout_of, read_layout, rows_of, samples_of
from rescheduler.model.usage.samples import NODE_METRICS
from tests.builders import NOW
from tests.unit.usage.sampling import tick

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
