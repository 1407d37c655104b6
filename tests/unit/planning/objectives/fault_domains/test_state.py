"""The violations that the planner counts are those that the independent recount finds, before and after any move."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.checker.recounts.fault_domains import violations_left
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Move, Plan, reference_to
from rescheduler.planning.lexicographic.document import summary_of
from rescheduler.planning.objectives.fault_domains.state import ViolationsState
from rescheduler.planning.problem.problem import Problem
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.unit.planning.objectives.fault_domains.random_clusters import clusters


def problem_of(cluster: Cluster) -> Problem:
    """All pods but terminating ones may move."""
    columns = columns_of(cluster)
    movable = tuple(number for number, pod in enumerate(cluster.pods) if not pod.is_terminating)
    return Problem(SchedulerModel(columns), Placement(columns), Eligibility(movable, {}, (), {}))


def after(cluster: Cluster, places: dict[int, int]) -> Plan:
    """A plan that takes pods (indices) to nodes."""
    moves = tuple(
        Move(reference_to(cluster.pods[pod]), cluster.pods[pod].node_name or "", cluster.nodes[node].name, 1, "x", "x")
        for pod, node in places.items()
    )
    return Plan(summary_of(cluster), moves=moves)


@settings(max_examples=100, deadline=None)
@given(clusters(), st.data())
def test_the_state_agrees_with_the_recount_after_every_move(cluster: Cluster, data: st.DataObject) -> None:
    """Cost, the change that each possible move would make, and the cost after moves equal the recount's."""
    problem = problem_of(cluster)
    state = ViolationsState(problem)
    places: dict[int, int] = {}
    assert state.cost == violations_left(cluster, after(cluster, places))
    for _ in range(3 if len(problem.movable) else 0):
        row = data.draw(st.integers(0, len(problem.movable) - 1))
        pod = int(problem.movable[row])
        change = state.change(row)
        for node in range(len(cluster.nodes)):
            assert state.cost + change[node] == violations_left(cluster, after(cluster, {**places, pod: node}))
        assert -change.min() <= state.hopes()[row]
        node = data.draw(st.integers(0, len(cluster.nodes) - 1))
        places[pod] = node
        before = state.cost
        state.move(row, node)
        assert state.cost == before + change[node]
