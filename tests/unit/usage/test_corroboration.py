"""Tests of providers that watch each other."""

from __future__ import annotations

import numpy as np

from rescheduler.model.usage.samples import NodeSamples
from rescheduler.usage.corroboration import disputes
from tests.builders import NOW
from tests.unit.usage.cases import nan, samples


def told(*cpu: float, memory: float = 0.3, age: float = 0.0) -> NodeSamples:
    """One provider's newest sample."""
    at = np.full((1, len(cpu)), NOW - age)
    return samples(np.array([cpu]), np.full((1, len(cpu)), memory), measured_at=at)


def test_providers_that_agree_dispute_nothing() -> None:
    """Up to the bound, in either direction; one provider alone has nobody to contradict it."""
    assert disputes([("A", told(0.4, 0.5)), ("B", told(0.6, 0.3))], 0.2001, 45.0, NOW) == {}
    assert disputes([("A", told(0.4, 0.5))], 0.2, 45.0, NOW) == {}


def test_a_node_on_which_two_differ_is_named_with_both_values() -> None:
    """In cpu, else in memory."""
    found = disputes([("A", told(0.4, 0.5)), ("B", told(0.4, 0.71))], 0.2, 45.0, NOW)
    assert found == {"n1": "cpu is 50.0 % to A but 71.0 % to B, further apart than 20 %"}
    found = disputes([("A", told(0.4)), ("B", told(0.4, memory=0.9))], 0.2, 45.0, NOW)
    assert found == {"n0": "memory is 30.0 % to A but 90.0 % to B, further apart than 20 %"}


def test_any_two_of_three_can_dispute() -> None:
    """The third may be the liar or the witness; nobody votes."""
    assert set(disputes([("A", told(0.4)), ("B", told(0.5)), ("C", told(0.9))], 0.45, 45.0, NOW)) == {"n0"}


def test_what_is_missing_or_old_contradicts_nobody() -> None:
    """The node may have changed since, and no value is no zero."""
    assert disputes([("A", told(0.4)), ("B", told(nan))], 0.2, 45.0, NOW) == {}
    assert disputes([("A", told(0.4)), ("B", told(0.9, age=46.0))], 0.2, 45.0, NOW) == {}
    assert disputes([("A", told(0.4)), ("B", told(0.9, age=45.0))], 0.2, 45.0, NOW)
