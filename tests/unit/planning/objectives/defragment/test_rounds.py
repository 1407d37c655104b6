"""The search that larger clusters need, held against brute force on tiny ones."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.defragment.objective import DefragmentState
from rescheduler.planning.objectives.defragment.rounds import GreedyRounds
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.search.search_state import SearchState
from rescheduler.planning.waves.replay import replay
from tests.builders import cluster, node, pod
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.defragment.brute_force import Shapes, best_defragmentation
from tests.unit.planning.objectives.defragment.questions import question, question_for, shape
from tests.unit.planning.objectives.defragment.test_objective_against_brute_force import SHAPES, wanted
from tests.unit.planning.planning_requests import endless
from tests.unit.planning.tiny import tiny_clusters


def searched(asked: PlanRequest, shapes: list[object]) -> tuple[DefragmentSituation, SearchState, GreedyRounds]:
    """The search after all its rounds."""
    situation = DefragmentSituation(asked, shapes)  # type: ignore[arg-type]
    state = DefragmentState(situation.problem, situation.shapes)
    current = SearchState(situation.problem, state, situation.limits, guards=asked.guards, move_cost=asked.move_cost)
    rounds = GreedyRounds(situation, current)
    rounds.run(endless())
    return situation, current, rounds


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tiny=tiny_clusters(most_running=6), shapes=SHAPES)
def test_schedules_are_allowed_and_between_nothing_and_the_best(tiny: TinyCluster, shapes: Shapes) -> None:
    """What stands on the state is what the schedule does; it passes every filter, and no brute force is beaten."""
    asked = question_for(tiny)
    situation, current, rounds = searched(asked, list(wanted(shapes)))
    problem = situation.problem
    assert replay(problem, rounds.schedule) == []
    moves = {pod: place for wave in rounds.schedule.waves for pod, place in wave}
    assert moves == {current.pod(row): place for row, place in current.moved.items()}
    idle = float(situation.shapes.worth(problem.free).sum())
    assert idle - 1e-6 <= -current.cost <= best_defragmentation(tiny, shapes).value + 1e-6


@settings(max_examples=30, deadline=None)
@given(most=st.integers(0, 6), per_node=st.sampled_from((None, 1, 2)), per_namespace=st.sampled_from((None, 1, 3)))
def test_every_limit_is_kept(most: int, per_node: int | None, per_namespace: int | None) -> None:
    """Limits in all, on nodes and on namespaces bind the options that are chosen together."""
    pods = [pod(f"p{n}-0", cpu="1", node=f"n{n % 6}", namespace="a" if n % 2 else "b") for n in range(18)]
    made = cluster(*(node(f"n{n}") for n in range(6)), *pods)
    limits = MoveLimits(most, per_node, per_namespace)
    situation, current, rounds = searched(question(made, limits=limits), [shape(cpu="2"), shape(cpu="4")])
    assert replay(situation.problem, rounds.schedule) == []
    assert len(current.moved) <= most


def test_room_is_given_up_where_it_is_worth_less() -> None:
    """A light shape's room on one node is filled so that a heavy one fits on another."""
    made = cluster(
        node("a", cpu="4"),
        node("b", cpu="3"),
        pod("x-0", cpu="1", node="a"),
        pod("y-0", cpu="1", node="b"),
    )
    asked = question(made, fixed=["y-0"])
    _, current, _ = searched(asked, [shape(weight=1.0, cpu="2"), shape(weight=10.0, cpu="4")])
    names = {made.pods[current.pod(row)].name: made.nodes[place].name for row, place in current.moved.items()}
    assert names == {"x-0": "b"}
    assert -current.cost == 2 + 10


def test_a_pod_makes_room_for_another() -> None:
    """A small pod moves on so that a large one can take its place: two moves, neither of which helps alone."""
    made = cluster(
        node("a", cpu="4"),
        node("b", cpu="4"),
        node("c", cpu="1"),
        pod("large-0", cpu="2", node="a"),
        pod("fixed-0", cpu="2", node="b"),
        pod("small-0", cpu="1", node="b"),
    )
    _, current, rounds = searched(question(made, fixed=["fixed-0"]), [shape(cpu="4")])
    assert -current.cost == 1
    assert [len(wave) for wave in rounds.schedule.waves] == [1, 1]
