"""The clock that counts processor time: right, and cheap enough to be asked tens of thousands of times."""

from __future__ import annotations

import time

import pytest

from benchmarks.promises import ProcessClock


def test_the_kernel_is_asked_again_only_where_much_can_have_been_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many threads each answer takes a fifth of a millisecond, which would be counted as planning."""
    now, asked = [100.0], list[float]()

    def computed() -> float:
        asked.append(now[0])
        return now[0] - 90.0

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(time, "process_time", computed)
    clock = ProcessClock()
    assert [clock.monotonic() for _ in range(1000)] == [10.0] * 1000
    assert len(asked) == 1
    now[0] = 101.0
    assert clock.monotonic() == 11.0
    assert len(asked) == 2
