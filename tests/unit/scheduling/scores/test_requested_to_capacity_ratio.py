"""Scoring by how full a node would be, extended resources included."""

from __future__ import annotations

from fractions import Fraction
from math import trunc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit
from rescheduler.scheduling.scores.requested_to_capacity_ratio import (
    LegacyRatioArguments,
    RequestedToCapacityRatio,
    RequestedToCapacityRatioArguments,
    ScoringStrategy,
)
from tests.builders import cluster, node, pod
from tests.unit.scheduling.plain_world import world_without
from tests.unit.scheduling.random_clusters import placements
from tests.unit.scheduling.scores import usages

RANDOM = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
FOO = "intel.com/foo"
LINE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
WEIGHTS = [{"name": FOO, "weight": 5}, {"name": "memory", "weight": 1}, {"name": "cpu", "weight": 3}]


def plugin(**fields: object) -> RequestedToCapacityRatio:
    """The plugin with arguments as a file writes them."""
    return RequestedToCapacityRatio(RequestedToCapacityRatioArguments.model_validate(fields))


def example() -> Cluster:
    """The two nodes of KEP-964 with what their pods hold, and the pod that asks for foo 2, memory 256, cpu 2."""
    return cluster(
        node("node1", cpu="8", memory="1024", extended={FOO: "4"}),
        node("node2", cpu="8", memory="1024", extended={FOO: "8"}),
        pod("old-1", cpu="1", memory="256", extended={FOO: "1"}, node="node1"),
        pod("old-2", cpu="6", memory="512", extended={FOO: "2"}, node="node2"),
        pod("new", cpu="2", memory="256", extended={FOO: "2"}),
    )


def test_the_worked_examples_of_kep_964() -> None:
    """60 and 69 of 100 in the scheduler's integers; printed 7, 5, 4 with 6 and 5, 7, 10 with 7 of 10."""
    place = usages.placement(example())
    ratio = plugin(shape=LINE, resources=WEIGHTS)
    assert usages.scores(ratio, place, "new") == {"node1": 60, "node2": 69}
    told = usages.told(ratio, place, "new")
    assert told[0] == (
        "intel.com/foo 1 + 2 of 4 = 75; memory 256 + 256 of 1Ki = 50; cpu 1 + 2 of 8 = 37 "
        "(of 10: 7, 5, 4, together 6); mean weighed 5 : 1 : 3 = 60"
    )
    assert "(of 10: 5, 7, 10, together 7)" in told[1]


def test_a_resource_that_a_node_lacks_leaves_the_mean_or_scores_zero() -> None:
    """40 as the scheduler has it, 18 by KEP-964."""
    world = cluster(
        node("n", cpu="8", memory="1024"),
        pod("old", cpu="1", memory="256", node="n"),
        pod("new", cpu="2", memory="256"),
    )
    for option, score in (("LeaveOut", 40), ("ScoreZero", 18)):
        ratio = plugin(shape=LINE, resources=WEIGHTS, absentResources=option)
        assert usages.scores(ratio, usages.placement(world), "new") == {"n": score}


def test_what_is_left_out_is_told() -> None:
    """A resource without points, and one that the pod does not ask for; under KEP-964 both keep their weight."""
    world = cluster(
        node("n", cpu="8", memory="1024", extended={FOO: "4"}),
        pod("old", cpu="0", memory="256", extended={FOO: "1"}, node="n"),
        pod("new", cpu="4", memory="256"),
    )
    told = {
        option: usages.told(
            plugin(shape=LINE, resources=WEIGHTS, absentResources=option), usages.placement(world), "new"
        )
        for option in ("LeaveOut", "ScoreZero")
    }
    others = "memory 256 + 256 of 1Ki = 50; cpu 100m + 4 of 8 = 51 (of 10: 2, 5, 5, together 3)"
    assert told == {
        "LeaveOut": [f"intel.com/foo 1 + 0 of 4 = 25 (left out); {others}; mean weighed 1 : 3 = 51"],
        "ScoreZero": [f"intel.com/foo 1 + 0 of 4 = 25; {others}; mean weighed 5 : 1 : 3 = 36"],
    }


def plain_score(placement: Placement, number: int, place: int, weights: list[tuple[str, int]]) -> int:
    """KEP-964's mean for one node along a falling shape with a knee."""
    cluster_ = placement.columns.cluster
    world, asking, target = world_without(number, placement), cluster_.pods[number], cluster_.nodes[place]
    total = Fraction(0)
    for name, weight in weights:
        used = dict(asking.spec.scored_requests if name in ("cpu", "memory") else asking.spec.requests).get(name, 0)
        for standing in world.on(target):
            held, requests = standing.held, dict(standing.spec.requests)
            on_home = held is not None and standing.node_name == target.name
            amount = dict(held or ()).get(name, 0) if on_home else requests.get(name, 0)
            if name in ("cpu", "memory"):
                amount += dict(standing.spec.scored_requests).get(name, 0) - requests.get(name, 0)
            used += amount
        offered = dict(target.allocatable).get(name, 0)
        if offered:
            percent = min(100 * used // offered, 100)
            points = 20 + trunc(Fraction(80 * percent, 40)) if percent <= 40 else 100 - (100 * (percent - 40)) // 60
            total += weight * points
    return int(total / sum(weight for _, weight in weights) + Fraction(1, 2))


@RANDOM
@given(placement=placements, weights=st.lists(st.integers(1, 100), min_size=4, max_size=4))
def test_scores_with_zeros_equal_the_plain_ones(placement: Placement, weights: list[int]) -> None:
    """Resources of all kinds, one that nobody has among them, half-way through moves too."""
    shape = [{"utilization": at, "score": score} for at, score in ((0, 2), (40, 10), (100, 0))]
    named = [*zip(("cpu", "memory", "example.com/gpu", "nobody.has/it"), weights, strict=True)]
    ratio = plugin(
        shape=shape, resources=[{"name": name, "weight": weight} for name, weight in named], absentResources="ScoreZero"
    )
    for number in range(placement.columns.pod_count):
        found = ratio.score(number, placement, usages.everywhere(placement)).tolist()
        assert found == [plain_score(placement, number, place, named) for place in range(len(found))]
        assert usages.told_scores(ratio, placement, number) == found


@RANDOM
@given(placement=placements)
def test_left_out_is_what_the_scheduler_does(placement: Placement) -> None:
    """The same as NodeResourcesFit with this strategy."""
    fit = NodeResourcesFit("RequestedToCapacityRatio", ((FOO, 5), ("memory", 1), ("cpu", 3)), ((0, 0), (100, 10)))
    ratio = plugin(shape=LINE, resources=WEIGHTS)
    for number in range(placement.columns.pod_count):
        everywhere = usages.everywhere(placement)
        found = ratio.score(number, placement, everywhere).tolist()
        assert found == fit.score(number, placement, everywhere).tolist()
        assert usages.told_scores(ratio, placement, number) == found


def test_the_legacy_form_is_read_with_its_points_in_any_order() -> None:
    """KEP-964's own sample lists 100 before 0."""
    legacy = LegacyRatioArguments.model_validate(
        {"shape": LINE[::-1], "resources": [{"resource": FOO, "weight": 5}, {"resource": "cpu"}]}
    )
    assert legacy.arguments.points == ((0, 0), (100, 10))
    assert legacy.arguments.weights == ((FOO, 5), ("cpu", 1))
    assert LegacyRatioArguments.model_validate({"shape": LINE}).arguments.weights == (("cpu", 1), ("memory", 1))


def test_the_present_form_is_refused_where_the_scheduler_refuses_it() -> None:
    """Its shape must rise, each resource has one weight, a weight of 0 counts as 1."""
    form = {"type": "RequestedToCapacityRatio", "resources": [{"name": FOO, "weight": 0}]}
    good = ScoringStrategy.model_validate({**form, "requestedToCapacityRatio": {"shape": LINE}})
    assert good.arguments.weights == ((FOO, 1),)
    with pytest.raises(ValidationError, match="0 stands after 100; kube-scheduler wants it strictly increasing"):
        ScoringStrategy.model_validate({**form, "requestedToCapacityRatio": {"shape": LINE[::-1]}})


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"shape": []}, "at least 1 item"),
        ({"shape": [LINE[0], LINE[0]]}, "utilization 0 is given twice"),
        ({"shape": [{"utilization": 101, "score": 1}]}, "less than or equal to 100"),
        ({"shape": [{"utilization": 0, "score": 11}]}, "less than or equal to 10"),
        ({"shape": [{"utilization": 0.5, "score": 1}]}, "valid integer"),
        ({"resources": [{"name": FOO, "weight": -1}]}, "greater than or equal to 1"),
        ({"resources": [{"name": FOO, "weight": 101}]}, "less than or equal to 100"),
        ({"resources": [{"name": FOO}, {"name": FOO, "weight": 2}]}, "'intel.com/foo' is given twice"),
        ({"resources": [{"name": FOO, "weight": False}]}, "valid integer"),
        ({"absentResources": "Zero"}, "LeaveOut"),
    ],
)
def test_wrong_arguments_are_refused(fields: dict[str, object], found: str) -> None:
    """Each with what was wrong."""
    with pytest.raises(ValidationError, match=found):
        RequestedToCapacityRatioArguments.model_validate(fields)
