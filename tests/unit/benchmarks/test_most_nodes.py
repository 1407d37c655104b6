"""Tests of emptying as many nodes as possible."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from benchmarks.packing.most_nodes import empty_most_nodes
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import drainage_of
from rescheduler.planning.problem.deadline import Deadline
from tests.clocks import FakeClock
from tests.unit.planning.objectives.empty_nodes.small_drainages import drainages, fewest_moves_by_trying, fits


@settings(max_examples=40)
@given(drainages())
def test_the_bound_is_never_too_low(drainage):
    """No placement empties more nodes than the bound says, and the plan is a real one."""
    truth = max(
        count
        for count in range(drainage.node_count)
        if count == 0 or fewest_moves_by_trying(drainage, count) is not None
    )
    plan, bound = empty_most_nodes(drainage, Deadline(FakeClock(), 5.0), seed=0)
    assert bound >= truth
    if plan is not None:
        assert len(plan.emptied) <= truth
        assert fits(drainage, plan.node_of)
        assert not np.isin(plan.node_of, plan.emptied).any()


def test_keeps_the_mix_of_resources_that_pods_need():
    """Pods that need much of one resource each are put together so that half of the nodes suffice."""
    capacity = np.full((8, 2), 8)
    request = np.array([[6, 2], [2, 6]] * 4)
    plan, bound = empty_most_nodes(drainage_of(capacity, request, np.arange(8)), Deadline(FakeClock(), 5.0), seed=0)
    assert plan is not None
    assert (len(plan.emptied), bound) == (4, 4)
