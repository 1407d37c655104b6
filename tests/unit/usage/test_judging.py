"""Tests of what scores see of each state of trust."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU
from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import Usage, UsageWindows
from rescheduler.model.usage.usage_readings import Reading, usage_of
from rescheduler.scheduling.scoring.node_load import LoadSource
from rescheduler.usage.judging import judged
from tests.builders import NOW, cluster, pod
from tests.unit.usage.cases import nodes

TRUSTED = Trust(TrustState.TRUSTED)


def one(state: TrustState, first_bound: np.ndarray | None = None) -> Usage:
    """Three nodes at 40 % cpu, of which the first is in this state."""
    readings = {f"n{number}": [Reading("CPU", "AVG", 40.0)] for number in range(3)}
    measured = usage_of([f"n{number}" for number in range(3)], readings, NOW - 5, 300.0)
    assessment = Assessment((Trust(state, "why"), TRUSTED, TRUSTED))
    found = judged(UsageWindows({300.0: measured}), {300.0: assessment}, first_bound, NOW).over(300.0)
    assert found is not None
    assert found.assessment is assessment
    return found


@pytest.mark.parametrize("state", list(TrustState))
def test_only_nodes_whose_load_is_true_are_valid(state: TrustState) -> None:
    """For every state there is; loads of the others are unknown to scores, but still there to be shown.

    A settling node's load is true: a scheduler that scores by it must not take the node for one without load.
    """
    usage = one(state)
    is_true = state in (TrustState.TRUSTED, TrustState.PREDICTED, TrustState.SETTLING)
    assert usage.is_valid.tolist() == [is_true, True, True]
    assert usage.is_fresh(NOW).tolist() == [is_true, True, True]
    assert usage.statistics[CPU].average[0] == (0.0 if state is TrustState.PREDICTED else 40.0)
    columns = columns_of(cluster(*nodes(3), pod("web-0")))
    load = columns.facts(LoadSource(usage)).of(CPU, 0, Placement(columns))
    assert load.is_known.tolist() == [is_true, True, True]
    assert load.amount[1:].tolist() == [1600.0, 1600.0]


def test_a_distrusted_young_node_is_not_taken_for_idle() -> None:
    """Whoever assessed it knows better than its age alone."""
    usage = one(TrustState.IMPLAUSIBLE)
    fresh = tuple(replace(found, created_at=NOW - 30) for found in nodes(3))
    columns = columns_of(cluster(*fresh, pod("web-0")))
    load = columns.facts(LoadSource(usage)).of(CPU, 0, Placement(columns))
    assert load.is_known.tolist() == [False, True, True]


@pytest.mark.parametrize(("bound", "end"), [(np.inf, NOW), (NOW, NOW), (NOW - 10, NOW), (NOW - 200, NOW - 170)])
def test_a_predicted_nodes_window_ends_where_all_its_pods_still_count(bound: float, end: float) -> None:
    """At most now; a pod counts while its window ends less than 60 s after it was bound."""
    usage = one(TrustState.PREDICTED, np.array([bound, -np.inf, -np.inf]))
    assert usage.window_end.tolist() == [end, NOW - 5, NOW - 5]
    assert usage.deviation(CPU)[0] == 0.0
