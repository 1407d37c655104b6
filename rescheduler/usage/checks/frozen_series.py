"""A series that never changes is a source that has stopped looking, not a steady node."""

from __future__ import annotations

from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.trust import TrustState
from rescheduler.model.usage.usage import FloatArray
from rescheduler.usage.checks.evidence import JUDGED, Evidence
from rescheduler.usage.checks.verdicts import Verdicts, verdicts

_FEWEST_ROWS: Final = 120


def frozen_series(evidence: Evidence, _: float) -> Verdicts:
    """Nodes all of whose judged values are the same, to the last digit, for so many samples with different times.

    One metric alone may stand still (memory of an idle node); all of them together do not, and neither does an idle
    node's cpu: the kubelet alone moves it. So a node at exactly 0 cpu counts as frozen too. The samples must also
    span the time in which other nodes' values change, since a source may tell one scrape several times over.
    """
    wanted = evidence.trust.frozen_samples
    count, since = _unchanged(evidence, rows=max(_FEWEST_ROWS, 4 * wanted))
    span = evidence.measured_at - since
    needed = (wanted - 1.5) * evidence.seconds_between_changes
    with np.errstate(invalid="ignore"):
        found: BoolArray = (count >= wanted) & (span >= needed)
    return verdicts(
        found,
        TrustState.FROZEN,
        lambda index: f"the same values in {count[index]} samples over {span[index]:.0f}s: {_told(evidence, index)}",
    )


def _unchanged(evidence: Evidence, rows: int) -> tuple[IntArray, FloatArray]:
    """How many of the newest samples with different times agree, int64[N], and the time of the oldest of them."""
    samples = evidence.samples
    newest = evidence.newest
    is_running = np.isfinite(evidence.measured_at)
    count = np.zeros(len(evidence.nodes), dtype=np.int64)
    since = np.full(len(evidence.nodes), np.inf)
    for row in reversed(range(max(0, len(samples.times) - rows), len(samples.times))):
        has = evidence.is_whole[row]
        differs = np.zeros_like(has)
        for metric in evidence.expected:
            if metric in newest:
                differs |= samples.values[metric][row] != newest[metric]
        is_running = is_running & ~(has & differs)
        if not is_running.any():
            break
        is_older = is_running & has & (samples.measured_at[row] < since)
        count += is_older
        since = np.where(is_older, samples.measured_at[row], since)
    return count, since


def _told(evidence: Evidence, index: int) -> str:
    shown = ((metric, evidence.newest[metric][index]) for metric in JUDGED if metric in evidence.newest)
    return ", ".join(f"{metric} {100 * value:.4g} %" for metric, value in shown if np.isfinite(value))
