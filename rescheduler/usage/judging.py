"""Puts trust into windows: which nodes count, and what stands in for the load of those that are predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.predicted_use import REPORTING_SECONDS
from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import FloatArray, Statistics, Usage, UsageWindows

_STANDS_FOR_ZERO: Final = ("average", "deviation", "latest", "maximum", "minimum", "p50", "p90", "p95", "p99")


def judged(
    windows: UsageWindows, assessments: Mapping[float, Assessment], first_bound: FloatArray | None, now: float
) -> UsageWindows:
    """Each window with its assessment: only nodes whose load is true are valid, predicted ones have a load of 0.

    ``first_bound``: float64[N], when the first of each node's pods was bound (see pods_on_nodes). The load of a
    predicted node's pods is added where loads are corrected (model/recent_use): its window ends where all its pods
    still count as bound too late to be seen in it.
    """
    by_seconds = {
        seconds: _judged(usage, assessments[seconds], first_bound, now) for seconds, usage in windows.by_seconds.items()
    }
    return UsageWindows(by_seconds)


def states(trusts: Sequence[Trust], *wanted: TrustState) -> BoolArray:
    """Nodes in one of these states, bool[N]."""
    return np.fromiter((trust.state in wanted for trust in trusts), np.bool_, count=len(trusts))


def _judged(usage: Usage, assessment: Assessment, first_bound: FloatArray | None, now: float) -> Usage:
    is_predicted = states(assessment.nodes, TrustState.PREDICTED)
    is_true = np.fromiter((trust.is_true for trust in assessment.nodes), np.bool_, count=usage.node_count)
    ends, statistics = usage.window_end, dict(usage.statistics)
    if is_predicted.any():
        bound = np.full(usage.node_count, np.inf) if first_bound is None else first_bound
        ends = np.where(is_predicted, np.minimum(bound + REPORTING_SECONDS / 2, now), ends)
        for resource in (CPU, MEMORY):
            if resource in statistics:
                statistics[resource] = _idle(statistics[resource], is_predicted)
    return replace(
        usage,
        statistics=statistics,
        window_end=ends,
        is_valid=is_true & np.isfinite(ends),
        assessment=assessment,
    )


def _idle(found: Statistics, where: BoolArray) -> Statistics:
    changed = {
        item.name: np.where(where, 0.0, getattr(found, item.name))
        for item in fields(found)
        if item.name in _STANDS_FOR_ZERO
    }
    return replace(found, **changed)
