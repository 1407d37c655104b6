"""The least number of evictions is never above what an exhaustive search finds, and ends the search where it is met."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from rescheduler.planning.objectives.empty_nodes.least_evictions import LeastEvictions
from tests.builders import cluster, node, pod
from tests.unit.planning.asked import plan_empty_nodes, situation_of
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.empty_nodes.questions import question, question_for
from tests.unit.planning.planning_requests import endless
from tests.unit.planning.tiny import tiny_clusters


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters())
def test_no_plan_is_below_the_least(tiny: TinyCluster) -> None:
    """Whatever plan reaches a value, it has at least so many evictions."""
    request = question_for(tiny)
    answer = plan_empty_nodes(request)
    least = LeastEvictions(situation_of(request)).for_value(answer.value, endless())
    assert least <= len(answer.moves)


def test_it_counts_the_room_of_the_others() -> None:
    """The two nodes with the fewest pods leave too little room, so a fuller one has to be emptied."""
    world = cluster(
        node("a", "4"), node("b", "4"), node("c", "4"),
        pod("x-0", "3", node="a"), pod("y-0", "2", node="b"), pod("z-0", "1", node="c"), pod("z-1", "1", node="c"),
    )  # fmt: skip
    situation = situation_of(question(world))
    least = LeastEvictions(situation)
    assert least.for_value(0, endless()) == 0
    assert least.for_value(1, endless()) == 1  # b's pod finds room in sum, though on no single node
    assert least.for_value(2, endless()) == 0  # seven cores on one node: no such plan, so nothing is claimed
