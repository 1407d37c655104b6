"""A failure is told in the scheduler's words, with its counts."""

from __future__ import annotations

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import NodeAffinityRules, NodeSelectorTerm, PodAffinityTerm, Requirement
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import cluster, node, pod, selector, taint
from tests.unit.scheduling.volumes import user


def message(world: Cluster, name: str = "x") -> str:
    """What the scheduler would say of one pod."""
    columns = columns_of(world)
    model, placement = SchedulerModel(columns), Placement(columns)
    told = model.explain_failure(columns.pod_index[f"default/{name}"], placement)
    assert told == model.verdict(columns.pod_index[f"default/{name}"], placement).message
    return told


def test_reasons_are_counted_and_sorted_as_texts() -> None:
    """Ten comes before two, as the scheduler sorts the lines."""
    tainted = [node(f"t{number}", taints=[taint("k")]) for number in range(2)]
    small = [node(f"s{number}", cpu="1") for number in range(10)]
    cordoned = node("u", is_unschedulable=True)
    assert message(cluster(*tainted, *small, cordoned, pod("x", "2"))) == (
        "0/13 nodes are available: 1 node(s) were unschedulable, 10 Insufficient cpu, "
        "2 node(s) had untolerated taint(s)."
    )


def test_a_node_counts_for_the_first_filter_that_refuses_it() -> None:
    """But for every resource that it lacks."""
    tainted_and_small = node("n1", cpu="1", taints=[taint("k")])
    small_twice = node("n2", cpu="1", memory="1Gi")
    assert message(cluster(tainted_and_small, small_twice, pod("x", "2", "2Gi"))) == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) had untolerated taint(s)."
    )


def test_the_same_reason_counts_once_a_node_whether_or_not_evictions_help() -> None:
    """Resolvable and not, it is one line."""
    world = cluster(node("n1", cpu="1"), node("n2", cpu="4"), pod("a", "3", node="n2"), pod("x", "2"))
    assert message(world) == "0/2 nodes are available: 2 Insufficient cpu."


def test_nodes_that_the_pod_rules_out_come_before_every_filter() -> None:
    """A cordon on another node is not even looked at."""
    terms = (NodeSelectorTerm((), (Requirement("metadata.name", "In", ("n1",)),)),)
    world = cluster(
        node("n1", cpu="1"), node("n2", is_unschedulable=True), pod("x", "2", node_affinity=NodeAffinityRules(terms))
    )
    assert message(world) == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_a_fault_of_the_pod_is_told_without_counts() -> None:
    """It stands alone, whatever else is wrong."""
    world = cluster(node("n1", is_unschedulable=True), node("n2"), user("x", "data"))
    assert message(world) == '0/2 nodes are available: persistentvolumeclaim "data" not found.'


def test_words_of_pod_affinity() -> None:
    """Each node under its own reason."""
    zone = "topology.kubernetes.io/zone"
    nodes = (node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="c"))
    guards = pod("a", node="n1", anti_affinity=(PodAffinityTerm(zone, selector(app="x")),))
    near = pod("x", anti_affinity=(PodAffinityTerm(zone, selector(app="b")),), ports=[80])
    world = cluster(*nodes, guards, pod("b", node="n2"), pod("c", node="n3", ports=[80]), near)
    assert message(world) == (
        "0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, "
        "1 node(s) didn't match pod anti-affinity rules, 1 node(s) didn't satisfy existing pods anti-affinity rules."
    )


def test_a_pod_that_fits_has_no_failure() -> None:
    """Nothing to tell."""
    assert message(cluster(node("n1"), pod("x"))) == ""
