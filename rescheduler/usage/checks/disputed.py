"""Where providers contradict each other, none of them is believed."""

from __future__ import annotations

from rescheduler.model.trust import Trust, TrustState
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts


def disputed(evidence: Evidence, _: float) -> Verdicts:
    """Nodes whose providers differ by more than the policy's bound."""
    if not evidence.disputed:
        return {}
    return {
        index: Trust(TrustState.DISPUTED, evidence.disputed[node.name])
        for index, node in enumerate(evidence.nodes)
        if node.name in evidence.disputed
    }
