"""Low and steady load scores high."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rescheduler.scheduling.scores.load_variation_risk_balancing import (
    LoadVariationRiskBalancing,
    LoadVariationRiskBalancingArguments,
)
from tests.builders import NOW, cluster, node, pod
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.plain_demand import plain_demand
from tests.unit.scheduling.scores.plain_loads import MEASURED, PlainLoads, amount_of, rounded
from tests.unit.scheduling.scores.random_usage import Measured, measured

RANDOM = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def arguments(**fields: object) -> LoadVariationRiskBalancingArguments:
    """Arguments as a file writes them."""
    return LoadVariationRiskBalancingArguments.model_validate(fields)


def test_the_nodes_of_the_trimaran_design_under_this_formula() -> None:
    """The same order as SafeBalancing has, with other gaps: 44, 54 and 71."""
    loads = {"n1": (0.8, 3.2, 1.6, 4.8), "n2": (2.0, 0.04, 6.4, 0.004), "n3": (1.2, 0.4, 3.2, 0.4)}
    world = cluster(*(node(name, cpu="4", memory="8G") for name in loads), pod("new", cpu="500m", memory="1G"))
    cpu = {name: (mean / 4 * 100, deviation / 4 * 100) for name, (mean, deviation, _, _) in loads.items()}
    memory = {name: (mean / 8 * 100, deviation / 8 * 100) for name, (_, _, mean, deviation) in loads.items()}
    plugin = LoadVariationRiskBalancing(usages.usage(world, cpu, memory))
    assert usages.scores(plugin, usages.placement(world), "new") == {"n1": 44, "n2": 54, "n3": 71}


def plain_scores(world: Measured, number: int, margin: float, sensitivity: float, *, is_upstream: bool) -> list[int]:
    """Node by node."""
    loads = PlainLoads(world, number, is_upstream=is_upstream, counts_recent=not is_upstream)
    requests, _ = plain_demand(loads.cluster.pods[number].spec)
    found = []
    for place, target in enumerate(loads.cluster.nodes):
        points = []
        for row, resource in enumerate(MEASURED):
            load, offered = loads.of(place, resource), amount_of(target.allocatable, resource)
            if not load.is_known:
                continue
            if offered == 0:
                points.append(0.0)
                continue
            mean = min(1.0, (load.share() * offered + requests[row]) / offered)
            deviation = load.deviation_share()
            deviation = (deviation ** (1 / sensitivity)) if sensitivity else float(deviation == 1)
            points.append((1 - (mean + min(1.0, deviation * margin)) / 2) * 100)
        found.append(rounded(min(points)) if points else 0)
    return found


@RANDOM
@given(
    world=measured(),
    margin=st.sampled_from((0.0, 1.0, 3.0)),
    sensitivity=st.sampled_from((0.0, 1.0, 2.0)),
    is_upstream=st.booleans(),
)
def test_scores_equal_the_plain_ones(world: Measured, margin: float, sensitivity: float, is_upstream: bool) -> None:
    """On random clusters with any measure, half-way through moves too; a sum in another order may lose a last digit."""
    plugin = LoadVariationRiskBalancing(
        world.usage,
        arguments(safeVarianceMargin=margin, safeVarianceSensitivity=sensitivity, upstreamCompatible=is_upstream),
    )
    for number in range(world.placement.columns.pod_count):
        found = plugin.score(number, world.placement, usages.everywhere(world.placement)).tolist()
        assert found == plain_scores(world, number, margin, sensitivity, is_upstream=is_upstream)
        assert usages.told_scores(plugin, world.placement, number) == found


def test_a_recently_bound_pod_counts_unless_the_scheduler_itself_is_followed() -> None:
    """Two predicted cores of four make a quarter of risk."""
    recent = pod("recent", node="n", scheduled_at=NOW - 5, containers=(usages.container(limit=2000),))
    world = cluster(node("n", cpu="4"), pod("new", cpu="0", memory="0"), recent)
    found, place = usages.usage(world, {"n": 0.0}), usages.placement(world)
    assert usages.scores(LoadVariationRiskBalancing(found), place, "new") == {"n": 75}
    upstream = LoadVariationRiskBalancing(found, arguments(upstreamCompatible=True))
    assert usages.scores(upstream, place, "new") == {"n": 100}


def test_steady_load_alone_never_costs_more_than_half() -> None:
    """A full node that is steady scores 50, one that varies as much as it can 0."""
    world = cluster(node("a"), node("b"), pod("new", cpu="0", memory="0"))
    plugin = LoadVariationRiskBalancing(usages.usage(world, {"a": (100.0, 0.0), "b": (100.0, 100.0)}))
    assert usages.scores(plugin, usages.placement(world), "new") == {"a": 50, "b": 0}


@pytest.mark.parametrize(
    "fields", [{"safeVarianceMargin": -1}, {"safeVarianceSensitivity": "2"}, {"safeVarianceMargin": float("inf")}]
)
def test_wrong_arguments_are_refused(fields: dict[str, object]) -> None:
    """Negative ones, texts and infinity."""
    with pytest.raises(ValidationError):
        arguments(**fields)
