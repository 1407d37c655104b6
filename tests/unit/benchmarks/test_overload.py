"""The benchmark of spreading load: its rows, its judge, and what it is compared with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.instances import Family
from benchmarks.overload.__main__ import _faults, _rows_of, observed_use, percentile_of_use
from benchmarks.overload.baseline import relieved_by_smallest_pods
from rescheduler.planning.problem.plan_request import ObjectivePlan
from tests.builders import cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.planning.asked import plan_spread_load
from tests.unit.planning.objectives.spread_load.questions import question_of, use_of


def test_a_row_tells_what_was_reached_and_that_it_was_judged() -> None:
    """The small family is relieved whole, with fewer than 50 evictions."""
    first, _ = _rows_of(Family("S", 0, 0.70, 1), 5.0, FakeClock())
    assert (first["judge"], first["E"], first["ours"]) == ("passed", 50, 0.0)
    assert 0 < first["moves"] < 50
    assert first["start"] > first["LowNodeUtil."] >= 0


def test_use_follows_the_seed_and_has_the_mean_of_requests() -> None:
    """Another seed is another load."""
    question = question_of(cluster(node("n1", cpu="64"), *(pod(f"p{n}", "100m", node="n1") for n in range(400))))
    first, second = (observed_use(question.prediction.columns.cluster, question.prediction, seed) for seed in (1, 2))  # type: ignore[arg-type]
    assert first.of_pods.mean() == pytest.approx(100, rel=0.1)
    assert not (first.of_pods == second.of_pods).any()
    assert percentile_of_use(question.prediction.columns.cluster, first) == pytest.approx(40 / 64, rel=0.1)


def test_the_usual_choice_takes_the_smallest_pods_first() -> None:
    """To the coolest node, until the node is below its target."""
    names = cluster(node("n1"), node("n2"), node("n3"), *(pod(n, node="n1") for n in "abc"), pod("d", node="n2"))
    question = question_of(names)
    moves = relieved_by_smallest_pods(question, use_of(question, {"a": 1.5, "b": 0.3, "c": 0.4, "d": 0.5}), 0.5)
    assert moves == {1: 2}


def test_the_judge_faults_a_plan_that_is_not_allowed() -> None:
    """More evictions than the limit, and a node without room."""
    question = question_of(
        cluster(node("n1", zone="a"), node("n2", cpu="1", zone="a"), pod("a", "2", node="n1"), pod("b", "1", node="n1"))
    )
    answer = plan_spread_load(question, use_of(question, {"a": 2, "b": 0.4}), {"cpu": 0.5})
    names = question.prediction.columns.cluster
    assert _faults(names, question.eligibility, answer) == []
    wrong: ObjectivePlan = replace(answer, moves=tuple(replace(move, pod=0, to_node=1) for move in answer.moves[:1]))
    assert len(wrong.moves) == 1
    assert any("no room" in fault for fault in _faults(names, question.eligibility, wrong))
