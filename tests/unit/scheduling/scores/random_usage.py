"""Random small clusters with measured load: stale, missing and impossible values, pods that came and went recently."""

from __future__ import annotations

from math import inf, nan
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import ContainerResources, Pod, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY, resources
from rescheduler.model.usage.usage import Departure, Statistics, Usage
from tests.builders import NOW, cluster, node, pod

GIB = 1 << 30
ages = st.sampled_from((0.0, 20.0, 59.0, 60.0, 61.0, 200.0, 290.0, 301.0, 4000.0))
percents = st.one_of(st.floats(0, 100), st.sampled_from((0.0, 100.0, 140.0, -3.0, nan, inf)))
deviations = st.one_of(st.floats(0, 60), st.sampled_from((0.0, nan)))
maybe_cpu = st.sampled_from((None, 0, 100, 333, 1000, 2500))
maybe_memory = st.sampled_from((None, 0, GIB, 3 * GIB))


class Measured(NamedTuple):
    """A placement, perhaps half-way through moves, and what was measured of its nodes."""

    placement: Placement
    usage: Usage


@st.composite
def containers(draw: st.DrawFn) -> ContainerResources:
    """A container that may set requests and limits, zero ones too."""
    pairs = []
    for _ in range(2):
        amounts = ((CPU, draw(maybe_cpu)), (MEMORY, draw(maybe_memory)))
        pairs.append(tuple((name, amount) for name, amount in amounts if amount is not None))
    return ContainerResources(pairs[0], pairs[1], draw(st.sampled_from(("App", "App", "App", "Init", "Sidecar"))))


@st.composite
def specs(draw: st.DrawFn) -> PodSpec:
    """A pod of up to three containers; requests as they add up are of no matter here, so the first one's are taken."""
    made = tuple(draw(st.lists(containers(), max_size=3)))
    requests = resources(made[0].requests) if made else draw(st.sampled_from(((), ((CPU, 500), (MEMORY, GIB)))))
    overhead = draw(st.sampled_from(((), ((CPU, 10), (MEMORY, 1 << 20)))))
    return PodSpec(requests=requests, containers=made, overhead=overhead if made else ())


@st.composite
def pods(draw: st.DrawFn, name: str, homes: list[str]) -> Pod:
    """A pod that was bound some time ago, or waits."""
    home = draw(st.sampled_from((None, *homes)))
    made = pod(name, node=home, phase=draw(st.sampled_from(("Running", "Pending"))) if home else "Pending")
    times = {key: draw(st.one_of(st.none(), ages.map(lambda age: NOW - age))) for key in ("scheduled_at", "started_at")}
    fields = {key: getattr(made, key) for key in made.__struct_fields__}
    return Pod(**{**fields, **times, "spec": draw(specs()), "created_at": None})


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    """A node whose capacity is above what it offers, or unknown, or nothing."""
    made = node(name, cpu=draw(st.sampled_from(("0", "2", "4"))), memory="8Gi")
    fields = {key: getattr(made, key) for key in made.__struct_fields__}
    capacity = draw(st.sampled_from(((), ((CPU, 4200), (MEMORY, 9 * GIB)), ((CPU, 0), (MEMORY, 8 * GIB)))))
    fields |= {"capacity": capacity, "created_at": NOW - draw(st.sampled_from((100.0, 90000.0)))}
    return Node(**{**fields, "is_unschedulable": draw(st.integers(0, 5)) == 0})


@st.composite
def measured(draw: st.DrawFn) -> Measured:
    """Up to four nodes and six pods."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 4)))]
    crowd = [draw(pods(f"p{number}-0", names)) for number in range(draw(st.integers(1, 6)))]
    world = cluster(*(draw(nodes(name)) for name in names), *crowd)
    columns = columns_of(world)
    placement = Placement(columns)
    for number in draw(st.lists(st.integers(0, columns.pod_count - 1), unique=True, max_size=3)):
        target = draw(st.integers(0, len(names) - 1))
        if placement.node_of[number] == NOWHERE:
            placement.assume(number, target)
        elif placement.node_of[number] != target:
            placement.move(number, target)
            if draw(st.booleans()):
                placement.settle()
    departures = draw(
        st.lists(st.builds(Departure, st.sampled_from(names), ages.map(lambda a: NOW - a), specs()), max_size=2)
    )
    return Measured(placement, draw(usages_of(len(names), columns.pod_count, tuple(departures))))


@st.composite
def usages_of(draw: st.DrawFn, width: int, pod_count: int, departures: tuple[Departure, ...]) -> Usage:
    """What was measured; on good days most nodes are fresh."""

    def row(values: st.SearchStrategy[float]) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=width, max_size=width)), dtype=np.float64)

    good_day = draw(st.booleans())
    windows = st.sampled_from((0.0, 100.0, 200.0)) if good_day else st.sampled_from((0.0, 301.0, 4000.0, nan))
    statistics = {
        name: Statistics(row(percents), row(deviations), row(percents), row(percents), row(percents))
        for name in (CPU, MEMORY)
    }
    own = np.array([draw(st.sampled_from((nan, -1.0, 0.0, 250.0))) for _ in range(pod_count)])
    return Usage(
        statistics,
        window_end=NOW - row(windows),
        window_seconds=np.full(width, 900.0),
        is_valid=row(st.sampled_from((1.0, 1.0, 1.0, 0.0))).astype(np.bool_),
        pod_use={CPU: own} if draw(st.booleans()) else {},
        departures=departures,
    )
