"""Tests of moves that the last tick did not know of."""

from __future__ import annotations

from dataclasses import replace

from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.model.usage.usage_readings import Reading, usage_of
from rescheduler.usage.ageing import with_touched
from tests.builders import NOW

NAMES = ("n0", "n1", "n2", "n3")
STATES = (TrustState.TRUSTED, TrustState.TRUSTED, TrustState.STALE, TrustState.PREDICTED)


def windows() -> UsageWindows:
    """Four nodes over one and five minutes."""
    readings = {name: [Reading("CPU", "AVG", 40.0)] for name in NAMES}
    measured = usage_of(list(NAMES), readings, NOW - 5, 300.0)
    assessed = replace(measured, assessment=Assessment(tuple(map(Trust, STATES)), "why", falls_back=True))
    return UsageWindows({60.0: assessed, 300.0: assessed, 900.0: measured})


def states(found: UsageWindows, seconds: float) -> list[TrustState]:
    """Of the nodes, over one window."""
    usage = found.by_seconds[seconds]
    assert usage.assessment is not None
    assert usage.assessment.freeze == "why"
    assert usage.assessment.falls_back
    return [trust.state for trust in usage.assessment.nodes]


def test_trusted_nodes_that_were_touched_settle_for_one_window() -> None:
    """Each window for itself; other objections stand, and a predicted node counts the pods that came already."""
    found = with_touched(windows(), NAMES, {"n0": NOW - 100, "n2": NOW, "n3": NOW, "elsewhere": NOW}, NOW)
    assert states(found, 60.0) == list(STATES)
    assert states(found, 300.0) == [TrustState.SETTLING, *STATES[1:]]
    assert found.by_seconds[900.0].assessment is None


def test_nothing_changes_where_nothing_was_touched() -> None:
    """The very same arrays, so that what is remembered of them stays."""
    given = windows()
    assert with_touched(given, NAMES, {}, NOW) is given
    found = with_touched(given, NAMES, {"n1": NOW - 1000}, NOW)
    assert all(found.by_seconds[seconds] is usage for seconds, usage in given.by_seconds.items())
