"""Tests of nodes without data."""

from __future__ import annotations

import numpy as np

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import no_samples
from rescheduler.model.usage.trust import TrustState
from rescheduler.usage.checks.missing import missing
from tests.builders import NOW
from tests.unit.usage.cases import evidence, lively, nan, nodes, samples


def test_a_node_with_samples_passes() -> None:
    """All five have samples."""
    assert missing(evidence(), 300.0) == {}


def test_a_node_without_any_sample_is_missing() -> None:
    """No data is no load of 0."""
    cpu = lively()
    cpu[:, 2] = nan
    memory = cpu.copy()
    found = missing(evidence(samples(cpu, memory)), 300.0)
    assert {index: trust.state for index, trust in found.items()} == {2: TrustState.MISSING}
    assert found[2].reason == "no cpu and no memory sample within 300s"


def test_a_metric_that_most_nodes_have_must_not_be_missing() -> None:
    """Half a picture of one node is none."""
    memory = lively(seed=1)
    memory[:, 4] = nan
    found = missing(evidence(samples(lively(), memory)), 300.0)
    assert {index: trust.reason for index, trust in found.items()} == {4: "no memory sample within 300s"}


def test_a_source_may_lack_a_metric_for_all() -> None:
    """A source of cpu alone is a source; one stray value of memory does not condemn the others."""
    memory = np.full((20, 5), nan)
    assert missing(evidence(samples(lively(), memory)), 300.0) == {}
    memory[-1, 0] = 0.5
    assert missing(evidence(samples(lively(), memory)), 300.0) == {}


def test_samples_before_the_window_do_not_count() -> None:
    """By their own time."""
    cpu = lively(2)
    given = samples(cpu, measured_at=np.full(cpu.shape, NOW - 301))
    assert set(missing(evidence(given), 300.0)) == {0, 1}
    assert missing(evidence(given), 600.0) == {}


def test_without_any_sample_all_are_missing() -> None:
    """An empty answer, and no rows at all."""
    found = missing(evidence(no_samples(("n0", "n1"), NOW), nodes=nodes(2)), 300.0)
    assert {trust.state for trust in found.values()} == {TrustState.MISSING}
    empty = samples(np.zeros((0, 2)), np.zeros((0, 2)))
    assert set(missing(evidence(empty), 300.0)) == {0, 1}
    assert evidence(empty).expected == (CPU, MEMORY)
