"""What was collected, judged as of now: a collector that hangs is not believed for ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.model.node import Node
from rescheduler.model.trust import Assessment, NodeTrust, Trust, TrustState
from rescheduler.model.usage import Usage, UsageWindows
from rescheduler.usage.checks.coverage import coverage_freeze, has_failed
from rescheduler.usage.collected import Collected

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


def node_trust(collected: Collected, seconds: float, now: float, coverage: float) -> NodeTrust | None:
    """Trust over one window as it stands now, for the gate; None for a window that is not kept."""
    assessment = aged(collected, now, coverage).assessment(seconds)
    if assessment is None:
        return None
    names = (node.name for node in collected.nodes)
    return NodeTrust(dict(zip(names, assessment.nodes, strict=True)), assessment.freeze)


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
