"""A source whose clock is behind ours cannot say how old its samples are (one ahead is caught by plausibility)."""

from __future__ import annotations

import numpy as np

from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts


def clock_skew(evidence: Evidence, _: float) -> Verdicts:
    """All nodes, where every sample was late already when it was read."""
    late = uniformly_late(evidence)
    if late is None:
        return {}
    bound = evidence.cadence + evidence.trust.clock_skew
    reason = (
        f"every node's newest sample was at least {late:.0f}s old when it was read, more than {bound:.0f}s: "
        "the source's clock is behind, or what feeds it is late"
    )
    return dict.fromkeys(range(len(evidence.nodes)), Trust(TrustState.STALE, reason))


def uniformly_late(evidence: Evidence) -> float | None:
    """Seconds by which even the freshest sample of the newest answer was late; None where that is no fault.

    Scrapes of many nodes are spread over the cadence, so some sample must be nearly new. One node alone says nothing
    about the source's clock: its scrapes may have failed.
    """
    late = evidence.samples.times[:, None] - evidence.samples.measured_at
    rows = np.flatnonzero(np.isfinite(late).any(axis=1))
    if not rows.size:
        return None
    newest = late[rows[-1]]
    known = newest[np.isfinite(newest)]
    least = float(known.min())
    return least if known.size > 1 and least > evidence.cadence + evidence.trust.clock_skew else None
