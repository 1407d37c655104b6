"""What was collected, judged as of now: a collector that hangs is not believed for ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.node import Node
from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import Usage, UsageWindows
from rescheduler.usage.checks.coverage import coverage_freeze, has_failed
from rescheduler.usage.checks.settling import touched_lately
from rescheduler.usage.collecting.collected import Collected

# Moves that the last tick did not know of: the nodes that they touched settle at once, not from the next tick on.


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


_GROWS_OLD = (TrustState.TRUSTED, TrustState.SETTLING)


def aged(collected: Collected, now: float, coverage: float) -> Collected:
    """The same with nodes Stale whose newest sample has become too old since the tick.

    ``coverage``: usage.trust.coverage of the policy; too many such nodes freeze usage, or make requests stand in.
    """
    if collected.measured_at is None:
        return collected
    is_old = now - collected.measured_at > collected.good_for
    if not is_old.any():
        return collected
    windows = {
        seconds: _aged(usage, collected, is_old, now, coverage)
        for seconds, usage in collected.windows.by_seconds.items()
    }
    return replace(collected, windows=UsageWindows(windows))


def _aged(usage: Usage, collected: Collected, is_old: BoolArray, now: float, coverage: float) -> Usage:
    if usage.assessment is None or collected.measured_at is None:
        return usage
    trusts = list(usage.assessment.nodes)
    lost = np.zeros(len(trusts), dtype=np.bool_)
    for number in np.flatnonzero(is_old).tolist():
        if trusts[number].state in _GROWS_OLD:
            age = now - collected.measured_at[number]
            reason = f"newest sample is {age:.0f}s old by now, more than {collected.good_for:.0f}s"
            trusts[number] = Trust(TrustState.STALE, reason)
            lost[number] = True
    return replace(
        usage,
        is_valid=usage.is_valid & ~lost,
        assessment=_reassessed(usage.assessment, trusts, collected.nodes, ~lost, coverage),
    )


def _reassessed(
    before: Assessment, trusts: Sequence[Trust], nodes: Sequence[Node], kept: BoolArray, coverage: float
) -> Assessment:
    freeze = before.freeze or coverage_freeze(nodes, kept, coverage)
    return Assessment(tuple(trusts), freeze, before.falls_back or has_failed(nodes, kept))
