"""Tests of room on nodes."""

from __future__ import annotations

from rescheduler.model.objects.resources import resources
from tests.builders import cluster, node, pod
from tests.unit.checker.cases import broken, move, place, plan

FULL = {"NodeResourcesFit"}


def test_an_exact_fit_fits_and_one_unit_more_does_not() -> None:
    """Millicores and bytes count exactly."""
    world = cluster(node("n1", cpu="2", memory="2Gi"), pod("a-0", cpu="1500m", memory="1Gi", node="n1"))
    exact = pod("new-0", cpu="500m", memory="1Gi")
    assert broken(cluster(*world.nodes, *world.pods, exact), plan(place("new-0", "n1"))) == set()
    for cpu, memory in (("501m", "1Gi"), ("500m", "1073741825")):
        more = cluster(*world.nodes, *world.pods, pod("new-0", cpu=cpu, memory=memory))
        assert broken(more, plan(place("new-0", "n1"))) == FULL


def test_a_resource_that_is_not_asked_for_may_be_overcommitted() -> None:
    """A node with too much memory in use still takes a pod that wants none."""
    world = cluster(node("n1", memory="1Gi"), pod("a-0", memory="2Gi", node="n1"), pod("new-0", memory="0"))
    assert broken(world, plan(place("new-0", "n1"))) == set()


def test_a_resource_that_the_node_does_not_have_is_missing() -> None:
    """Extended resources are 0 unless offered."""
    asks = pod("new-0", extended={"nvidia.com/gpu": "1"})
    assert broken(cluster(node("n1"), asks), plan(place("new-0", "n1"))) == FULL
    offers = node("n1", extended={"nvidia.com/gpu": "1"})
    assert broken(cluster(offers, asks), plan(place("new-0", "n1"))) == set()


def test_the_number_of_pods_is_a_resource_too() -> None:
    """Even a pod that asks for nothing needs a free place; none offered means none."""
    nothing = pod("new-0", cpu="0", memory="0")
    assert broken(cluster(node("n1", pods=2), pod("a-0", node="n1"), nothing), plan(place("new-0", "n1"))) == set()
    assert broken(cluster(node("n1", pods=1), pod("a-0", node="n1"), nothing), plan(place("new-0", "n1"))) == FULL
    assert broken(cluster(node("n1", pods=0), nothing), plan(place("new-0", "n1"))) == FULL


def test_what_a_resized_pod_holds_counts_where_it_is_and_its_requests_where_it_goes() -> None:
    """In-place resize: 3 cores held on n1, 1 asked for anew on n2."""
    grown = pod("a-0", cpu="1", node="n1", held=resources([("cpu", 3000)]))
    world = cluster(node("n1", cpu="4"), node("n2", cpu="1"), grown, pod("new-0", cpu="2"))
    assert broken(world, plan(place("new-0", "n1"))) == FULL
    assert broken(world, plan(move("a-0", "n1", "n2"), place("new-0", "n1", 1))) == set()


def test_arrivals_of_one_wave_are_counted_together() -> None:
    """In any order the last one must fit, too."""
    world = cluster(
        node("n1", cpu="4"), node("n2", cpu="3"), pod("a-0", cpu="2", node="n1"), pod("b-0", cpu="2", node="n1")
    )
    assert broken(world, plan(move("a-0", "n1", "n2"), move("b-0", "n1", "n2"))) == FULL


def test_arrivals_of_one_wave_share_the_places_for_pods() -> None:
    """One free place, two arrivals that ask for nothing else."""
    pods = [pod("new-0", cpu="0", memory="0"), pod("new-1", cpu="0", memory="0")]
    together = plan(place("new-0", "n1"), place("new-1", "n1"))
    assert broken(cluster(node("n1", pods=1), *pods), together) == FULL
    assert broken(cluster(node("n1", pods=2), *pods), together) == set()
