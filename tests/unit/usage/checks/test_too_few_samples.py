"""Tests of windows with too little in them."""

from __future__ import annotations

import numpy as np

from rescheduler.model.usage.trust import TrustState
from rescheduler.policy.fields.usage import UsageTrust
from rescheduler.usage.checks.too_few_samples import too_few_samples
from tests.builders import NOW
from tests.unit.usage.cases import evidence, lively, nan, samples


def test_three_samples_are_a_window() -> None:
    """The default of the policy."""
    assert too_few_samples(evidence(samples(lively(2, 3))), 300.0) == {}
    found = too_few_samples(evidence(samples(lively(2, 2))), 300.0)
    assert {trust.state for trust in found.values()} == {TrustState.NEW}
    assert "2 of the 3 samples within 300s" in found[0].reason


def test_only_samples_within_the_window_count() -> None:
    """Two of the last 20 are within 30 s."""
    assert len(too_few_samples(evidence(), 30.0)) == 5
    assert too_few_samples(evidence(), 45.0) == {}


def test_a_repeated_sample_counts_once() -> None:
    """Told by the source's own time, wherever the repetition stands."""
    cpu = lively(1, 4)
    at = np.array([[NOW - 60], [NOW - 30], [NOW - 60], [NOW - 30]])
    (trust,) = too_few_samples(evidence(samples(cpu, measured_at=at)), 300.0).values()
    assert trust.reason.startswith("2 of the 3")


def test_a_sample_without_all_that_is_expected_does_not_count() -> None:
    """cpu alone of a node whose source has memory too."""
    memory = lively(3, 4, seed=1)
    memory[:2, 0] = nan
    assert set(too_few_samples(evidence(samples(lively(3, 4), memory)), 300.0)) == {0}


def test_the_reason_names_what_can_gather_more() -> None:
    """Only where the source itself keeps no history."""
    one = samples(lively(1, 1))
    assert "rescheduler watcher" in too_few_samples(evidence(one, keeps_history=False), 300.0)[0].reason
    assert "rescheduler watcher" not in too_few_samples(evidence(one), 300.0)[0].reason


def test_the_policy_may_be_content_with_one() -> None:
    """``minimumSamples: 1``."""
    assert too_few_samples(evidence(samples(lively(1, 1)), trust=UsageTrust(minimum_samples=1)), 300.0) == {}
