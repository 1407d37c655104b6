"""Domains: which nodes share a value of a topology key; amounts: no sum is beyond 64 bits, no row is of nobody."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.columns import MOST_UNOFFERED, UNOFFERED, Domains, columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import LARGEST_AMOUNT
from tests.builders import cluster, node, pod

DOMAINS = Domains(
    [node("n1", labels={"rack": "b"}), node("n2"), node("n3", labels={"rack": "a"}), node("n4", labels={"rack": "b"})]
)


def test_values_are_numbered_in_order_and_absent_ones_are_nowhere() -> None:
    """An unknown key leaves every node without a domain."""
    codes, values = DOMAINS.of("rack")
    assert (codes.tolist(), values) == ([1, -1, 0, 1], ("a", "b"))
    codes, values = DOMAINS.of("unknown")
    assert (codes.tolist(), values) == ([-1] * 4, ())


def test_reach_is_through_shared_values_only() -> None:
    """Nodes without the key share nothing, not even with each other."""
    assert DOMAINS.reach("rack", np.array([0, 1], dtype=np.int32)).tolist() == [True, False, False, True]
    assert DOMAINS.reach("rack", np.array([1], dtype=np.int32)).tolist() == [False] * 4
    assert DOMAINS.reach("unknown", np.array([0, 1, 2, 3], dtype=np.int32)).tolist() == [False] * 4
    assert DOMAINS.reach("rack", np.zeros(0, dtype=np.int32)).tolist() == [False] * 4


def test_totals_count_every_entry_of_a_domain_with_its_weight() -> None:
    """A node that is given twice counts twice."""
    nodes = np.array([0, 0, 3, 1, 2], dtype=np.int32)
    assert DOMAINS.totals("rack", nodes).tolist() == [3, 0, 1, 3]
    assert DOMAINS.totals("rack", nodes, -5).tolist() == [-15, 0, -5, -15]


def test_no_sum_over_pods_is_beyond_64_bits() -> None:
    """Thousands that each ask for the most that is counted leave no room behind where there is none."""
    most = str(LARGEST_AMOUNT)
    many = [pod(f"p-{number}", cpu="0", memory=most, node="full") for number in range(5000)]
    found = Placement(columns_of(cluster(node("full"), node("vast", memory=most), pod("x-0"), *many)))
    row = found.columns.resource_index["memory"]
    assert (found.free()[row] < 0).tolist() == [True, False]
    assert (found.used >= 0).all()
    assert (found.columns.requests[row] <= found.columns.ceiling[row]).all()


def test_amounts_that_can_be_added_are_as_written() -> None:
    """One pod may ask for the most that is counted, and counts as much."""
    found = columns_of(cluster(node("n"), pod("x-0", memory=str(LARGEST_AMOUNT))))
    assert found.requests[found.resource_index["memory"]].tolist() == [LARGEST_AMOUNT]


def test_resources_that_no_node_has_take_little_room() -> None:
    """Whoever asks for thousands of them makes no row of each; what others ask for keeps its own."""
    odd = {f"example.com/{number}": str(number + 1) for number in range(5000)}
    pods = [pod("odd-0", extended=odd), *(pod(f"x-{number}", extended={"other.com/gpu": "2"}) for number in range(2))]
    found = columns_of(cluster(node("n", extended={"example.com/7": "3"}), *pods))
    assert len(found.resources) <= MOST_UNOFFERED + 6
    assert "example.com/7" in found.resources
    assert (found.requests[found.resource_index[UNOFFERED]] > 0).tolist() == [True, False]
    assert not found.allocatable[found.resource_index[UNOFFERED]].any()
