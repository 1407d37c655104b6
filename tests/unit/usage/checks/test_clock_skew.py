"""Tests of clocks that differ."""

from __future__ import annotations

import numpy as np

from rescheduler.model.usage.trust import TrustState
from rescheduler.usage.checks.clock_skew import clock_skew, uniformly_late
from tests.builders import NOW
from tests.unit.usage.cases import evidence, lively, samples


def shifted(*shifts: float) -> np.ndarray:
    """Times of the source's, so many seconds from ours."""
    times = NOW + 15.0 * np.arange(-19, 1)
    return times[:, None] + np.array(shifts)


def test_clocks_that_agree_pass() -> None:
    """A few seconds either way."""
    given = samples(lively(3), measured_at=shifted(-20.0, 0.0, 29.0))
    assert clock_skew(evidence(given), 300.0) == {}


def test_a_source_whose_every_sample_is_late_is_behind() -> None:
    """Its scrapes are spread over time, so one of them should be nearly new."""
    given = samples(lively(3), measured_at=shifted(-47.0, -52.0, -60.0))
    found = clock_skew(evidence(given), 300.0)
    assert {trust.state for trust in found.values()} == {TrustState.STALE}
    assert "at least 47s old when it was read" in found[0].reason
    assert len(found) == 3


def test_one_fresh_sample_clears_the_clock() -> None:
    """Then the others are late for reasons of their own."""
    given = samples(lively(3), measured_at=shifted(-3.0, -52.0, -60.0))
    assert clock_skew(evidence(given), 300.0) == {}


def test_a_provider_that_does_not_answer_is_not_late() -> None:
    """Lateness is how old samples were when they were read, not how old they are by now."""
    given = samples(lively(3), measured_at=shifted(-3.0, -5.0, -8.0))
    assert uniformly_late(evidence(given, now=NOW + 600)) is None


def test_a_single_node_says_nothing_about_the_clock() -> None:
    """Its own scrapes may have failed; staleness judges it."""
    given = samples(lively(1), measured_at=shifted(-100.0))
    assert uniformly_late(evidence(given)) is None
    assert uniformly_late(evidence(samples(np.zeros((0, 2)), np.zeros((0, 2))))) is None
