"""After a move the averages still show what was; acting on them again would overshoot."""

from __future__ import annotations

from rescheduler.model.trust import Trust, TrustState
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts


def settling(evidence: Evidence, window_seconds: float) -> Verdicts:
    """Nodes that a move left or reached within the last window."""
    if not evidence.touched:
        return {}
    found = {}
    for index, node in enumerate(evidence.nodes):
        age = evidence.now - evidence.touched.get(node.name, float("-inf"))
        if age < window_seconds:
            reason = f"a move touched it {max(age, 0.0):.0f}s ago; it settles for {window_seconds:.0f}s"
            found[index] = Trust(TrustState.SETTLING, reason)
    return found
