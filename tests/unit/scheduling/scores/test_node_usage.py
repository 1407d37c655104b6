"""Volcano's usage plugin: low load, steady load, room in the pod's dimension."""

from __future__ import annotations

from math import isfinite

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.scheduling.scores.node_usage import NodeUsage, NodeUsageArguments
from tests.builders import NOW, cluster, node, pod
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.plain_loads import MEASURED, PlainLoads, amount_of, rounded, share
from tests.unit.scheduling.scores.random_usage import Measured, measured

RANDOM = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
GIB = 1 << 30


def arguments(**fields: object) -> NodeUsageArguments:
    """Arguments as a file writes them."""
    return NodeUsageArguments.model_validate(fields)


def test_the_ordering_of_the_volcano_design() -> None:
    """Of two nodes with like cpu usage (80 and 78) the steadier one (5 against 40) is preferred: 58 to 41."""
    world = cluster(node("node1"), node("node2"), pod("new"))
    found = usages.usage(world, {"node1": 80.0, "node2": 78.0}, {}, ranges={"node1": 5.0, "node2": 40.0}, age=1.0)
    windows, place = UsageWindows({300.0: found}), usages.placement(world)
    cpu_alone = {"memoryWeight": 0, "upstreamCompatible": False}
    assert usages.scores(NodeUsage(windows, arguments(**cpu_alone)), place, "new") == {"node1": 20, "node2": 22}
    plugin = NodeUsage(windows, arguments(fluctuationWeight=1, **cpu_alone))
    assert usages.scores(plugin, place, "new") == {"node1": 58, "node2": 41}


def test_a_pod_goes_where_its_own_dimension_is_free() -> None:
    """A pod of cpu to the node whose memory is busy, a pod of memory to the other."""
    world = cluster(
        node("node1", cpu="4", memory="16Gi"), node("node2", cpu="4", memory="16Gi"),
        pod("compute", cpu="2", memory="0"), pod("memory", cpu="0", memory="2Gi"),
    )  # fmt: skip
    found = usages.usage(world, {"node1": 80.0, "node2": 20.0}, {"node1": 20.0, "node2": 80.0})
    plugin = NodeUsage(UsageWindows({300.0: found}), arguments(loadWeight=0, dimensionWeight=1))
    place = usages.placement(world)
    assert usages.scores(plugin, place, "compute") == {"node1": 20, "node2": 80}
    assert usages.scores(plugin, place, "memory") == {"node1": 80, "node2": 20}


def plain_estimate(spec: PodSpec, factor: float) -> list[float]:
    """What a pod without measure is taken to use, for the default ratios."""
    demands = []
    for resource in MEASURED:
        sidecars = peak = running = 0
        for item in spec.containers:
            limit = amount_of(item.limits, resource)
            if item.kind == "App":
                running += limit
            elif item.kind == "Sidecar":
                sidecars += limit
                peak = max(peak, sidecars)
            else:
                peak = max(peak, sidecars + limit)
        limit = max(running + sidecars, peak)
        limit += amount_of(spec.overhead, resource) if limit else 0
        demands.append((amount_of(spec.requests, resource), limit))
    if all(demand == (0, 0) for demand in demands):
        return [250 * factor, 200 * 1024 * 1024 * factor]
    return [
        min(request * 0.7 * factor, limit if limit >= request and limit > 0 else request) for request, limit in demands
    ]


def plain_shares(world: Measured, without: int, weights: tuple[float, float]) -> list[tuple[float, float]]:
    """Cpu and memory in use on each node, one pod after another."""
    loads = PlainLoads(world, without)
    now, initial = loads.cluster.taken_at, world.placement.columns.initial_node_of
    real = [
        [
            (loads.possible(v) if (v := average_or_latest(loads, place, r)) is not None else None) or 0.0
            for r in MEASURED
        ]
        for place in range(len(loads.cluster.nodes))
    ]
    added = [[0.0, 0.0] for _ in real]
    estimates: dict[int, list[float]] = {}

    def shares(place: int) -> tuple[float, float]:
        bases = [loads.capacity(place, resource) for resource in MEASURED]
        found = [share(real[place][r] / 100 * bases[r] + added[place][r], bases[r]) for r in (0, 1)]
        return found[0], found[1]

    def add(number: int, place: int) -> None:
        factor = 1.2 if weighted(shares(place), weights) >= 0.6 else 1.0
        estimates[number] = plain_estimate(loads.cluster.pods[number].spec, factor)
        for row in (0, 1):
            added[place][row] += estimates[number][row]

    for number in sorted(range(len(initial)), key=lambda n: (bound(loads.cluster.pods[n]), n)):
        item = loads.cluster.pods[number]
        is_new = item.phase == "Pending" or item.started_at is None or now - item.started_at < 30
        if initial[number] != NOWHERE and is_new:
            add(number, int(initial[number]))
    arrived = []
    for number, item in enumerate(loads.cluster.pods):
        home = int(initial[number])
        places = [int(world.placement.node_of[number]), int(world.placement.leaving[number])]
        here = [] if number == without else [place for place in places if place != NOWHERE]
        if home != NOWHERE and home not in here:
            if number in estimates:
                gone = estimates[number]
            else:
                own = world.usage.pod_use.get("cpu")
                gone = plain_estimate(item.spec, 1.0)
                if own is not None and isfinite(own[number]) and own[number] >= 0:
                    gone[0] = float(own[number])
            for row in (0, 1):
                added[home][row] -= gone[row]
        arrived.extend((number, place) for place in here if place != home)
    for number, place in sorted(arrived, key=lambda pair: (places_rank(world, pair), pair)):
        add(number, place)
    return [shares(place) for place in range(len(real))]


def places_rank(world: Measured, pair: tuple[int, int]) -> int:
    """Pods at their destinations come before those that still hold a place beside their home."""
    return int(world.placement.node_of[pair[0]] != pair[1])


def average_or_latest(loads: PlainLoads, place: int, resource: str) -> float | None:
    """The value that counts."""
    found = loads.usage.statistics[resource]
    average = loads.possible(found.average[place])
    return average if average is not None else loads.possible(found.latest[place])


def bound(item: Pod) -> float:
    """When it was bound."""
    times = (item.scheduled_at, item.started_at, item.created_at)
    return next((time for time in times if time is not None), -np.inf)


@RANDOM
@given(world=measured(), weights=st.sampled_from(((1.0, 1.0), (2.0, 8.0), (0.0, 1.0), (0.0, 0.0))))
def test_scores_equal_the_plain_ones(world: Measured, weights: tuple[float, float]) -> None:
    """Load alone, on random clusters with any measure, half-way through moves too."""
    plugin = NodeUsage(UsageWindows({300.0: world.usage}), arguments(cpuWeight=weights[0], memoryWeight=weights[1]))
    loads = PlainLoads(world, NOWHERE)
    for number in range(world.placement.columns.pod_count):
        found = plugin.score(number, world.placement, usages.everywhere(world.placement)).tolist()
        wanted = [
            rounded(round(100 * (1 - weighted(shares, weights)), 9))
            if any(weights) and is_fresh(loads, place, weights)
            else 0
            for place, shares in enumerate(plain_shares(world, number, weights))
        ]
        assert found == wanted
        assert usages.told_scores(plugin, world.placement, number) == found


def weighted(shares: tuple[float, float], weights: tuple[float, float]) -> float:
    """A node's load."""
    return (shares[0] * weights[0] + shares[1] * weights[1]) / sum(weights) if any(weights) else 0.0


def is_fresh(loads: PlainLoads, place: int, weights: tuple[float, float]) -> bool:
    """Whether each resource that counts was measured not long ago."""
    end = loads.usage.window_end[place]
    is_recent = bool(loads.usage.is_valid[place]) and isfinite(end) and loads.cluster.taken_at - end <= 300
    known = [average_or_latest(loads, place, resource) is not None for resource in MEASURED]
    return is_recent and all(here or not weight for here, weight in zip(known, weights, strict=True))


def test_volcanos_own_order_is_load_times_the_plugins_weight() -> None:
    """75 percent of load free at a weight of 5 makes 375; over the window of 10 minutes alone."""
    world = cluster(node("n"), pod("new"))
    found = usages.usage(world, {"n": 20.0}, {"n": 30.0})
    place = usages.placement(world)
    upstream = arguments(upstreamCompatible=True)
    assert NodeUsage(UsageWindows({600.0: found}), upstream).order(0, place).tolist() == pytest.approx([375.0])
    assert NodeUsage(UsageWindows({300.0: found}), upstream).order(0, place).tolist() == [0.0]


def test_a_missing_value_is_no_idle_node() -> None:
    """Volcano takes it for a load of 0."""
    world = cluster(node("n"), pod("new"))
    windows = UsageWindows({300.0: usages.usage(world, {"n": 20.0}), 600.0: usages.usage(world, {"n": 20.0})})
    place = usages.placement(world)
    assert usages.scores(NodeUsage(windows), place, "new") == {"n": 0}
    assert usages.scores(NodeUsage(windows, arguments(upstreamCompatible=True)), place, "new") == {"n": 90}
    assert usages.told(NodeUsage(windows), place, 0) == ["the node has no fresh metrics: 0"]


def test_a_pod_that_started_just_now_is_estimated() -> None:
    """Seven tenths of its request for 30 seconds, a fifth more on a loaded node; then its measure counts."""
    for started, load, score in ((NOW - 10, 0.0, 65), (NOW - 40, 0.0, 100), (NOW - 10, 70.0, 0)):
        young = pod("young", cpu="2", memory="0", node="n", started_at=started, scheduled_at=started)
        world = cluster(node("n", cpu="4"), pod("new"), young)
        windows = UsageWindows({300.0: usages.usage(world, {"n": load}, {"n": 0.0})})
        plugin = NodeUsage(windows, arguments(memoryWeight=0))
        assert usages.scores(plugin, usages.placement(world), "new") == {"n": score}


def test_a_measured_pod_that_moves_is_taken_off_its_node() -> None:
    """By its own measure where there is one, unless Volcano itself is followed."""
    world = cluster(node("a", cpu="4"), node("b", cpu="4"), pod("new"), pod("old", cpu="2", memory="0", node="a"))
    use = {"cpu": np.array([np.nan, 2000.0])}
    found = usages.usage(world, {"a": 60.0, "b": 10.0}, {"a": 0.0, "b": 0.0}, pod_use=use)
    place = usages.placement(world)
    place.move(usages.index(place, "old"), 1)
    place.settle()
    windows = UsageWindows({300.0: found, 600.0: found})
    assert usages.scores(NodeUsage(windows, arguments(memoryWeight=0)), place, "new") == {"a": 90, "b": 55}
    upstream = arguments(memoryWeight=0, upstreamCompatible=True)
    assert usages.scores(NodeUsage(windows, upstream), place, "new") == {"a": 40, "b": 55}


def test_defaults_of_the_design_and_of_volcano() -> None:
    """No thresholds and 5 minutes, or 80 percent and 10 minutes; switched off there are none."""
    assert arguments().active_thresholds == ()
    limits = arguments(upstreamCompatible=True).active_thresholds
    assert [(item.period, item.cpu, item.memory) for item in limits] == [(600.0, 80.0, 80.0)]
    assert arguments(thresholds=[{"cpu": 70}]).active_thresholds[0].period == 300.0
    assert arguments(thresholds=[{"cpu": 70}], enablePredicate=False).active_thresholds == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"cpuWeight": -1},
        {"usageWeight": "5"},
        {"loadWeight": 0},
        {"thresholds": [{"cpu": 101}]},
        {"thresholds": [{"period": "5m"}]},
        {"thresholds": [{"cpu": float("nan")}]},
        {"estimator": {"riskFactor": 0.9}},
        {"estimator": {"requestRatio": 1.1}},
        {"estimator": {"bestEffortCpu": "much"}},
        {"estimator": {"bestEffortMemory": 5}},
        {"period": "0s"},
        {"enablePredicate": "false"},
    ],
)
def test_wrong_arguments_are_refused(fields: dict[str, object]) -> None:
    """Out of range, of the wrong type, empty or contradictory."""
    with pytest.raises(ValidationError):
        arguments(**fields)
