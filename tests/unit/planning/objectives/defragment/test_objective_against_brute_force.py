"""The planner of Defragment against every order of every move, on tiny clusters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.checker.recounts.fitting_shapes import shapes_that_fit
from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.defragment.wanted_shapes import WeightedShape
from tests.unit.planning.asked import plan_defragment
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.defragment.brute_force import Shapes, best_defragmentation
from tests.unit.planning.objectives.defragment.questions import plan_of, question_for, violations
from tests.unit.planning.tiny import tiny_clusters

SHAPES = st.lists(
    st.tuples(st.integers(1, 5), st.sampled_from((1.0, 1.0, 2.0, 0.5))),
    min_size=1,
    max_size=3,
    unique_by=lambda s: s[0],
).map(tuple)
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def wanted(shapes: Shapes) -> list[WeightedShape]:
    """The same shapes in the product's model."""
    return [((("cpu", cores * 1000),), weight) for cores, weight in shapes]


@SLOW
@given(tiny=tiny_clusters(most_running=6, most_pending=1), shapes=SHAPES)
def test_value_and_evictions_equal_brute_force(tiny: TinyCluster, shapes: Shapes) -> None:
    """The best value any order of moves reaches is found and proven, by the fewest evictions for it."""
    asked = question_for(tiny)
    answer = plan_defragment(asked, wanted(shapes))
    best = best_defragmentation(tiny, shapes)
    assert answer.value == pytest.approx(best.value)
    assert len(answer.moves) == best.evictions
    assert answer.bound is not None
    assert answer.bound >= best.value - 1e-6
    assert violations(asked, answer) == []


@SLOW
@given(tiny=tiny_clusters(most_running=6), shapes=SHAPES)
def test_independent_recount_agrees(tiny: TinyCluster, shapes: Shapes) -> None:
    """What the plan says it reaches is what a count from the plan document finds."""
    asked = question_for(tiny)
    answer = plan_defragment(asked, wanted(shapes))
    cluster = asked.prediction.columns.cluster
    assert shapes_that_fit(cluster, plan_of(asked, answer), wanted(shapes)) == pytest.approx(answer.value)


@SLOW
@given(tiny=tiny_clusters(most_running=6), shapes=SHAPES)
def test_without_guidance_plans_are_allowed_and_never_worse_than_doing_nothing(
    tiny: TinyCluster, shapes: Shapes
) -> None:
    """Predict keeps to the rules too, marks nothing, and claims no more than is possible."""
    asked = question_for(tiny, is_guided_by_holds=False)
    answer = plan_defragment(asked, wanted(shapes))
    idle = best_defragmentation(replace(tiny, max_evictions=0), shapes)
    best = best_defragmentation(tiny, shapes)
    assert idle.value - 1e-6 <= answer.value <= best.value + 1e-6
    assert answer.bound is not None
    assert answer.bound >= answer.value - 1e-6
    assert violations(asked, answer) == []
    assert not any(move.needs_guidance for move in answer.moves)


@SLOW
@given(tiny=tiny_clusters(most_running=6), shapes=SHAPES, more=st.integers(0, 3))
def test_more_evictions_are_never_worse(tiny: TinyCluster, shapes: Shapes, more: int) -> None:
    """A larger limit never lowers the value."""
    few = plan_defragment(question_for(replace(tiny, max_evictions=1)), wanted(shapes))
    many = plan_defragment(question_for(replace(tiny, max_evictions=1 + more)), wanted(shapes))
    assert many.value >= few.value - 1e-6


@SLOW
@given(tiny=tiny_clusters(most_running=5), shapes=SHAPES, data=st.data())
def test_order_of_nodes_and_pods_does_not_matter(tiny: TinyCluster, shapes: Shapes, data: st.DataObject) -> None:
    """Renaming changes neither the value nor the number of evictions."""
    order = data.draw(st.permutations(range(len(tiny.nodes))))
    place = {old: new for new, old in enumerate(order)}
    renamed = replace(
        tiny,
        nodes=tuple(tiny.nodes[old] for old in order),
        pods=tuple(
            replace(pod, node=None if pod.node is None else place[pod.node])
            for pod in data.draw(st.permutations(tiny.pods))
        ),
    )
    first = plan_defragment(question_for(tiny), wanted(shapes))
    second = plan_defragment(question_for(renamed), wanted(shapes))
    assert second.value == pytest.approx(first.value)
    assert len(second.moves) == len(first.moves)
    assert first.status is second.status is Status.OPTIMAL
