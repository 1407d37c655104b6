"""Risk from limits and from load."""

from __future__ import annotations

from math import isfinite, sqrt

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import beta as beta_law

from rescheduler.model.objects.pod import ContainerResources
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.scheduling.scores.low_risk_over_commitment import LowRiskOverCommitment, LowRiskOverCommitmentArguments
from tests.builders import cluster, node, pod
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.plain_demand import plain_demand
from tests.unit.scheduling.scores.plain_loads import MEASURED, PlainLoad, PlainLoads, amount_of
from tests.unit.scheduling.scores.random_usage import Measured, measured

RANDOM = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def arguments(**fields: object) -> LowRiskOverCommitmentArguments:
    """Arguments as a file writes them."""
    return LowRiskOverCommitmentArguments.model_validate(fields)


def plain_risk(load: PlainLoad, totals: tuple[int, int, int, int], capacity: int, window: int, weight: float) -> float:
    """Risk of one resource of one node; totals are requests and limits without the pod, and of the pod."""
    placed_request, placed_limit, request, limit = totals
    all_requests, all_limits = min(capacity, placed_request + request), placed_limit + limit
    by_limit = (all_limits - capacity) / (all_limits - all_requests) if all_limits > capacity else 0.0
    by_load = 0.0
    if load.is_known:
        mean = load.share() if capacity > 0 else 0.0
        deviation = min(load.deviation_share() * sqrt(window), sqrt(0.99 * mean * (1 - mean)))
        below = plain_below(mean, deviation, min(capacity, placed_request) / capacity if capacity else 0.0)
        if placed_limit < capacity and min(capacity, placed_request) <= placed_limit:
            bound = plain_below(mean, deviation, placed_limit / capacity)
            if placed_limit == 0:
                below = 1.0
            elif mean > 0 and deviation > 0 and bound > 0:
                below = min(below / bound, 1.0)
        by_load = 1 - below
    return min(max(weight * by_limit + (1 - weight) * by_load, 0.0), 1.0)


def plain_below(mean: float, deviation: float, threshold: float) -> float:
    """Probability that load is at most the threshold."""
    if mean == 0:
        return 1.0
    if deviation**2 == 0:
        return float(mean <= threshold)
    spread = mean * (1 - mean) / deviation**2 - 1
    found = float(beta_law.cdf(threshold, mean * spread, (1 - mean) * spread))
    return found if isfinite(found) else 0.0


def plain_points(world: Measured, number: int, window: int, weight: float) -> list[float]:
    """Scores before rounding, node by node."""
    loads = PlainLoads(world, number)
    cluster_ = loads.cluster
    asked = plain_demand(cluster_.pods[number].spec)
    if not any((*asked[0], *asked[1])):
        return [0.0 for _ in cluster_.nodes]
    found = []
    for place, target in enumerate(cluster_.nodes):
        risks = []
        for row, resource in enumerate(MEASURED):
            placed = [0, 0]
            for other, standing in enumerate(cluster_.pods):
                places = {int(world.placement.node_of[other]), int(world.placement.leaving[other])}
                if other != number and place in places:
                    demand = plain_demand(standing.spec)
                    placed[0] += demand[0][row]
                    placed[1] += demand[1][row]
            load = loads.of(place, resource)
            if loads.is_by_requests:
                load = load._replace(is_known=False)
            totals = (placed[0], placed[1], asked[0][row], asked[1][row])
            risks.append(plain_risk(load, totals, amount_of(target.allocatable, resource), window, weight))
        found.append((1 - max(risks)) * 100)
    return found


@RANDOM
@given(world=measured(), window=st.sampled_from((1, 5)), weight=st.sampled_from((0.0, 0.3, 0.5, 1.0)))
def test_scores_equal_the_plain_ones(world: Measured, window: int, weight: float) -> None:
    """On random clusters with any measure, half-way through moves too, but for the last digit before rounding."""
    plugin = LowRiskOverCommitment(world.usage, arguments(smoothingWindowSize=window, riskLimitWeight=weight))
    for number in range(world.placement.columns.pod_count):
        found = plugin.score(number, world.placement, usages.everywhere(world.placement)).tolist()
        wanted = plain_points(world, number, window, weight)
        for score, points in zip(found, wanted, strict=True):
            assert abs(score - points) <= 0.5 + 1e-6
        assert usages.told_scores(plugin, world.placement, number) == found


def limited(name: str, request: int, limit: int, home: str | None = None) -> object:
    """A pod that asks for cpu alone."""
    made = ContainerResources(((CPU, request),), ((CPU, limit),))
    return pod(name, cpu=f"{request}m", memory="0", node=home, containers=(made,))


def test_limits_beyond_the_node_are_a_risk() -> None:
    """Requests of 2 and limits of 5 on 4 cores: a third of what limits allow beyond requests is not there."""
    world = cluster(node("n", cpu="4"), limited("new", 1000, 2500), limited("old", 1000, 2500, "n"))  # type: ignore[arg-type]
    found, place = usages.usage(world, {"n": 0.0}), usages.placement(world)
    assert usages.scores(LowRiskOverCommitment(found, arguments(riskLimitWeight=1)), place, "new") == {"n": 67}
    assert usages.scores(LowRiskOverCommitment(found, arguments(riskLimitWeight=0)), place, "new") == {"n": 100}


def test_a_pod_that_runs_on_the_node_is_taken_out_of_its_totals() -> None:
    """It scores its own node as an empty one."""
    world = cluster(node("a", cpu="4"), node("b", cpu="4"), limited("new", 1000, 6000, "a"))  # type: ignore[arg-type]
    found = usages.usage(world, {"a": 0.0, "b": 0.0})
    scores = usages.scores(LowRiskOverCommitment(found), usages.placement(world), "new")
    assert scores["a"] == scores["b"] < 100


def test_a_node_without_metrics_is_judged_by_its_limits() -> None:
    """With half the weight; the scheduler's own plugin gives it nothing."""
    objects = [node("a", cpu="4"), node("b", cpu="4"), node("c", cpu="4"), limited("new", 1000, 7000)]
    world = cluster(*objects)  # type: ignore[arg-type]
    found, place = usages.usage(world, {"a": 10.0, "b": 10.0}), usages.placement(world)
    plugin = LowRiskOverCommitment(found)
    assert usages.scores(plugin, place, "new")["c"] == 75
    assert "load unknown" in usages.told(plugin, place, "new")[2]
    upstream = LowRiskOverCommitment(found, arguments(upstreamCompatible=True))
    assert usages.scores(upstream, place, "new")["c"] == 0


def test_requests_are_no_measure_of_load() -> None:
    """Where the provider has failed limits alone count, on every node."""
    old = limited("old", 1000, 7000, "n")
    world = cluster(node("n", cpu="4"), limited("new", 1000, 1000), old)  # type: ignore[arg-type]
    plugin, place = LowRiskOverCommitment(usages.usage(world, {"n": 90.0}, age=400.0)), usages.placement(world)
    assert usages.scores(plugin, place, "new") == {"n": 67}
    assert usages.told(plugin, place, "new")[0].count("load unknown") == 2


def test_a_pod_that_asks_for_nothing_scores_nothing_anywhere() -> None:
    """The plugin abstains."""
    world = cluster(node("n"), pod("new", cpu="0", memory="0", containers=(ContainerResources(),)))
    plugin, place = LowRiskOverCommitment(usages.usage(world, {"n": 10.0})), usages.placement(world)
    assert usages.scores(plugin, place, "new") == {"n": 0}
    assert "neither requests nor limits" in usages.told(plugin, place, 0)[0]


def test_weights_by_number_and_by_resource() -> None:
    """Both forms are read; together they are refused, and so is a weight that is no share."""
    assert arguments(riskLimitWeight=0.3).weights == {CPU: 0.3, MEMORY: 0.3}
    assert arguments(riskLimitWeights={"cpu": 0.2}).weights == {CPU: 0.2, MEMORY: 0.5}
    assert arguments().weights == {CPU: 0.5, MEMORY: 0.5}
    with pytest.raises(ValidationError, match="twice"):
        arguments(riskLimitWeight=0.3, riskLimitWeights={"cpu": 0.2})
    for wrong in ({"riskLimitWeight": 1.5}, {"riskLimitWeights": {"disk": 0.5}}, {"smoothingWindowSize": 0}):
        with pytest.raises(ValidationError):
            arguments(**wrong)
