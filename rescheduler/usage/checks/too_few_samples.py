"""One or two samples are no window."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.trust import TrustState
from rescheduler.model.usage.usage import FloatArray
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts, verdicts


def too_few_samples(evidence: Evidence, window_seconds: float) -> Verdicts:
    """Nodes with fewer samples of different times within the window than the policy asks for.

    A source without history can give one sample to a single command; only what keeps running can gather more.
    """
    wanted = evidence.trust.minimum_samples
    measured_at = evidence.samples.measured_at
    with np.errstate(invalid="ignore"):
        inside = evidence.is_whole & (measured_at > evidence.now - window_seconds)
    count = samples_of_different_times(measured_at, inside)
    hint = (
        ""
        if evidence.keeps_history
        else "; its source keeps no history, so that only `rescheduler watcher` or `rescheduler run` can gather them"
    )
    return verdicts(
        count < wanted,
        TrustState.NEW,
        lambda index: (
            f"{count[index]} of the {wanted} samples within {window_seconds:.0f}s that usage.trust.minimumSamples "
            f"asks for{hint}"
        ),
    )


def samples_of_different_times(measured_at: FloatArray, counts: BoolArray) -> IntArray:
    """Samples of each node that count, int64[N]; one that repeats an earlier one's time is no other sample."""
    times = np.where(counts & np.isfinite(measured_at), measured_at, -np.inf)
    if not len(times):
        return np.zeros(times.shape[1], dtype=np.int64)
    before = np.vstack([np.full((1, times.shape[1]), -np.inf), np.maximum.accumulate(times, axis=0)[:-1]])
    return np.asarray((times > before).sum(axis=0), dtype=np.int64)
