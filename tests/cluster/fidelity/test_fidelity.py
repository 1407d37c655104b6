"""Our scheduler model against the real kube-scheduler, on the same random clusters and configuration text."""

from __future__ import annotations

import pytest

from benchmarks.fidelity.comparison import ALL, tally
from benchmarks.fidelity.measuring import Measured, measure, measure_sequences
from benchmarks.fidelity.profiles import MEASURED
from benchmarks.fidelity.report import told
from tests.cluster.cluster import Cluster

CASES = 1000
SEED = 0


@pytest.mark.timeout(900, func_only=True)
def test_a_thousand_random_pods(cluster: Cluster) -> None:
    """Schedulable or not, the reasons by number of nodes, and the node chosen: as foretold, under every profile."""
    measured = measure(cluster.control_plane, CASES, SEED)
    report = told(cluster.control_plane.version, measured, ())
    rows = tally(measured.cases)
    total = rows[ALL]
    assert total.cases >= CASES, report
    assert total.verdicts == total.cases, report
    assert total.messages == total.unschedulable, report
    assert total.in_best >= 0.995 * total.placed, report
    assert_says_something(measured, report)


def assert_says_something(measured: Measured, report: str) -> None:
    """The cases could have failed: all profiles took part, choices were real, and luck would not have done."""
    rows = tally(measured.cases)
    total = rows[ALL]
    assert rows.keys() >= set(MEASURED), report
    assert min(total.unschedulable, total.placed) > total.cases / 5, report
    assert total.single > 0.8 * total.choices, report
    assert total.luck < 0.4 * total.choices, report
    assert len(measured.refused) < total.cases / 100, report


@pytest.mark.timeout(600, func_only=True)
def test_sequences_of_evictions(cluster: Cluster) -> None:
    """Where all successors of several evicted pods go, made anew by their owners, is foretold pod by pod."""
    sequences = measure_sequences(cluster.control_plane, 10, 8, SEED)
    report = told(cluster.control_plane.version, Measured(), sequences)
    assert sum(len(sequence.places) for sequence in sequences) >= 60, report
    assert sum(sequence.is_exact for sequence in sequences) >= 0.9 * len(sequences), report
