"""Tests of young nodes."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.model.usage.trust import TrustState
from rescheduler.usage.checks.new_nodes import new_nodes, predicted_nodes
from tests.builders import NOW
from tests.unit.usage.cases import evidence, nodes

SINCE = np.array([NOW - 3600, NOW - 600, NOW - 599, NOW + 5, -np.inf])


def test_a_node_younger_than_ten_minutes_is_new() -> None:
    """Also one created in our future; one of unknown age is not young."""
    found = new_nodes(evidence(exists_since=SINCE), 300.0)
    assert {index: trust.state for index, trust in found.items()} == {2: TrustState.NEW, 3: TrustState.NEW}
    assert found[2].reason == "is 599s old, younger than 600s"
    assert found[3].reason == "is 0s old, younger than 600s"


@pytest.mark.parametrize(
    ("bound", "is_predicted"),
    [(np.inf, True), (NOW - 300, True), (NOW - 301, False), (-np.inf, False), (NOW, True)],
)
def test_a_young_node_with_none_but_new_pods_is_predicted(bound: float, is_predicted: bool) -> None:
    """Or without any pod."""
    found = predicted_nodes(evidence(exists_since=SINCE, oldest_bound=np.full(5, bound)), 300.0)
    assert set(found) == ({2, 3} if is_predicted else set())
    assert all(trust.state is TrustState.PREDICTED for trust in found.values())


def test_no_prediction_without_pods_or_readiness() -> None:
    """Unknown pods may be old ones; a node that is not ready takes none."""
    assert predicted_nodes(evidence(exists_since=SINCE), 300.0) == {}
    unready = nodes(5, is_ready=False)
    assert predicted_nodes(evidence(nodes=unready, exists_since=SINCE, oldest_bound=np.full(5, NOW)), 300.0) == {}
