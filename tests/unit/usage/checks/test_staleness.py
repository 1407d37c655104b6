"""Tests of samples that are too old."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rescheduler.model.usage.trust import TrustState
from rescheduler.policy.fields.usage import UsageTrust
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.staleness import largest_age, stale
from tests.builders import NOW
from tests.unit.usage.cases import evidence, lively, nan, samples


def aged(ages: list[float], scrape: float = 15.0, **fields: Any) -> Evidence:
    """Nodes scraped steadily, whose newest samples are so old."""
    length = 10
    steps = scrape * np.arange(1 - length, 1)
    at = NOW + steps[:, None] - np.array(ages)
    return evidence(samples(lively(len(ages), length), measured_at=at), **fields)


def test_a_sample_is_good_for_three_scrapes() -> None:
    """At 15 s between scrapes, 45 s."""
    found = stale(aged([0.0, 45.0, 46.0]), 300.0)
    assert {index: trust.state for index, trust in found.items()} == {2: TrustState.STALE}
    assert found[2].reason == "newest sample is 46s old, more than 45s"


@pytest.mark.parametrize(
    ("scrape", "bound"), [(15.0, 45.0), (30.0, 90.0), (60.0, 180.0), (100.0, 300.0), (900.0, 300.0)]
)
def test_the_source_tells_how_often_it_scrapes(scrape: float, bound: float) -> None:
    """Three scrapes, five minutes at the most, whatever our own interval."""
    assert largest_age(aged([0.0, 1.0], scrape)) == bound


def test_the_policy_may_ask_for_less() -> None:
    """``maximumAge``."""
    trust = UsageTrust(maximum_age=20.0)
    assert set(stale(aged([0.0, 21.0], trust=trust), 300.0)) == {1}


def test_the_policy_cannot_ask_for_more_than_five_minutes() -> None:
    """Beyond it a window says nothing about now."""
    assert largest_age(aged([0.0], 600.0, trust=UsageTrust(maximum_age=3600.0))) == 300.0


def test_one_sample_alone_does_not_tell_the_scrapes() -> None:
    """A usual scrape of a minute is assumed."""
    one = samples(np.array([[0.4]]), np.array([[0.4]]), measured_at=np.array([[NOW - 179.0]]))
    assert largest_age(evidence(one)) == 180.0
    assert stale(evidence(one), 300.0) == {}


def test_the_oldest_expected_metric_counts() -> None:
    """cpu of now with memory of ten minutes ago is an old sample."""
    length = 40
    memory = lively(2, length, seed=1)
    memory[5:, 0] = nan
    found = stale(evidence(samples(lively(2, length), memory)), 900.0)
    assert set(found) == {0}


def test_an_outage_does_not_make_the_source_look_slow() -> None:
    """The gap is one step among many."""
    times = np.concatenate([NOW - 2000 + 15.0 * np.arange(10), NOW - 150 + 15.0 * np.arange(11)])
    assert largest_age(evidence(samples(lively(3, 21), times=times))) == 45.0


def test_gaps_between_ticks_do_not_hide_the_scrapes() -> None:
    """A source scraped each minute has nothing new at three ticks of four."""
    cpu = lively(2, 40)
    at = np.full(cpu.shape, nan)
    times = NOW + 15.0 * np.arange(-39, 1)
    for first, column in ((0, 0), (2, 1)):
        at[first::4, column] = times[first::4]
    cpu[np.isnan(at)] = nan
    assert largest_age(evidence(samples(cpu, cpu.copy(), measured_at=at))) == 180.0
