"""Room for requests: every missing resource is named, and only what is asked for is looked at."""

from __future__ import annotations

from rescheduler.model.objects.constraints import Toleration
from rescheduler.model.objects.resources import resources
from rescheduler.scheduling.filters.node_resources_fit import NodeResourcesFit
from tests.builders import NOW, cluster, node, pod
from tests.unit.scheduling.asking import refused, rejections

FIT = NodeResourcesFit()


def test_every_missing_resource_of_a_node_is_named() -> None:
    """Too many pods first, then cpu, memory and the others, in the scheduler's words."""
    full = node("n1", cpu="2", memory="2Gi", pods=1)
    found = refused(
        FIT, cluster(full, pod("a-1", "1", "1Gi", node="n1"), pod("x", "2", "2Gi", extended={"example.com/gpu": "1"}))
    )
    assert found == {"n1": ("Too many pods", "Insufficient cpu", "Insufficient memory", "Insufficient example.com/gpu")}


def test_exact_room_is_enough() -> None:
    """A pod may take the last millicore, and not one more."""
    world = (node("n1", cpu="2"), pod("a-1", "1500m", node="n1"))
    assert refused(FIT, cluster(*world, pod("x", "500m"))) == {}
    assert refused(FIT, cluster(*world, pod("x", "501m"))) == {"n1": ("Insufficient cpu",)}


def test_a_resource_that_is_not_asked_for_is_not_looked_at() -> None:
    """A pod without requests fits a node that is overcommitted."""
    world = cluster(node("n1", cpu="1"), pod("a-1", "3", node="n1"), pod("x", "0", "0"))
    assert refused(FIT, world) == {}


def test_a_node_that_lists_no_pods_takes_none() -> None:
    """``pods`` absent from allocatable means 0, which no eviction changes."""
    bare = node("n1")
    limitless = type(bare)(name="n1", allocatable=resources([("cpu", 4000), ("memory", 1 << 34)]))
    (rejection,) = rejections(FIT, cluster(limitless, pod("x", "0", "0")), "x")
    assert (rejection.reason, rejection.is_resolvable) == ("Too many pods", False)


def test_a_request_larger_than_the_node_cannot_be_helped_by_evictions() -> None:
    """The same reason is told apart: room that evictions could make, and a node that is too small."""
    world = cluster(node("n1", cpu="2"), node("n2", cpu="4"), pod("a-1", "3", node="n2"), pod("x", "3"))
    found = {
        tuple(rejection.nodes.tolist()): (rejection.reason, rejection.is_resolvable)
        for rejection in rejections(FIT, world, "x")
    }
    assert found == {(True, False): ("Insufficient cpu", False), (False, True): ("Insufficient cpu", True)}


def test_an_extended_resource_unknown_to_a_node_counts_as_none() -> None:
    """And hugepages, prefixed and attachable-volume names are resources as well."""
    for name in ("example.com/gpu", "hugepages-2Mi", "kubernetes.io/thing", "attachable-volumes-x"):
        found = refused(FIT, cluster(node("n1", extended={name: "2"}), node("n2"), pod("x", extended={name: "2"})))
        assert found == {"n2": (f"Insufficient {name}",)}


def test_an_unprefixed_unknown_name_is_no_resource_to_the_scheduler() -> None:
    """It is ignored, as kube-scheduler ignores it."""
    assert refused(FIT, cluster(node("n1"), pod("x", extended={"widgets": "5"}))) == {}


def test_finished_pods_hold_nothing_and_terminating_ones_hold_all() -> None:
    """Room comes back when a pod is gone, not when its deletion begins."""
    small = node("n1", cpu="1")
    assert refused(FIT, cluster(small, pod("a-1", "1", node="n1", phase="Succeeded"), pod("x", "1"))) == {}
    leaving = pod("a-1", "1", node="n1", deletion_at=NOW)
    assert refused(FIT, cluster(small, leaving, pod("x", "1"))) == {"n1": ("Insufficient cpu",)}


def test_a_resized_pod_holds_what_it_was_given() -> None:
    """In-place resize: the node's accounts go by what the pod holds, not by its template."""
    resized = pod("a-1", "1", node="n1", held=resources([("cpu", 3500)]))
    assert refused(FIT, cluster(node("n1"), resized, pod("x", "1"))) == {"n1": ("Insufficient cpu",)}


def test_a_pod_does_not_stand_in_its_own_way() -> None:
    """Neither where it sits nor where it leaves, half-way through its move."""
    world = cluster(node("n1", cpu="1"), node("n2", cpu="1"), pod("x", "1", node="n1", tolerations=(Toleration(),)))
    assert refused(FIT, world) == {}
    assert refused(FIT, world, moves={"x": "n2"}) == {}


def test_another_pod_counts_at_both_ends_of_its_move() -> None:
    """Arrive before depart: the origin is not free before the wave ends."""
    world = cluster(node("n1", cpu="1"), node("n2", cpu="1"), pod("a-1", "1", node="n1"), pod("x", "1"))
    assert sorted(refused(FIT, world, moves={"a-1": "n2"})) == ["n1", "n2"]
