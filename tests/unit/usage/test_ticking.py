"""Tests of the beat."""

from __future__ import annotations

import pytest

from rescheduler.usage.collecting.collector import next_tick


@pytest.mark.parametrize(
    ("monotonic", "due", "skipped"),
    [(100.0, 115.0, 0), (100.3, 115.0, 0), (114.9, 115.0, 0), (115.0, 130.0, 1), (131.0, 145.0, 2), (99.0, 115.0, 0)],
)
def test_the_next_beat_is_after_now(monotonic: float, due: float, skipped: int) -> None:
    """A tick that took too long leaves beats out and falls back into step; the beat never drifts."""
    assert next_tick(100.0, monotonic, 15.0) == (due, skipped)
