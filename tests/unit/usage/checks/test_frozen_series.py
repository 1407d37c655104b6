"""Tests of series that never change."""

from __future__ import annotations

import numpy as np

from rescheduler.model.usage.trust import TrustState
from rescheduler.policy.fields.usage import UsageTrust
from rescheduler.usage.checks.frozen_series import frozen_series
from tests.builders import NOW
from tests.unit.usage.cases import evidence, lively, nan, samples


def stuck(rows: int, column: int = 1, *, memory_too: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Lively cpu and memory of three nodes, but one has not changed for so many samples."""
    cpu, memory = lively(3), lively(3, seed=1)
    cpu[-rows:, column] = 0.37
    if memory_too:
        memory[-rows:, column] = 0.21
    return cpu, memory


def test_the_same_values_in_three_samples_are_frozen() -> None:
    """Nobody else is."""
    found = frozen_series(evidence(samples(*stuck(3))), 300.0)
    assert {index: trust.state for index, trust in found.items()} == {1: TrustState.FROZEN}
    assert found[1].reason == "the same values in 3 samples over 30s: cpu 37 %, memory 21 %"
    assert frozen_series(evidence(samples(*stuck(2))), 300.0) == {}


def test_the_policy_says_how_many() -> None:
    """``frozenSamples``."""
    trust = UsageTrust(frozen_samples=6)
    assert frozen_series(evidence(samples(*stuck(5)), trust=trust), 300.0) == {}
    assert set(frozen_series(evidence(samples(*stuck(6)), trust=trust), 300.0)) == {1}


def test_memory_of_an_idle_node_may_stand_still() -> None:
    """While its cpu moves."""
    assert frozen_series(evidence(samples(*stuck(10, memory_too=False))), 300.0) == {}


def test_a_source_of_cpu_alone_is_judged_by_it() -> None:
    """What nobody has cannot clear a node."""
    cpu, _ = stuck(3)
    found = frozen_series(evidence(samples(cpu, np.full(cpu.shape, nan))), 300.0)
    assert set(found) == {1}


def test_cpu_of_exactly_0_is_a_frozen_series_like_any_other() -> None:
    """The kubelet alone uses some, so that an idle node's cpu moves too."""
    cpu, memory = stuck(4)
    cpu[-4:, 1] = 0.0
    assert set(frozen_series(evidence(samples(cpu, memory)), 300.0)) == {1}


def test_a_sample_told_twice_is_one_sample() -> None:
    """The same time of the source's own is no other sample: that is staleness, not freezing."""
    cpu, memory = stuck(6)
    at = np.repeat((NOW + 15.0 * np.arange(-19, 1))[:, None], 3, axis=1)
    at[-6:, 1] = at[-6, 1]
    assert frozen_series(evidence(samples(cpu, memory, measured_at=at)), 300.0) == {}
    cpu, memory = stuck(3)
    at[-3, 1], at[-2:, 1] = NOW - 60, NOW
    assert frozen_series(evidence(samples(cpu, memory, measured_at=at)), 300.0) == {}


def test_one_scrape_stamped_with_several_times_is_not_frozen() -> None:
    """A rate evaluated at each of our ticks changes only with the scrapes, here once a minute."""
    cpu = np.repeat(lively(3, 8), 4, axis=0)
    memory = np.repeat(lively(3, 8, seed=1), 4, axis=0)
    assert frozen_series(evidence(samples(cpu, memory)), 900.0) == {}
    cpu[-13:, 0], memory[-13:, 0] = 0.4, 0.3
    assert set(frozen_series(evidence(samples(cpu, memory)), 900.0)) == {0}


def test_all_series_frozen_from_the_start_are_found() -> None:
    """No node that changes is needed to compare with."""
    cpu = np.tile([0.3, 0.4, 0.5], (3, 1))
    assert set(frozen_series(evidence(samples(cpu, cpu + 0.01)), 300.0)) == {0, 1, 2}


def test_a_gap_does_not_thaw() -> None:
    """Ticks without a sample are passed over."""
    cpu, memory = stuck(6)
    cpu[-3, 1] = memory[-3, 1] = nan
    assert set(frozen_series(evidence(samples(cpu, memory)), 300.0)) == {1}


def test_a_long_freeze_of_the_whole_cluster_stays_found() -> None:
    """However few changes are left to tell the source's beat from."""
    for frozen_rows in range(4, 41):
        cpu, memory = lively(3, 40), lively(3, 40, seed=1)
        cpu[-frozen_rows:], memory[-frozen_rows:] = cpu[-1], memory[-1]
        found = frozen_series(evidence(samples(cpu, memory)), 900.0)
        assert set(found) == {0, 1, 2}, frozen_rows
