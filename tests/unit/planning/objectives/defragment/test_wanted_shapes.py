"""Shapes over nodes: where a plain pod may go, and how often it fits."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.planning.objectives.defragment.wanted_shapes import WantedShapes, shape_name
from tests.builders import cluster, node, pod, taint
from tests.unit.planning.objectives.defragment.questions import shape

GPU = "nvidia.com/gpu"


def counted(*objects: object, shapes: list[object]) -> list[list[int]]:
    """How often each shape fits on each node."""
    columns = columns_of(cluster(*objects))  # type: ignore[arg-type]
    wanted = WantedShapes(columns, shapes)  # type: ignore[arg-type]
    found: list[list[int]] = wanted.often(Placement(columns).free()).tolist()
    return found


def test_the_scarcest_resource_decides() -> None:
    """Whole pods by the resource that runs out first; what a shape does not ask for does not count."""
    made = (node("a", cpu="8", memory="8Gi"), pod("x-0", cpu="1", memory="2Gi", node="a"))
    assert counted(*made, shapes=[shape(cpu="2", memory="1Gi"), shape(cpu="2", memory="4Gi"), shape(cpu="8")]) == [
        [3],
        [1],
        [0],
    ]


def test_pod_slots_count() -> None:
    """A node that takes no more pods has no room for any shape."""
    assert counted(node("a", pods=2), pod("x-0", cpu="0", memory="0", node="a"), shapes=[shape(cpu="1m")]) == [[1]]
    assert counted(node("a", pods=1), pod("x-0", cpu="0", memory="0", node="a"), shapes=[shape(cpu="1m")]) == [[0]]


@pytest.mark.parametrize(
    "fields",
    [
        {"is_unschedulable": True},
        {"is_ready": False},
        {"problem": "no allocatable"},
        {"deletion_at": 1.0},
        {"labels": {"type": "virtual-kubelet"}},
        {"taints": [taint("special")]},
        {"taints": [taint("special", effect="NoExecute")]},
    ],
)
def test_nodes_that_take_no_plain_pod_do_not_count(fields: dict[str, object]) -> None:
    """Cordoned, unready, broken, dying, virtual and tainted nodes are left out."""
    assert counted(node("a", **fields), node("b"), shapes=[shape(cpu="4")]) == [[0, 1]]  # type: ignore[arg-type]


def test_a_taint_that_only_prefers_does_not_ban() -> None:
    """PreferNoSchedule keeps nobody out."""
    assert counted(node("a", taints=[taint("x", effect="PreferNoSchedule")]), shapes=[shape(cpu="4")]) == [[1]]


def test_taint_named_like_the_extended_resource_is_tolerated_by_shapes_that_ask_for_it() -> None:
    """GPU nodes count for GPU shapes, not for others; nodes left out are counted only if they could hold the shape."""
    columns = columns_of(cluster(node("a", cpu="8", extended={GPU: "4"}, taints=[taint(GPU)]), node("b", cpu="8")))
    wanted = WantedShapes(columns, [shape(gpu="1"), shape(cpu="4"), shape(cpu="16")])
    assert wanted.often(Placement(columns).free()).tolist() == [[4, 0], [0, 2], [0, 0]]
    assert wanted.tainted.tolist() == [0, 1, 0]


def test_unknown_resource_fits_nowhere() -> None:
    """A resource that no node offers is no error."""
    assert counted(node("a"), shapes=[shape(cpu="1", gpu="1")]) == [[0]]


def test_overcommitted_room_is_no_room() -> None:
    """Negative room counts as none."""
    columns = columns_of(cluster(node("a")))
    wanted = WantedShapes(columns, [shape(cpu="1")])
    assert wanted.often(np.full((len(columns.resources), 1), -5000)).tolist() == [[0]]


def test_needed_room_is_the_largest_of_each_resource() -> None:
    """Shapes are counted alone, so their needs overlap."""
    columns = columns_of(cluster(node("a", cpu="8")))
    wanted = WantedShapes(columns, [shape(cpu="2", memory="4Gi"), shape(cpu="3")])
    need = wanted.needed(np.array([[1], [2]]))
    assert need[columns.resource_index["cpu"]].tolist() == [6000]
    assert need[columns.resource_index["memory"]].tolist() == [4 * 2**30]
    assert need[columns.resource_index["pods"]].tolist() == [2]


def test_shapes_have_names_for_people() -> None:
    """Quantities as people write them."""
    assert shape_name(shape(cpu="1500m", memory="2Gi")[0]) == "cpu 1.5, memory 2Gi"
    assert shape_name(()) == "any pod"
