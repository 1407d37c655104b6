"""Spreading load on tiny clusters against trying everything."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from rescheduler.planning.objectives.spread_load.objective import plan_spread_load
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.waves.replay import replay
from tests.unit.planning.objectives.spread_load.tiny_loads import TinyLoad, least_overload, question_and_use, tiny_loads


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
@given(tiny_loads())
def test_the_value_is_the_least_that_any_plan_reaches(load: TinyLoad) -> None:
    """And the bound is never above it; OPTIMAL is claimed only where both meet."""
    _, answer = answer_of(load)
    best = least_overload(load)
    assert answer.value == pytest.approx(best, abs=2e-5)
    assert answer.bound is not None
    assert answer.bound <= best + 2e-5
    if answer.status.value == "OPTIMAL":
        assert answer.bound == pytest.approx(answer.value)


@settings(max_examples=40)
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
@given(tiny_loads(most_running=5))
def test_more_evictions_never_leave_more_overload(load: TinyLoad) -> None:
    """From none to as many as there are pods."""
    values = [
        round(answer_of(replace(load, cluster=replace(load.cluster, max_evictions=limit)))[1].value, 9)
        for limit in (0, 1, 2, 5)
    ]
    assert values == sorted(values, reverse=True)


@settings(max_examples=40)
@given(tiny_loads(most_running=6))
def test_turning_the_nodes_round_changes_no_value(load: TinyLoad) -> None:
    """Names and order of nodes mean nothing."""
    last = len(load.cluster.nodes) - 1
    pods = tuple(replace(pod, node=last - pod.node) for pod in load.cluster.pods if pod.node is not None)
    turned = replace(load, cluster=replace(load.cluster, nodes=load.cluster.nodes[::-1], pods=pods))
    assert answer_of(load)[1].value == pytest.approx(answer_of(turned)[1].value, abs=2e-5)
