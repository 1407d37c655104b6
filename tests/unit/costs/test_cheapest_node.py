"""The cheapest node for a pod: of those that there are, and of the machines that might be bought."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.costs.cheapest_node import cheapest_for
from rescheduler.model.objects.constraints import Toleration
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, pod, taint
from tests.unit.costs.test_machines import TYPE, owned, policy, row

TABLE = policy(row("large", 9.0, 8), row("small", 3.0, 2), row("medium", 5.0, 4))


@pytest.mark.parametrize(
    ("fields", "price"),
    [
        ({"cpu": "1"}, 3.0),
        ({"cpu": "3"}, 5.0),
        ({"cpu": "7"}, 9.0),
        ({"cpu": "20"}, None),
        ({"cpu": "1", "node_selector": ((TYPE, "large"),)}, 9.0),
        ({"cpu": "1", "node_selector": (("disk", "ssd"),)}, None),
    ],
)
def test_it_is_the_cheapest_that_takes_the_pod(fields: dict[str, Any], price: float | None) -> None:
    """By size and by the labels that the pod asks for."""
    assert cheapest_for([pod("big-0", **fields)], cluster(owned("n1")), TABLE) == price


def test_of_several_pods_the_cheapest_node_of_any_counts() -> None:
    """What is rearranged for all of them is to be worth it for the least of them."""
    pods = [pod("big-0", "7"), pod("big-1", "1")]
    assert cheapest_for(pods, cluster(owned("n1")), TABLE) == 3.0


def test_nodes_that_shut_the_pod_out_are_none() -> None:
    """Unless it tolerates what shuts it out."""
    world = cluster(owned("n1", taints=[taint("team")]))
    assert cheapest_for([pod("big-0")], world, TABLE) is None
    tolerant = pod("big-0", tolerations=(Toleration("team", "Exists", "", "NoSchedule"),))
    assert cheapest_for([tolerant], world, TABLE) == 3.0


def test_without_prices_nothing_is_known() -> None:
    """And nothing has to be cheaper."""
    assert cheapest_for([pod("big-0")], cluster(owned("n1")), Policy()) is None
