"""Spreading load on tiny clusters against trying everything."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given, settings

from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.waves.replay import replay
from tests.unit.planning.asked import plan_spread_load
from tests.unit.planning.brute_force import TinyCluster, TinyNode, TinyPod
from tests.unit.planning.objectives.spread_load.tiny_loads import TinyLoad, least_overload, question_and_use, tiny_loads

SAME = 2e-5
# The best plans have pods change places: for each alone its destination would be above the target.
TWO_CHANGE_PLACES = TinyLoad(
    TinyCluster(
        (TinyNode(2, "a"), TinyNode(5, "a"), TinyNode(4, "a")),
        (TinyPod(2, "p", 2), TinyPod(1, "r", 0), TinyPod(3, "q", 1, is_movable=False, keeps_apart=True)),
    ),
    uses=(16, 17, 21),
    target=5,
)
OF_FOUR = TinyLoad(
    TinyCluster(
        (TinyNode(5, "a"), TinyNode(3, "b"), TinyNode(5, "b", is_tainted=True)),
        (
            TinyPod(2, "q", 0, tolerates=True),
            TinyPod(3, "p", 2, tolerates=True),
            TinyPod(1, "p", 2, tolerates=True),
            TinyPod(2, "p", 0, tolerates=True),
        ),
    ),
    uses=(21, 32, 12, 13),
    target=5,
)
# Cheapest was a plan of which one move had been undone: n2 kept its pod beside the one that had come in its place.
ONE_UNDONE = TinyLoad(
    TinyCluster(
        (TinyNode(2, "a"), TinyNode(5, "a"), TinyNode(3, "a")),
        tuple(TinyPod(1, "p", node) for node in (0, 0, 2, 1, 1)),
    ),
    uses=(10, 10, 10, 10, 11),
    target=4,
)
# Who must spread over zones has to go where another pod must leave first, and that one to where they were.
OVER_ZONES = TinyLoad(
    TinyCluster(
        (TinyNode(2, "a"), TinyNode(3, "b"), TinyNode(3, "a")),
        (TinyPod(1, "p", 0, spreads=True), TinyPod(2, "q", 1), TinyPod(1, "p", 0, spreads=True)),
    ),
    uses=(10, 20, 10),
    target=4,
)
# The smaller of two pods that keep apart leaves too little room behind for the one that has to come.
THE_LARGER_ONE = TinyLoad(
    TinyCluster(
        (TinyNode(4, "b"), TinyNode(4, "a"), TinyNode(4, "b")),
        (
            TinyPod(1, "r", 1, keeps_apart=True),
            TinyPod(3, "r", 1, keeps_apart=True),
            TinyPod(2, "p", 0, spreads=True),
            TinyPod(2, "p", 0, spreads=True),
        ),
    ),
    uses=(10, 30, 20, 20),
    target=8,
)


def answer_of(load: TinyLoad, *, is_guided_by_holds: bool = True) -> tuple[PlanRequest, ObjectivePlan]:
    """The plan for a tiny cluster."""
    question, observed = question_and_use(load, is_guided_by_holds=is_guided_by_holds)
    return question, plan_spread_load(question, observed, {"cpu": load.target / 10})


def schedule_of(answer: ObjectivePlan) -> WaveSchedule:
    """The moves in their waves."""
    count = max((move.wave for move in answer.moves), default=0)
    return WaveSchedule(
        tuple(
            tuple((move.pod, move.to_node) for move in answer.moves if move.wave == wave)
            for wave in range(1, count + 1)
        )
    )


@settings(max_examples=40)
@example(TWO_CHANGE_PLACES)
@example(OF_FOUR)
@example(ONE_UNDONE)
@example(OVER_ZONES)
@example(THE_LARGER_ONE)
@given(tiny_loads())
def test_the_value_is_the_least_that_any_plan_reaches(load: TinyLoad) -> None:
    """And the bound is never above it; OPTIMAL is claimed only where both meet."""
    _, answer = answer_of(load)
    best = least_overload(load)
    assert answer.value == pytest.approx(best, abs=SAME)
    assert answer.bound is not None
    assert answer.bound <= best + SAME
    if answer.status.value == "OPTIMAL":
        assert answer.bound == pytest.approx(answer.value)


@settings(max_examples=40)
@example(TWO_CHANGE_PLACES)
@example(OF_FOUR)
@example(ONE_UNDONE)
@given(tiny_loads(most_running=8))
def test_every_plan_passes_all_filters_in_every_wave(load: TinyLoad) -> None:
    """With holds and without; no node ends above its target that began below it."""
    for is_guided in (True, False):
        question, answer = answer_of(load, is_guided_by_holds=is_guided)
        assert replay(problem_of(question), schedule_of(answer)) == []
        nodes = list(question.placement.node_of)
        for move in answer.moves:
            nodes[move.pod] = move.to_node
        order = [
            next(
                index
                for index, pod in enumerate(question.prediction.columns.cluster.pods)
                if pod.name.endswith(f"-{n:02d}")
            )
            for n in range(len(load.cluster.pods))
        ]
        ended = load.over(tuple(int(nodes[index]) for index in order))
        began = load.over(tuple(pod.node for pod in load.cluster.pods))
        assert all(now <= before for now, before in zip(ended, began, strict=True))


@settings(max_examples=40)
@example(TWO_CHANGE_PLACES)
@example(OF_FOUR)
@example(ONE_UNDONE)
@given(tiny_loads(most_running=5))
def test_more_evictions_never_leave_more_overload(load: TinyLoad) -> None:
    """From none to as many as there are pods."""
    values = [
        answer_of(replace(load, cluster=replace(load.cluster, max_evictions=limit)))[1].value for limit in (0, 1, 2, 5)
    ]
    assert all(more <= fewer + SAME for fewer, more in pairwise(values)), values


@settings(max_examples=40)
@example(OVER_ZONES)
@example(THE_LARGER_ONE)
@given(tiny_loads(most_running=6))
def test_turning_the_nodes_round_changes_no_value(load: TinyLoad) -> None:
    """Names and order of nodes mean nothing."""
    last = len(load.cluster.nodes) - 1
    pods = tuple(replace(pod, node=last - pod.node) for pod in load.cluster.pods if pod.node is not None)
    turned = replace(load, cluster=replace(load.cluster, nodes=load.cluster.nodes[::-1], pods=pods))
    assert answer_of(load)[1].value == pytest.approx(answer_of(turned)[1].value, abs=SAME)
