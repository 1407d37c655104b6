"""Packing up to a target of cpu load."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rescheduler.model.objects.pod import INIT
from rescheduler.model.objects.resources import CPU
from rescheduler.model.usage.usage import Departure
from rescheduler.scheduling.scores.target_load_packing import (
    TargetLoadPacking,
    TargetLoadPackingArguments,
    general_form,
    simple_form,
)
from tests.builders import NOW, cluster, node, pod
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.plain_loads import PlainLoads, predicted, rounded
from tests.unit.scheduling.scores.random_usage import Measured, measured

RANDOM = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
IDLE = (usages.container(limit=0),)
"""Containers that are predicted to use nothing."""


def arguments(**fields: object) -> TargetLoadPackingArguments:
    """Arguments as a file writes them."""
    return TargetLoadPackingArguments.model_validate(fields)


@pytest.mark.parametrize("form", ["General", "Simple"])
def test_the_worked_example_of_the_trimaran_design(form: str) -> None:
    """Nodes of 4 cores that use 1, 2 and 3 of them score 75, 100 and 25 for a pod of no cores at target 50."""
    world = cluster(*(node(name, cpu="4") for name in "xyz"), pod("new", containers=IDLE))
    found = usages.usage(world, {"x": 25.0, "y": 50.0, "z": 75.0})
    plugin = TargetLoadPacking(found, arguments(targetUtilization=50, form=form))
    assert usages.scores(plugin, usages.placement(world), "new") == {"x": 75, "y": 100, "z": 25}


@given(percent=st.floats(0, 130), target=st.integers(1, 100))
def test_the_form_is_rising_up_to_the_target_and_falling_from_it(percent: float, target: int) -> None:
    """Scores lie within 0 to 100, are 100 at the target alone at best, and 0 above capacity."""
    score = int(general_form(np.array([percent]), target)[0])
    assert 0 <= score <= 100
    if percent > 100:
        assert score == 0
    elif percent <= target:
        assert score == rounded((100 - target) * percent / target + target)
    else:
        assert score <= target


@given(tenths=st.integers(0, 1300))
def test_both_forms_agree_at_fifty(tenths: int) -> None:
    """The design's form is the general one with a target of 50."""
    values = np.array([tenths / 10])
    assert simple_form(values).tolist() == general_form(values, 50).tolist()


def plain_scores(world: Measured, number: int, target: float, *, is_upstream: bool) -> list[int]:
    """Node by node."""
    loads = PlainLoads(world, number, (CPU,), is_upstream=is_upstream)
    added = predicted(loads.cluster.pods[number].spec, CPU)
    found = []
    for place in range(len(loads.cluster.nodes)):
        load = loads.of(place, CPU)
        percent = 100 * (load.amount + added) / load.base if load.base else 0.0
        if not load.is_known or percent > 100:
            found.append(0)
        elif percent <= target:
            found.append(rounded((100 - target) * percent / target + target))
        else:
            found.append(rounded(target * (100 - percent) / (100 - target)))
    return found


@RANDOM
@given(world=measured(), target=st.sampled_from((1, 40, 50, 100)), is_upstream=st.booleans())
def test_scores_equal_the_plain_ones(world: Measured, target: int, is_upstream: bool) -> None:
    """On random clusters with any measure, half-way through moves too; but for the last digit of a half."""
    plugin = TargetLoadPacking(world.usage, arguments(targetUtilization=target, upstreamCompatible=is_upstream))
    before = world.placement.node_of.copy()
    for number in range(world.placement.columns.pod_count):
        found = plugin.score(number, world.placement, usages.everywhere(world.placement)).tolist()
        assert found == plain_scores(world, number, target, is_upstream=is_upstream)
        assert usages.told_scores(plugin, world.placement, number) == found
    assert (world.placement.node_of == before).all()


def score_of(found: object, world: object, **fields: object) -> int:
    """Score of node n for pod new at target 50."""
    plugin = TargetLoadPacking(found, arguments(targetUtilization=50, **fields))  # type: ignore[arg-type]
    return usages.scores(plugin, usages.placement(world), "new")["n"]  # type: ignore[arg-type]


def test_a_pod_that_metrics_cannot_show_yet_counts_by_prediction() -> None:
    """Bound 59 s before the window's end it is added, 61 s before it is not."""
    for bound, score in ((NOW - 59, 75), (NOW - 61, 50)):
        recent = pod("recent", node="n", scheduled_at=bound, containers=(usages.container(limit=1000),))
        world = cluster(node("n", cpu="4"), pod("new", containers=IDLE), recent)
        assert score_of(usages.usage(world, {"n": 0.0}), world) == score


def test_a_pod_just_evicted_is_taken_off_unless_the_scheduler_itself_is_followed() -> None:
    """A measured load of 2 cores is 1 without the pod of one core that left a moment ago."""
    world = cluster(node("n", cpu="4"), pod("new", containers=IDLE))
    gone = Departure("n", NOW - 10, pod("gone", containers=(usages.container(limit=1000),)).spec)
    found = usages.usage(world, {"n": 50.0}, departures=(gone,))
    assert score_of(found, world) == 75
    assert score_of(found, world, upstreamCompatible=True) == 100


def test_a_running_pod_does_not_count_twice_on_its_own_node() -> None:
    """Staying costs what is measured: the pod's use is taken off before its prediction is added."""
    old = pod("new", node="n", containers=(usages.container(limit=1000),))
    world = cluster(node("n", cpu="4"), old)
    assert score_of(usages.usage(world, {"n": 50.0}), world) == 100
    own = usages.usage(world, {"n": 50.0}, pod_use={CPU: np.array([200.0])})
    assert score_of(own, world) == 30  # 2 cores less 0.2 measured, and 1 predicted: 70 percent


def test_a_stale_node_among_fresh_ones_scores_nothing() -> None:
    """Metrics older than five minutes say nothing, and a node without any neither."""
    world = cluster(*(node(name, cpu="4") for name in "abcd"), pod("new", containers=IDLE))
    found = usages.usage(world, {"a": 50.0, "b": 50.0, "c": 50.0}, age={"c": 301.0})
    place = usages.placement(world)
    plugin = TargetLoadPacking(found, arguments(targetUtilization=50))
    assert usages.scores(plugin, place, "new") == {"a": 100, "b": 100, "c": 0, "d": 0}
    assert usages.told(plugin, place, "new")[2] == "no cpu load is known of the node: 0"


def test_requests_stand_in_when_the_provider_has_failed() -> None:
    """With more than half of the nodes stale all go by requests, and the explanation says so."""
    world = cluster(
        *(node(name, cpu="4") for name in "abc"), pod("new", containers=IDLE), pod("old", node="a", cpu="2")
    )
    found = usages.usage(world, {"a": 10.0, "b": 10.0, "c": 10.0}, age={"a": 400.0, "b": 400.0})
    place = usages.placement(world)
    plugin = TargetLoadPacking(found, arguments(targetUtilization=50))
    assert usages.scores(plugin, place, "new") == {"a": 100, "b": 50, "c": 50}
    assert "2000m cpu requested" in usages.told(plugin, place, "new")[0]


def test_a_new_node_without_metrics_is_idle_but_for_its_pods() -> None:
    """Younger than the window with recent pods only: their prediction is its load."""
    fresh = node("n", cpu="4")
    young = type(fresh)(**{**{key: getattr(fresh, key) for key in fresh.__struct_fields__}, "created_at": NOW - 30})
    recent = pod("recent", node="n", scheduled_at=NOW - 5, containers=(usages.container(limit=2000),))
    world = cluster(young, node("m"), pod("new", containers=IDLE), recent)
    assert score_of(usages.usage(world, {"m": 50.0}), world) == 100


def test_predictions_look_at_running_containers_alone() -> None:
    """A limit, else one and a half times the request, else a constant for each; init containers are no load."""
    made = (
        usages.container(request=100, limit=500), usages.container(request=333), usages.container(),
        usages.container(limit=4000, kind=INIT),
    )  # fmt: skip
    predictor = arguments().predictor
    assert predictor.of_containers(made) == 500 + 500 + 1000
    assert arguments(useLimits=False, defaultRequests={"cpu": "1m"}).predictor.of_containers(made) == 150 + 500 + 1


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"targetUtilization": 0}, "greater than or equal to 1"),
        ({"targetUtilization": 101}, "less than or equal to 100"),
        ({"targetUtilization": "40"}, "valid number"),
        ({"targetUtilization": True}, "valid number"),
        ({"targetUtilization": float("nan")}, "finite number|less than or equal"),
        ({"targetUtilization": 60, "form": "Simple"}, "targetUtilization 50, found 60"),
        ({"defaultRequestsMultiplier": "nan"}, "'nan' is no factor"),
        ({"defaultRequestsMultiplier": 0}, "greater than 0"),
        ({"defaultRequests": {"cpu": "-1"}}, "'-1' is negative"),
        ({"defaultRequests": {"memory": "1Gi"}}, "Extra inputs"),
        ({"useLimits": "true"}, "valid boolean"),
        ({"targetUtilisation": 40}, "Extra inputs"),
    ],
)
def test_wrong_arguments_are_refused(fields: dict[str, object], found: str) -> None:
    """Each with what was wrong."""
    with pytest.raises(ValidationError, match=found):
        arguments(**fields)


def test_the_upstream_spelling_is_read() -> None:
    """The multiplier may be a text, as the scheduler's own configuration writes it."""
    assert arguments(targetUtilization=70, defaultRequestsMultiplier="1.8").predictor.multiplier == 1.8


def test_a_usage_of_other_nodes_is_refused() -> None:
    """Arrays that cover another number of nodes are a mistake, not a measure."""
    world, other = cluster(node("a"), pod("new")), cluster(node("a"), node("b"))
    plugin = TargetLoadPacking(usages.usage(other, {"a": 1.0}))
    with pytest.raises(ValueError, match="usage covers 2 nodes, the cluster has 1"):
        plugin.score(0, usages.placement(world), np.array([True]))
