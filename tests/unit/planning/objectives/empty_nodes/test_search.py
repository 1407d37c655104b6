"""What is found first, so that an answer that is cut off is still worth something."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rescheduler.planning.objectives.empty_nodes import search
from tests import builders
from tests.clocks import FakeClock
from tests.unit.planning.asked import plan_empty_nodes
from tests.unit.planning.objectives.empty_nodes.questions import question


class RunningClock(FakeClock):
    """A clock on which every reading takes a while: the deadline comes after so many of them on any machine."""

    def __init__(self, seconds_per_reading: float) -> None:
        """Begin at zero."""
        self._seconds, self._readings = seconds_per_reading, 0

    def monotonic(self) -> float:
        """Later than at the reading before."""
        self._readings += 1
        return self._readings * self._seconds


@pytest.mark.parametrize("seconds_per_reading", [0.0, 0.5, 1.2])
def test_what_is_cut_off_is_not_below_the_simple_rule(
    monkeypatch: pytest.MonkeyPatch, seconds_per_reading: float
) -> None:
    """Of many pods the first plan sends each to the first node with room; whatever is out of time takes none away."""
    monkeypatch.setattr(search, "_MANY_PODS", 1)
    names = [f"n{number:02}" for number in range(40)]
    nodes = [builders.node(name) for name in names]  # four cores each
    pods = [builders.pod(f"on-{name}", node=name) for name in names]  # of one core
    asked = question(builders.cluster(*nodes, *pods), deadline_seconds=100.0)
    answer = plan_empty_nodes(replace(asked, clock=RunningClock(seconds_per_reading)))
    assert len(answer.closes) == 30
