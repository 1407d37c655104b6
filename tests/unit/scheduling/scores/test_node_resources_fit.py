"""NodeResourcesFit as a score: three strategies in the scheduler's whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from rescheduler.model.objects.pod import Pod
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit, along_shape
from tests.builders import cluster, node, pod
from tests.unit.scheduling.asking import points

RISING = ((0, 0), (100, 10))
FALLING = ((0, 10), (100, 0))


@pytest.mark.parametrize(
    ("used", "asked", "offered", "scores"),
    [
        ([("3", "5k"), ("3", "5k")], ("0", "0"), [("4", "10k"), ("6", "10k")], [37, 50]),
        ([("3", "0"), ("3", "5k")], ("3", "0"), [("10", "20k"), ("10", "20k")], [70, 57]),
        ([("3", "0"), ("3", "5k")], ("3", "5k"), [("10", "20k"), ("10", "50k")], [57, 60]),
        ([("3", "0"), ("3", "5k")], ("3", "0"), [("4", "10k"), ("4", "10k")], [50, 25]),
        ([("3", "0"), ("3", "5k")], ("0", "0"), [("0", "0"), ("0", "0")], [0, 0]),
    ],
)
def test_least_allocated_is_the_mean_share_left(
    used: list[tuple[str, str]], asked: tuple[str, str], offered: list[tuple[str, str]], scores: list[int]
) -> None:
    """Truncated per resource and again at the end; more than all counts 0, a resource of none is left out."""
    nodes = [node(f"n{number}", cpu, memory) for number, (cpu, memory) in enumerate(offered)]
    pods = [pod(f"a{number}", cpu, memory, node=f"n{number}") for number, (cpu, memory) in enumerate(used)]
    assert points(NodeResourcesFit(), cluster(*_explicit([*nodes, *pods, pod("x", *asked)]))) == scores


def _explicit(objects: list[Any]) -> list[Any]:
    """Pods whose zero requests were written out, so that no default takes their place."""
    return [
        replace(item, spec=replace(item.spec, scored_requests=item.spec.requests)) if isinstance(item, Pod) else item
        for item in objects
    ]


def test_missing_requests_count_with_defaults() -> None:
    """100m and 200 MiB for cpu and memory, of the pods that are there too."""
    world = cluster(
        node("n1", "1", "2000Mi"), node("n2", "1", "2000Mi"), pod("a", "0", "0", node="n1"), pod("x", "0", "0")
    )
    assert points(NodeResourcesFit(), world) == [80, 90]


def test_an_extended_resource_counts_only_if_it_is_asked_for() -> None:
    """Vectors of the scheduler's own table."""
    gpus = {"example.com/gpu": "4"}, {"example.com/gpu": "10"}
    nodes = [node("n1", "6", "10k", extended=gpus[0]), node("n2", "6", "10k", extended=gpus[1])]
    three = NodeResourcesFit(resources=(("cpu", 1), ("memory", 1), ("example.com/gpu", 1)))
    asks = pod("x", "3", "5k", extended={"example.com/gpu": "2"})
    assert points(three, cluster(*_explicit([*nodes, asks]))) == [50, 60]
    assert points(three, cluster(*_explicit([*nodes, pod("x", "3", "5k")]))) == [50, 50]


def test_weights_shift_the_mean() -> None:
    """A weight of 2 on the resource with less left."""
    weighted = NodeResourcesFit(resources=(("cpu", 2), ("memory", 1)))
    nodes = [node("n1", "10", "4k"), node("n2", "10", "6k")]
    assert points(weighted, cluster(*_explicit([*nodes, pod("x", "5", "3k")]))) == [41, 50]


def test_most_allocated_is_the_mean_share_used() -> None:
    """At most all of it."""
    full = NodeResourcesFit(strategy="MostAllocated")
    nodes = [node("n1", "4", "10k"), node("n2", "2", "10k")]
    assert points(full, cluster(*_explicit([*nodes, pod("x", "3", "5k")]))) == [62, 75]


@pytest.mark.parametrize(
    ("shape", "percent", "expected"),
    [
        (
            ((10, 1), (90, 9)),
            [-10, 0, 9, 10, 15, 19, 20, 89, 90, 99, 100, 110],
            [10, 10, 10, 10, 15, 19, 20, 89, 90, 90, 90, 90],
        ),
        (((0, 2), (40, 10), (100, 0)), [-10, 0, 20, 30, 40, 70, 100, 110], [20, 20, 60, 80, 100, 50, 0, 0]),
        (((0, 2), (40, 2), (100, 2)), [0, 20, 40, 70, 110], [20, 20, 20, 20, 20]),
        (((50, 7),), [0, 50, 100], [70, 70, 70]),
        (((0, 10), (30, 0)), [1, 2], [97, 94]),
    ],
)
def test_the_shape_is_interpolated_in_whole_numbers(
    shape: tuple[tuple[int, int], ...], percent: list[int], expected: list[int]
) -> None:
    """Flat outside the points; a falling segment truncates toward zero, that is up."""
    assert along_shape(shape, np.array(percent)).tolist() == expected


@pytest.mark.parametrize(
    ("shape", "resources", "offered", "asked", "score"),
    [
        (FALLING, (("cpu", 1), ("memory", 1)), ("4", "10k"), ("3", "5k"), 38),
        (FALLING, (("cpu", 1), ("memory", 1)), ("6", "10k"), ("3", "5k"), 50),
        (RISING, (("example.com/foo", 5), ("memory", 1), ("cpu", 3)), ("8", "1024"), ("3", "512"), 60),
        (RISING, (("example.com/foo", 5), ("memory", 1), ("cpu", 3)), ("8", "1024"), ("0", "0"), 75),
    ],
)
def test_the_ratio_drops_resources_that_score_nothing(
    shape: tuple[tuple[int, int], ...],
    resources: tuple[tuple[str, int], ...],
    offered: tuple[str, str],
    asked: tuple[str, str],
    score: int,
) -> None:
    """Rounded to the nearest at the end; a resource at score 0 leaves the mean, weight and all."""
    plugin = NodeResourcesFit("RequestedToCapacityRatio", resources, shape)
    gpu_node = node("n1", *offered, extended={"example.com/foo": "4"})
    asks = pod("x", *asked, extended={"example.com/foo": "3"} if len(resources) == 3 else {})
    assert points(plugin, cluster(*_explicit([gpu_node, asks]))) == [score]


def test_an_absent_resource_leaves_the_ratio() -> None:
    """As the current scheduler has it: 40, where the resource's first proposal kept its weight."""
    plugin = NodeResourcesFit("RequestedToCapacityRatio", (("example.com/foo", 5), ("memory", 1), ("cpu", 3)), RISING)
    asks = pod("x", "3", "512", extended={"example.com/foo": "2"})
    assert points(plugin, cluster(*_explicit([node("n1", "8", "1024"), asks]))) == [40]


def test_more_than_all_counts_as_all_on_the_shape() -> None:
    """An overcommitted node gets the score of full use."""
    plugin = NodeResourcesFit("RequestedToCapacityRatio", (("cpu", 1),), ((0, 0), (100, 7)))
    assert points(plugin, cluster(*_explicit([node("n1", "1"), pod("x", "3")]))) == [70]


def test_a_running_pod_is_scored_as_if_it_came_anew() -> None:
    """Its own copy is not counted twice."""
    world = cluster(node("n1", "4", "4Gi"), node("n2", "4", "4Gi"), pod("x", "1", "1Gi", node="n1"))
    assert points(NodeResourcesFit(), world) == [75, 75]


def test_a_pod_on_its_way_may_count_otherwise_than_one_that_stands() -> None:
    """Its pod-level requests are left out of its own score, and count once it has its place."""
    asking = pod("x", "2", "0")
    asking = replace(asking, spec=replace(asking.spec, arriving_requests=(("cpu", 1000), ("memory", 0))))
    cpu_alone = NodeResourcesFit(resources=(("cpu", 1),))
    assert points(cpu_alone, cluster(node("n1", "4"), asking)) == [75]
    standing = replace(asking, name="y", node_name="n1")
    assert points(cpu_alone, cluster(node("n1", "4"), standing, asking)) == [25]
