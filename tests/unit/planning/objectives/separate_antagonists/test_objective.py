"""Separating antagonists under limits, guards, prices and guidance, with words for what stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as with_changes

from rescheduler.checker.recounts.antagonists import pairs_left
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.annotations import ANTAGONISTS_UNTIL as UNTIL
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import DisruptionGroup, MoveLimits
from rescheduler.model.plan.plan import Refusal, Status
from rescheduler.planning.objectives.separate_antagonists.antagonists import find_antagonists
from rescheduler.planning.objectives.separate_antagonists.objective import SeparationState
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.waves.scheduler_choice import close
from rescheduler.policy.fields.objectives import ANTAGONISTS_LABEL, SeparateAntagonistsArgs
from tests.builders import NOW, cluster, node, pod
from tests.unit.planning.asked import plan_separate_antagonists
from tests.unit.planning.objectives.separate_antagonists.questions import plan_of, question, violations
from tests.unit.planning.objectives.separate_antagonists.test_against_brute_force import NAME, SETS, arguments, clusters

ALONE = arguments(sets=[{"name": "alone", "members": [{"matchLabels": {"app": "a"}}]}])


def answer_to(asked: PlanRequest, args: SeparateAntagonistsArgs = ALONE) -> ObjectivePlan:
    """The planner's answer, after the checker and the recount have agreed with it."""
    answer = plan_separate_antagonists(asked, find_antagonists(asked.prediction.columns, args, NOW))
    plan = plan_of(asked, answer, NAME)
    assert violations(asked, plan) == []
    assert pairs_left(asked.prediction.columns.cluster, plan, args, NOW) == answer.value
    assert answer.unit == "pairs"
    return answer


def crowd(count: int, nodes: int, **fields: Any) -> Cluster:
    """Pods of one app on the first of some nodes."""
    places = [node(f"n{number}", cpu="64") for number in range(nodes)]
    return cluster(*places, *(pod(f"a-{number:02d}", node="n0", **fields) for number in range(count)))


def test_without_antagonists_nothing_is_done() -> None:
    """An empty cluster, and one whose antagonists are apart."""
    for found in (cluster(), cluster(node("n1"), pod("a-0", node="n1")), cluster(node("n1"), pod("a-0"))):
        answer = answer_to(question(found))
        assert (answer.status, answer.value, answer.bound, answer.moves) == (Status.OPTIMAL, 0, 0, ())
        assert answer.message == "no antagonists share a node"


def test_a_crowd_is_parted_by_one_eviction_less_than_there_are_pods() -> None:
    """One of them stays."""
    answer = answer_to(question(crowd(3, 3)))
    assert (answer.status, answer.value, answer.bound, len(answer.moves)) == (Status.OPTIMAL, 0, 0, 2)
    assert answer.message == "3 pairs of antagonists separated by 2 evictions"
    assert answer.moves[0].reason.startswith("parts from default/a-0")
    assert answer.moves[0].reason.endswith("on n0 (set alone)")


def test_on_one_node_all_pairs_stay_and_the_message_says_why() -> None:
    """There is no other node."""
    answer = answer_to(question(crowd(2, 1)))
    assert (answer.status, answer.value, answer.bound, answer.moves) == (Status.INFEASIBLE, 1, 1, ())
    assert "1 pair stays on one node: default/a-00 and default/a-01 on n0 (set alone)" in answer.message
    assert "no other node takes default/a-00" in answer.message


@pytest.mark.parametrize("count", [5, 45])
def test_more_pods_than_nodes_are_spread_evenly_and_that_is_proven(count: int) -> None:
    """As many pairs stay as an even split leaves, for few pods and for many."""
    answer = answer_to(question(crowd(count, 3)))
    each, more = divmod(count, 3)
    least = (3 - more) * each * (each - 1) // 2 + more * (each + 1) * each // 2
    assert (answer.status, answer.value, answer.bound) == (Status.INFEASIBLE, least, least)


def test_the_eviction_limit_binds_and_is_named() -> None:
    """What one eviction can part is parted; more is proven impossible within the limit."""
    answer = answer_to(question(crowd(4, 4), limits=MoveLimits(1)))
    assert (answer.status, answer.value, answer.bound, len(answer.moves)) == (Status.INFEASIBLE, 3, 3, 1)
    assert "limits.maxEvictions allows no more evictions" in answer.message
    assert {refusal.rule for refusal in answer.refusals} <= {"Limits", "MovedAlready"}


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (MoveLimits(max_evictions_per_node=1), "limits.maxEvictionsPerNode"),
        (MoveLimits(max_evictions_per_namespace=1), "limits.maxEvictionsPerNamespace"),
    ],
)
def test_limits_of_node_and_namespace_bind_too(limits: MoveLimits, name: str) -> None:
    """Each is named where it binds."""
    answer = answer_to(question(crowd(3, 3), limits=limits))
    assert (answer.value, len(answer.moves)) == (1, 1)
    assert f"{name} allows no more evictions" in answer.message


def test_pods_that_may_not_move_are_told_with_their_rule() -> None:
    """The other one of a pair moves where it may; where neither may, both are named."""
    asked = question(crowd(3, 2), fixed=["a-00", "a-01"])
    barred = {pod: Refusal("OwnerlessPod", f"pod {pod} has no owner") for pod in (0, 1)}
    asked = PlanRequest(**{**vars(asked), "eligibility": with_changes(asked.eligibility, refusals=barred)})
    answer = answer_to(asked)
    assert (answer.status, answer.value, answer.bound, len(answer.moves)) == (Status.INFEASIBLE, 1, 1, 1)
    assert [refusal.rule for refusal in answer.refusals] == ["OwnerlessPod", "OwnerlessPod"]
    assert "because pod 0 has no owner; pod 1 has no owner" in answer.message


def test_a_budget_that_allows_nothing_holds_its_pods() -> None:
    """Its name is told."""
    group = DisruptionGroup("PodDisruptionBudget", "default/pdb", 0, (0, 1))
    answer = answer_to(question(crowd(2, 2), groups=[group]))
    assert (answer.status, answer.value, answer.moves) == (Status.INFEASIBLE, 1, ())
    assert "PodDisruptionBudget default/pdb, which allows no disruption now" in answer.message


def test_a_budget_of_one_makes_waves_of_one() -> None:
    """Groups bind each wave."""
    group = DisruptionGroup("PodDisruptionBudget", "default/pdb", 1, (0, 1, 2, 3))
    answer = answer_to(question(crowd(4, 4), groups=[group]))
    assert sorted(move.wave for move in answer.moves) == [1, 2, 3]


def test_room_is_made_for_a_pod_that_must_leave() -> None:
    """A third pod gives way where only that helps."""
    found = cluster(
        node("n0", cpu="4"), node("n1", cpu="2"), node("n2", cpu="1"),
        pod("a-0", cpu="2", node="n0"), pod("a-1", cpu="2", node="n0"), pod("c-0", cpu="1", node="n1"),
    )  # fmt: skip
    answer = answer_to(question(found))
    assert (answer.status, answer.value, len(answer.moves)) == (Status.OPTIMAL, 0, 2)
    assert {move.reason for move in answer.moves if found.pods[move.pod].name == "c-0"} == {"makes room on n1"}


def test_a_closed_node_receives_nothing() -> None:
    """Nodes that an earlier objective closed have no room."""
    found = crowd(2, 2)
    asked = question(found)
    closed = Placement(asked.prediction.columns)
    close(closed, [1])
    answer = answer_to(PlanRequest(**{**vars(asked), "placement": closed}))
    assert (answer.status, answer.value, answer.moves) == (Status.INFEASIBLE, 1, ())


def test_earlier_moves_have_used_their_part_of_the_limit() -> None:
    """A pod that is not where the snapshot has it counts against the limit of the plan."""
    found = cluster(*(node(f"n{number}") for number in range(3)), *(pod(f"a-{n}", node="n0") for n in range(3)))
    asked = question(found, limits=MoveLimits(1))
    moved = Placement(asked.prediction.columns)
    moved.move(0, 1)
    moved.settle()
    left = with_changes(asked.eligibility, movable=(1, 2))
    answer = plan_separate_antagonists(
        PlanRequest(**{**vars(asked), "placement": moved, "eligibility": left}),
        find_antagonists(asked.prediction.columns, ALONE, NOW),
    )
    assert (answer.value, answer.moves) == (1, ())


def test_a_move_must_gain_more_than_it_costs() -> None:
    """With a dear eviction only those that part several pairs are made."""
    cheap, dear = (answer_to(question(crowd(4, 4), move_cost=cost)) for cost in (0.01, 1.5))
    assert len(cheap.moves) == 3
    assert len(dear.moves) < 3
    assert dear.bound == 0
    assert dear.status is Status.FEASIBLE
    assert not answer_to(question(crowd(4, 4), move_cost=100.0)).moves


class Jealous:
    """A guard that lets nobody go to one node."""

    def __init__(self, node: int, nodes: int) -> None:
        self.cost = 0.0
        self._node = node
        self._nodes = nodes

    def change(self, row: int) -> np.ndarray:
        """Only that node costs."""
        return np.where(np.arange(self._nodes) == self._node, 1.0, 0.0)

    def promising(self) -> np.ndarray:
        """Nobody."""
        return np.zeros(0, dtype=np.int64)

    def move(self, row: int, node: int) -> None:
        """Counts those that come and go."""
        self.cost += (node == self._node) - (self.cost > 0 and node != self._node)


def test_a_guard_is_not_made_worse() -> None:
    """The other node is taken, and where there is none the pair stays."""
    answer = answer_to(question(crowd(2, 3), guards=(Jealous(1, 3),)))
    assert [move.to_node for move in answer.moves] == [2]
    assert answer_to(question(crowd(2, 2), guards=(Jealous(1, 2),))).value == 1


def test_without_guidance_only_what_the_scheduler_does_by_itself_is_proposed() -> None:
    """A pod that would come back is left; one that the scheduler sends elsewhere goes."""
    fullest = crowd(3, 2)
    answer = answer_to(question(fullest, is_guided_by_holds=False))
    assert [move.to_node for move in answer.moves] == [1]
    assert not any(move.needs_guidance for move in answer.moves)
    busy = cluster(
        node("n0", cpu="64"), node("n1", cpu="64"), *(pod(f"c-{n}", cpu="30", node="n1") for n in range(2)),
        *(pod(f"a-{n}", node="n0") for n in range(2)),
    )  # fmt: skip
    answer = answer_to(question(busy, is_guided_by_holds=False))
    assert (answer.value, answer.bound, answer.moves) == (1, 0, ())


def test_an_unreadable_end_is_told_in_the_message() -> None:
    """The mark goes on."""
    found = crowd(2, 2, labels={ANTAGONISTS_LABEL: "x"}, annotations={UNTIL: "soon"})
    answer = answer_to(question(found), arguments())
    assert answer.value == 0
    assert f"annotation {UNTIL}: found 'soon'" in answer.message


def test_pods_placed_by_an_earlier_objective_count() -> None:
    """A pending pod that got its place is an antagonist there, and stays."""
    found = cluster(node("n0"), node("n1"), pod("a-0", node="n0"), pod("a-1"))
    asked = question(found)
    placed = Placement(asked.prediction.columns)
    placed.assume(1, 0)
    antagonists = find_antagonists(asked.prediction.columns, ALONE, NOW)
    answer = plan_separate_antagonists(PlanRequest(**{**vars(asked), "placement": placed}), antagonists)
    assert (answer.value, [move.pod for move in answer.moves]) == (0, [0])


def renamed(found: Cluster, order: list[int]) -> Cluster:
    """The same cluster with nodes and pods under other names, so in another order."""
    names = {item.name: f"x{order[number % len(order)]}{number}" for number, item in enumerate(found.nodes)}
    nodes = [node(names[item.name], cpu=str(dict(item.allocatable)["cpu"] // 1000)) for item in found.nodes]
    pods = [
        with_changes(item, name=f"{order[-1 - number % len(order)]}{item.name}", node_name=names[str(item.node_name)])
        for number, item in enumerate(found.pods)
    ]
    return cluster(*nodes, *pods)


@settings(max_examples=20, deadline=None)
@given(clusters(5, 8), st.permutations(range(5)))
def test_other_names_change_neither_value_nor_number_of_evictions(found: Cluster, order: list[int]) -> None:
    """Order and names of nodes and pods do not matter."""
    one, other = answer_to(question(found), SETS), answer_to(question(renamed(found, order)), SETS)
    assert (one.value, len(one.moves), one.bound) == (other.value, len(other.moves), other.bound)


@settings(max_examples=15, deadline=None)
@given(clusters(5, 9))
def test_more_evictions_are_never_worse_and_plans_repeat(found: Cluster) -> None:
    """Value and bound fall with the limit; the same question has the same answer."""
    answers = [answer_to(question(found, limits=MoveLimits(most)), SETS) for most in (0, 1, 2, 3, None)]
    values = [answer.value for answer in answers]
    assert values == sorted(values, reverse=True)
    assert answer_to(question(found), SETS) == answers[-1]
    state = SeparationState(
        problem_of(question(found)), find_antagonists(question(found).prediction.columns, SETS, NOW)
    )
    assert answers[0].value == state.cost
