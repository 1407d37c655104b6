"""Where providers contradict each other, none of them is believed."""

from __future__ import annotations

from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts

# A node whose newest values cannot be is not believed in its earlier ones either.


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


def disputed(evidence: Evidence, _: float) -> Verdicts:
    """Nodes whose providers differ by more than the policy's bound."""
    if not evidence.disputed:
        return {}
    return {
        index: Trust(TrustState.DISPUTED, evidence.disputed[node.name])
        for index, node in enumerate(evidence.nodes)
        if node.name in evidence.disputed
    }
