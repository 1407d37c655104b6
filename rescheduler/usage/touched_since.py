"""Moves that the last tick did not know of: the nodes that they touched settle at once, not from the next tick on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rescheduler.model.trust import TrustState
from rescheduler.model.usage import Usage, UsageWindows
from rescheduler.usage.checks.settling import touched_lately


def with_touched(
    windows: UsageWindows, names: Sequence[str], touched: Mapping[str, float], now: float
) -> UsageWindows:  # fmt: skip
    """Windows of the nodes of these names, where each trusted one that was touched within a window settles in it.

    ``touched``: when a move last left or reached each node, ``now``: both seconds since the epoch.
    """
    if not touched:
        return windows
    by_seconds = windows.by_seconds.items()
    return UsageWindows({seconds: _settled(usage, names, touched, now, seconds) for seconds, usage in by_seconds})


def _settled(usage: Usage, names: Sequence[str], touched: Mapping[str, float], now: float, seconds: float) -> Usage:
    assessment = usage.assessment
    if assessment is None:
        return usage
    found = touched_lately(names, touched, now, seconds)
    states = tuple(
        found.get(at, known) if known.state is TrustState.TRUSTED else known
        for at, known in enumerate(assessment.nodes)
    )
    return usage if states == assessment.nodes else replace(usage, assessment=replace(assessment, nodes=states))
