"""No data is no load of 0: a node without samples is not judged at all."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.usage.trust import TrustState
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts, verdicts


def missing(evidence: Evidence, window_seconds: float) -> Verdicts:
    """Nodes that lack an expected metric in the whole window."""
    with np.errstate(invalid="ignore"):
        inside = evidence.samples.measured_at > evidence.now - window_seconds
    has: dict[str, BoolArray] = {
        metric: np.any(np.isfinite(evidence.samples.values[metric]) & inside, axis=0)
        for metric in evidence.expected
        if metric in evidence.samples.values
    }
    nowhere = np.zeros(len(evidence.nodes), dtype=np.bool_)
    lacking: BoolArray = ~np.all([has.get(metric, nowhere) for metric in evidence.expected], axis=0)

    def reason(index: int) -> str:
        absent = [metric for metric in evidence.expected if metric not in has or not has[metric][index]]
        return f"no {' and no '.join(absent)} sample within {window_seconds:.0f}s"

    return verdicts(lacking, TrustState.MISSING, reason)
