"""The simple rules: what they reach has an order that every filter and group allows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.empty_nodes.simple_rules import SimpleRules
from rescheduler.planning.objectives.empty_nodes.solution import keeps_limits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.waves import GroupsOfPods
from tests import builders
from tests.clocks import FakeClock
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
