"""Tests of since when nodes exist."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from rescheduler.model.objects.resources import CPU
from rescheduler.usage.collecting.node_births import NodeBirths, since_birth
from tests.builders import NOW, node
from tests.unit.usage.cases import lively, samples

AGELESS = replace(node("n0"), created_at=None)


def test_a_node_says_when_it_was_created() -> None:
    """Whatever was seen before."""
    births = NodeBirths()
    assert births.of((node("n0"),), NOW).tolist() == [NOW - 30 * 86400]


def test_a_node_of_unknown_age_is_old_at_first_and_young_when_it_appears() -> None:
    """And when its object becomes another."""
    births = NodeBirths()
    assert births.of((AGELESS,), NOW).tolist() == [-np.inf]
    assert births.of((AGELESS, replace(AGELESS, name="n1")), NOW + 15).tolist() == [-np.inf, NOW + 15]
    assert births.of((replace(AGELESS, uid="another"),), NOW + 30).tolist() == [NOW + 30]
    assert births.of((replace(AGELESS, uid="another"),), NOW + 45).tolist() == [NOW + 30]


def test_samples_from_before_a_node_existed_are_another_nodes() -> None:
    """They are no samples."""
    own = since_birth(samples(lively(2)), np.array([NOW - 30, -np.inf]))
    assert np.isfinite(own.values[CPU]).sum(axis=0).tolist() == [3, 20]
    assert np.isfinite(own.measured_at).sum(axis=0).tolist() == [3, 20]
