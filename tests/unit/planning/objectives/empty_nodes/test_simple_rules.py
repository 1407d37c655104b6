"""The simple rules: what they reach has an order that every filter and group allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.instances import Family, make_family
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.empty_nodes.simple_rules import SimpleRules
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import keeps_limits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.waves import GroupsOfPods
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests import builders
from tests.clocks import FakeClock, LookedAtClock
from tests.unit.planning.asked import situation_of
from tests.unit.planning.objectives.empty_nodes.questions import question


@given(
    sizes=st.lists(st.lists(st.integers(1, 4), min_size=0, max_size=4), min_size=2, max_size=6), most=st.integers(0, 9)
)
def test_what_a_rule_reaches_may_happen(sizes: list[list[int]], most: int) -> None:
    """Every order of nodes gives waves that a replay allows, within the limits, and empties what it says."""
    nodes = [builders.node(f"n{number}", cpu="8") for number in range(len(sizes))]
    pods = [
        builders.pod(f"p{number}-{place}", node=f"n{number}", cpu=str(cpu))
        for number, found in enumerate(sizes)
        for place, cpu in enumerate(found)
    ]
    situation = situation_of(question(builders.cluster(*nodes, *pods), limits=MoveLimits(max_evictions=most)))
    rules = SimpleRules(situation, GroupsOfPods(situation.problem))
    for order in rules.orders():
        found = rules.run(order.tolist(), situation.is_empty, Deadline(FakeClock(), 60.0))
        assert not replay(situation.problem, found.schedule)
        assert keeps_limits(situation, found.schedule)
        left = {move[0] for wave in found.schedule.waves for move in wave}
        for node in found.emptied:
            assert set(situation.problem.movable[situation.rows_on[node]].tolist()) <= left


@pytest.mark.parametrize("looks", [40, 69, 97, 400])
def test_whatever_finds_no_order_others_keep_theirs(looks: int) -> None:
    """Pods that spread were given their places beside pods of nodes that were left alone after all; each wave holds.

    (A plan that the checker refused; with and without time for all nodes.)
    """
    world, eligibility = make_family(Family("100", 0, 0.55, 7))
    prediction, clock = SchedulerModel(columns_of(world)), LookedAtClock()
    asked = PlanRequest(
        prediction=prediction, placement=Placement(prediction.columns), eligibility=eligibility,
        is_guided_by_holds=True, deadline_seconds=1e9, seed=1, clock=clock,
    )  # fmt: skip
    situation = EmptyingSituation(asked, None)
    rules = SimpleRules(situation, GroupsOfPods(situation.problem))
    nobody = np.zeros(situation.node_count, dtype=np.bool_)
    found = rules.run(rules.orders()[0].tolist(), nobody, Deadline(clock, float(looks)))
    assert len(found.emptied) > 10
    assert replay(situation.problem, found.schedule) == []
