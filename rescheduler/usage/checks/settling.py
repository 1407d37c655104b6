"""After a move the averages still show what was; acting on them again would overshoot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts


def settling(evidence: Evidence, window_seconds: float) -> Verdicts:
    """Nodes that a move left or reached within the last window."""
    if not evidence.touched:
        return {}
    return touched_lately([node.name for node in evidence.nodes], evidence.touched, evidence.now, window_seconds)


def touched_lately(
    names: Sequence[str], touched: Mapping[str, float], now: float, window_seconds: float
) -> dict[int, Trust]:
    """The same for nodes by name; ``touched``: when a move last left or reached each, seconds since the epoch."""
    found = {}
    for index, name in enumerate(names):
        age = now - touched.get(name, float("-inf"))
        if age < window_seconds:
            reason = f"a move touched it {max(age, 0.0):.0f}s ago; it settles for {window_seconds:.0f}s"
            found[index] = Trust(TrustState.SETTLING, reason)
    return found
