"""Nodes: what they offer, and why one cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.resources import LARGEST_AMOUNT
from tests.unit.adapters.api_objects import api_object, list_of, node_object, read


def test_everything_a_node_says() -> None:
    """Resources, taints, labels, images and state in the model's form."""
    found = node_object(
        allocatable={"cpu": "3920m", "memory": "7Gi", "pods": "110", "nvidia.com/gpu": "2", "hugepages-2Mi": "0"},
        capacity={"cpu": 4, "memory": "8Gi", "pods": "110", "nvidia.com/gpu": "2"},
        images=[{"names": ["a@sha256:1", "a:v1"], "sizeBytes": 7}, {"names": None}],
    )
    found["spec"] = {"unschedulable": True, "taints": [{"key": "k", "effect": "NoExecute", "value": "v"}]}
    (node,) = read(list_of(found)).nodes
    assert dict(node.allocatable) == {"cpu": 3920, "memory": 7 * 2**30, "pods": 110, "nvidia.com/gpu": 2}
    assert dict(node.capacity)["cpu"] == 4000
    assert node.taints == (Taint("k", "v", "NoExecute"),)
    assert node.images == (("a@sha256:1", 7), ("a:v1", 7))
    assert (node.is_unschedulable, node.is_ready, node.problem) == (True, True, None)


@pytest.mark.parametrize(
    ("conditions", "is_ready"),
    [
        (None, True),
        ([{"type": "MemoryPressure", "status": "False"}], True),
        ([{"type": "Ready", "status": "False"}], False),
        ([{"type": "Ready", "status": "Unknown"}], False),
    ],
)
def test_readiness(conditions: Any, is_ready: bool) -> None:
    """Unknown is not ready; a recording without the condition says nothing against the node."""
    assert read(list_of(node_object(conditions=conditions))).nodes[0].is_ready is is_ready


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        ({"allocatable": {}}, "status.allocatable is missing"),
        ({"allocatable": None}, "status.allocatable is missing"),
        ({"allocatable": {"cpu": "0", "pods": "5"}}, "neither cpu nor memory"),
    ],
)
def test_a_node_that_cannot_be_used_says_why(status: dict[str, Any], problem: str) -> None:
    """The problem stands on the node and in a warning."""
    cluster = read(list_of(node_object(**status)))
    assert problem in (cluster.nodes[0].problem or "")
    assert problem in cluster.warnings[0]


def test_allocatable_above_capacity_is_used_as_it_stands() -> None:
    """kube-scheduler looks at allocatable alone (some providers write a capacity that means nothing): a warning."""
    offered = {"cpu": "8", "memory": "1Gi", "pods": "10"}
    cluster = read(list_of(node_object(allocatable=offered, capacity={"cpu": "100m", "memory": "1Gi"})))
    assert (cluster.nodes[0].problem, dict(cluster.nodes[0].allocatable)["cpu"]) == (None, 8000)
    assert cluster.warnings == (
        (
            "Node n1: status.allocatable.cpu is more than status.capacity.cpu; what is allocatable counts, as for "
            "kube-scheduler"
        ),
    )


@pytest.mark.parametrize("amount", ["8Ei", "1e25", "9007199254740993"])
def test_more_than_can_be_counted_is_offered_as_the_most_that_can(amount: str) -> None:
    """Less than what there is promises no room that is not there; the node is used, and it is told."""
    cluster = read(list_of(node_object(allocatable={"cpu": "4", "example.com/tokens": amount, "pods": "10"})))
    assert cluster.nodes[0].problem is None
    assert dict(cluster.nodes[0].allocatable)["example.com/tokens"] == LARGEST_AMOUNT
    assert "status.allocatable.example.com/tokens counts as 4503599627370496" in cluster.warnings[0]


@pytest.mark.parametrize("size", [2**63 - 1, -(2**63), 0])
def test_sizes_of_images_stay_in_bounds(size: int) -> None:
    """The kubelet's number is nobody else's: it is neither negative nor beyond all sums."""
    node = read(list_of(node_object(images=[{"names": ["a", "b"], "sizeBytes": size}]))).nodes[0]
    assert all(0 <= found <= LARGEST_AMOUNT for _, found in node.images)


def test_a_node_without_status_is_no_crash() -> None:
    """Only the name is required."""
    cluster = read(list_of(api_object("Node", "bare")))
    assert cluster.nodes[0].problem == "status.allocatable is missing"


def test_a_node_without_a_number_of_pods_takes_none() -> None:
    """As kube-scheduler has it; the default is named in a warning."""
    cluster = read(list_of(node_object(allocatable={"cpu": "4", "memory": "1Gi"})))
    assert cluster.nodes[0].problem is None
    assert "allocatable.pods is missing or 0" in cluster.warnings[0]


def test_offers_are_rounded_down() -> None:
    """Capacity never grows by rounding."""
    cluster = read(list_of(node_object(allocatable={"cpu": "1.9999", "memory": "1.5", "pods": "1"})))
    assert dict(cluster.nodes[0].allocatable) == {"cpu": 1999, "memory": 1, "pods": 1}


def test_nodes_are_sorted_by_name() -> None:
    """Whatever the order in the recording."""
    cluster = read(list_of(*(node_object(name) for name in ("b", "c", "a"))))
    assert [node.name for node in cluster.nodes] == ["a", "b", "c"]


def test_addresses_by_which_sources_of_load_call_a_node() -> None:
    """In the order given; those without an address are left out, and none at all is fine."""
    addresses = [
        {"type": "InternalIP", "address": "10.0.0.1"},
        {"type": "Hostname", "address": "n1"},
        {"type": "ExternalIP", "address": ""},
        {"address": "fd00::1"},
    ]
    (node,) = read(list_of(node_object(addresses=addresses))).nodes
    assert node.addresses == (("InternalIP", "10.0.0.1"), ("Hostname", "n1"), ("", "fd00::1"))
    assert read(list_of(node_object())).nodes[0].addresses == ()
