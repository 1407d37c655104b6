"""Nominated pods keep their place against pods of the same or a lower priority."""

from __future__ import annotations

from typing import Any

import numpy as np

from rescheduler.model.columns.columns import Columns, columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import cluster, node, pod, selector

HOST = "kubernetes.io/hostname"


def asked(*objects: Any, name: str = "x", counts: bool = True) -> tuple[SchedulerModel, int, Placement, Columns]:
    """A model that counts nominated pods, and the pod it is asked about."""
    columns = columns_of(cluster(*objects))
    model = SchedulerModel(columns, counts_nominated=counts)
    return model, columns.pod_index[f"default/{name}"], Placement(columns), columns


NODES = (node("n1", cpu="1"), node("n2", cpu="1"))


def test_a_nominated_pod_holds_its_place_against_its_equals_and_those_below() -> None:
    """Not against a pod of a higher priority, and not where nominations are left out."""
    waiting = pod("w", "1", nominated_node="n1", priority=5)
    for priority, expected in ((4, [False, True]), (5, [False, True]), (6, [True, True])):
        model, x, placement, _ = asked(*NODES, waiting, pod("x", "1", priority=priority))
        assert model.feasible(x, placement).tolist() == expected
    model, x, placement, _ = asked(*NODES, waiting, pod("x", "1"), counts=False)
    assert model.feasible(x, placement).tolist() == [True, True]


def test_the_verdict_must_hold_with_and_without_the_nominated_pod() -> None:
    """A pod cannot count on the company of one that is not there yet."""
    friend = pod("w", "0", nominated_node="n1", priority=5)
    follower = pod("x", affinity=(PodAffinityTerm(HOST, selector(app="w")),))
    model, x, placement, _ = asked(*NODES, friend, follower)
    assert model.feasible(x, placement).tolist() == [False, False]


def test_a_nominated_pod_counts_on_its_own_node_only() -> None:
    """Other nodes are judged without it, even those of the same zone."""
    zone = "topology.kubernetes.io/zone"
    hostile = pod("w", "0", nominated_node="n1", anti_affinity=(PodAffinityTerm(zone, selector(app="x")),))
    nodes = (node("n1", zone="a"), node("n2", zone="a"))
    picky = pod("x", anti_affinity=(PodAffinityTerm(zone, selector(app="nobody")),))
    model, x, placement, _ = asked(*nodes, hostile, picky)
    assert model.feasible(x, placement).tolist() == [False, True]
    assert model.verdict(x, placement).reasons(0) == ("node(s) didn't satisfy existing pods anti-affinity rules",)
    assert model.verdict(x, placement).reasons(1) == ()


def test_reasons_found_with_the_nominated_pod_take_the_place_of_those_without() -> None:
    """On its node; elsewhere the usual ones stand."""
    model, x, placement, _ = asked(*NODES, pod("w", "1", nominated_node="n1"), pod("b", "1", node="n2"), pod("x", "1"))
    assert model.explain_failure(x, placement) == "0/2 nodes are available: 2 Insufficient cpu."


def test_asking_leaves_the_placement_as_it_was() -> None:
    """Guests are seated for the question only."""
    model, x, placement, columns = asked(*NODES, pod("w", "1", nominated_node="n1"), pod("x", "1"))
    before = placement.copy()
    model.feasible(x, placement)
    model.verdict(x, placement)
    assert np.array_equal(before.used, placement.used)
    assert np.array_equal(before.node_of, placement.node_of)
    assert columns.pod_count == 2


def test_a_pod_does_not_wait_for_itself_and_goes_where_it_is_nominated() -> None:
    """If it still can; else to the best of the others."""
    model, x, placement, _ = asked(node("n1", cpu="2"), node("n2", cpu="8"), pod("x", "1", nominated_node="n1"))
    assert model.best_nodes(x, placement).tolist() == [0]
    model, x, placement, _ = asked(node("n1", cpu="500m"), node("n2", cpu="8"), pod("x", "1", nominated_node="n1"))
    assert model.best_nodes(x, placement).tolist() == [1]


def test_a_nomination_ends_with_the_pods_placing_and_an_unknown_node_is_none() -> None:
    """Once it is placed it counts where it is."""
    model, x, placement, columns = asked(*NODES, pod("w", "1", nominated_node="n1"), pod("x", "1"))
    placement.assume(columns.pod_index["default/w"], 1)
    assert model.feasible(x, placement).tolist() == [True, False]
    model, x, placement, _ = asked(*NODES, pod("w", "1", nominated_node="gone"), pod("x", "1"))
    assert model.feasible(x, placement).tolist() == [True, True]


def test_what_a_nominated_pod_demands_counts_only_where_other_pods_are_looked_at_anyway() -> None:
    """kube-scheduler leaves inter-pod affinity out for a pod that no placed pod and no term of its own concerns."""
    zone = "topology.kubernetes.io/zone"
    hostile = pod("w", "0", nominated_node="n1", anti_affinity=(PodAffinityTerm(zone, selector(app="x")),))
    nodes = (node("n1", zone="a"), node("n2", zone="b"))
    model, x, placement, _ = asked(*nodes, hostile, pod("x"))
    assert model.feasible(x, placement).tolist() == [True, True]
    assert model.verdict(x, placement).reasons(0) == ()
    standing = pod("s", "0", node="n2", anti_affinity=hostile.spec.anti_affinity)
    model, x, placement, _ = asked(*nodes, hostile, standing, pod("x"))
    assert model.feasible(x, placement).tolist() == [False, False]
    picky = pod("x", anti_affinity=(PodAffinityTerm(zone, selector(app="nobody")),))
    model, x, placement, _ = asked(*nodes, hostile, picky)
    assert model.feasible(x, placement).tolist() == [False, True]
