"""A node whose newest values cannot be is not believed in its earlier ones either."""

from __future__ import annotations

from rescheduler.model.trust import Trust, TrustState
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts


def implausible(evidence: Evidence, _: float) -> Verdicts:
    """Nodes of which something was dropped in the newest answer."""
    rejected = evidence.rejected
    if not rejected:
        return {}
    return {
        index: Trust(TrustState.IMPLAUSIBLE, f"the source gives {rejected[node.name]}")
        for index, node in enumerate(evidence.nodes)
        if node.name in rejected
    }
