"""Every check of a node's samples, listed by hand in order of severity: the first that objects gives the state."""

from __future__ import annotations

from typing import Final

from rescheduler.usage.checks.clock_skew import clock_skew
from rescheduler.usage.checks.contradicted import disputed, implausible
from rescheduler.usage.checks.frozen_series import frozen_series
from rescheduler.usage.checks.missing import missing
from rescheduler.usage.checks.new_nodes import new_nodes, predicted_nodes
from rescheduler.usage.checks.pod_sums import pod_sums
from rescheduler.usage.checks.settling import settling
from rescheduler.usage.checks.staleness import stale
from rescheduler.usage.checks.too_few_samples import too_few_samples
from rescheduler.usage.checks.verdicts import Check

OF_THE_DATA: Final[tuple[Check, ...]] = (
    implausible,
    missing,
    clock_skew,
    stale,
    pod_sums,
    frozen_series,
    disputed,
    too_few_samples,
)
"""Objections to the samples themselves; a node with one counts as not covered."""
OF_THE_NODE_FIRST: Final[tuple[Check, ...]] = (predicted_nodes, new_nodes)
"""Asked before all but implausible values: what is young has no samples yet, and that is no fault."""
OF_THE_NODE_LAST: Final[tuple[Check, ...]] = (settling,)
"""Asked of nodes whose samples are sound."""
