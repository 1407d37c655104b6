"""When the next tick is due: at a steady beat, and a tick that takes too long is not caught up on."""

from __future__ import annotations

from math import floor
from typing import NamedTuple


class NextTick(NamedTuple):
    """``due``: on the monotonic clock; ``skipped``: beats left out."""

    due: float
    skipped: int


def next_tick(last_due: float, monotonic: float, interval: float) -> NextTick:
    """The first beat after ``monotonic``: catching up would only repeat samples and load a provider that is slow."""
    passed = max(0, floor((monotonic - last_due) / interval))
    return NextTick(last_due + (passed + 1) * interval, passed)
