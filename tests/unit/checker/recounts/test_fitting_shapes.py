"""The independent count of how often shapes fit at the end of a plan."""

from __future__ import annotations

from rescheduler.checker.recounts.fitting_shapes import shapes_that_fit
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Move, Plan, PlannedPlacement, PodReference, SnapshotSummary
from tests.builders import cluster, node, pod, taint

GPU = "nvidia.com/gpu"
FOUR_CORES = ((("cpu", 4000),), 1.0)


def plan(*moves: tuple[str, str, str], placed: tuple[tuple[str, str], ...] = ()) -> Plan:
    """Moves by pod, old node and new node; places by pod and node."""
    return Plan(
        snapshot=SnapshotSummary(None, 0, 0, 0, "test"),
        moves=tuple(Move(PodReference("default", name), old, new, 1, "Defragment", "") for name, old, new in moves),
        placements=tuple(PlannedPlacement(PodReference("default", name), where, 0) for name, where in placed),
    )


def two_nodes(**fields: object) -> Cluster:
    """Two nodes of 4 cores, a pod of 1 core on the first, one that waits."""
    return cluster(node("a", **fields), node("b"), pod("x-0", cpu="1", node="a"), pod("y-0", cpu="1"))  # type: ignore[arg-type]


def test_counts_the_end_of_the_plan() -> None:
    """Moved pods count where they go, helped ones where they are placed, waiting ones nowhere."""
    assert shapes_that_fit(two_nodes(), plan(), [FOUR_CORES]) == 1
    assert shapes_that_fit(two_nodes(), plan(("x-0", "a", "b")), [FOUR_CORES]) == 1
    assert shapes_that_fit(two_nodes(), plan(placed=(("y-0", "b"),)), [FOUR_CORES]) == 0


def test_weights_shapes_and_closed_nodes() -> None:
    """Each shape is counted alone, times its weight; closed nodes are left out."""
    shapes = [FOUR_CORES, ((("cpu", 1000),), 2.0)]
    assert shapes_that_fit(two_nodes(), plan(), shapes) == 1 + 2 * (3 + 4)
    assert shapes_that_fit(two_nodes(), plan(), shapes, without=["b"]) == 2 * 3


def test_only_usable_nodes_count() -> None:
    """Taints, cordons and unready nodes; the taint of the resource that is asked for is tolerated."""
    gpu = {"extended": {GPU: "2"}}
    assert shapes_that_fit(two_nodes(taints=[taint("x")]), plan(("x-0", "a", "b")), [FOUR_CORES]) == 0
    assert shapes_that_fit(two_nodes(is_unschedulable=True), plan(("x-0", "a", "b")), [FOUR_CORES]) == 0
    assert shapes_that_fit(two_nodes(taints=[taint(GPU)], **gpu), plan(), [(((GPU, 1),), 1.0)]) == 2


def test_finished_pods_hold_nothing_and_overfull_nodes_have_no_room() -> None:
    """What is over is over; negative room is none."""
    made = cluster(
        node("a"), node("b"), pod("done-0", cpu="4", node="a", phase="Succeeded"), pod("fat-0", cpu="9", node="b")
    )
    assert shapes_that_fit(made, plan(), [FOUR_CORES]) == 1


def test_pod_slots_count() -> None:
    """A node whose slots are taken has no room for a shape."""
    made = cluster(node("a", pods=1), pod("x-0", cpu="0", memory="0", node="a"))
    assert shapes_that_fit(made, plan(), [((("cpu", 1),), 1.0)]) == 0
