"""Machines of the table of prices: which could stand in for nodes, and what their nodes are like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from rescheduler.costs.machines import MachineOffers, machine_of, machines_like, unjudged_told
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.machine import Machine
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Requirement
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.node_pool import NodePool
from rescheduler.model.objects.resources import resources
from rescheduler.model.prices import PriceRow, PriceTable
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, taint

TYPE, CAPACITY, POOL = "node.kubernetes.io/instance-type", "karpenter.sh/capacity-type", "karpenter.sh/nodepool"


def row(name: str | None, price: float, cpu: int = 4, *place: str | None, sized: bool = True) -> PriceRow:
    """``place``: capacity type, zone, pool."""
    size = resources({"cpu": cpu * 1000, "memory": cpu * 2**32}.items()) if sized else ()
    return PriceRow((name, *place, *[None] * (3 - len(place))), price, size)


def policy(*rows: PriceRow, **prices: Any) -> Policy:
    """One whose table of monthly prices has these rows."""
    given = Policy.model_validate({"prices": {"file": "prices.json", **prices}})
    return given.model_copy(update={"prices": given.prices.with_table(PriceTable(rows, "USD", "month"))})


def owned(name: str, kind: str = "large", capacity: str = "on-demand", pool: str = "web", **fields: Any) -> Node:
    """A node of a pool."""
    labels = {TYPE: kind, CAPACITY: capacity, POOL: pool, **fields.pop("labels", {})}
    return node(name, "8", labels=labels, zone=fields.pop("zone", "a"), **fields)


def offered(world: Cluster, asked: Policy, keys: Iterable[str] = (), below: float = 1000.0) -> MachineOffers:
    """In place of all nodes."""
    return machines_like(world.nodes, world, asked, keys=tuple(keys), below=below)


def names(found: MachineOffers) -> list[str]:
    """What is offered, in words."""
    return [machine.told for machine in found.machines]


def test_what_a_row_leaves_open_is_as_on_the_nodes() -> None:
    """Capacity type, zone and pool; rows of other pools, without type or size, are none."""
    world = cluster(owned("n1"), owned("n2", zone="b"))
    asked = policy(
        row("small", 3.0), row("odd", 1.0, 4, None, None, "other"), row("bare", 1.0, sized=False),
        row(None, 1.0, 4, None, "a"),
    )  # fmt: skip
    assert names(offered(world, asked)) == ["small (on-demand, a, web)", "small (on-demand, b, web)"]


def test_the_closest_row_tells_the_price() -> None:
    """As it does for nodes that there are."""
    world = cluster(owned("n1"))
    asked = policy(row("small", 3.0), row("small", 2.0, 4, "on-demand", "a", sized=False))
    [machine] = offered(world, asked).machines
    assert (machine.price, dict(machine.resources)["cpu"]) == (2.0, 4000)


def test_dearer_ones_of_no_greater_size_are_left_out() -> None:
    """Nor those that cost as much as the nodes do; unless pods look at what tells them apart."""
    world = cluster(owned("n1"))
    asked = policy(row("small", 3.0), row("dear", 4.0), row("big", 5.0, 8), row("huge", 1000.0, 99))
    assert names(offered(world, asked)) == ["small (on-demand, a, web)", "big (on-demand, a, web)"]
    told = offered(world, asked, [TYPE])
    assert [machine.place[0] for machine in told.machines] == ["small", "dear", "big"]


def test_a_capacity_type_that_no_node_has_is_not_offered() -> None:
    """Unless the pool's requirements speak of it."""
    rows = row("small", 1.0, 4, "spot"), row("small", 3.0, 4, "on-demand")
    assert names(offered(cluster(owned("n1")), policy(*rows))) == ["small (on-demand, a, web)"]
    both = NodePool("web", requirements=(Requirement(CAPACITY, "In", ("spot", "on-demand")),))
    world = cluster(owned("n1"), node_pools=(both,))
    assert names(offered(world, policy(*rows))) == ["small (spot, a, web)", "small (on-demand, a, web)"]


def test_what_the_pool_may_not_buy_is_not_offered() -> None:
    """Types that its requirements exclude; what a table does not tell is told instead."""
    pool = NodePool(
        "web", requirements=(Requirement(TYPE, "NotIn", ("small",)), Requirement("example.com/family", "In", ("c",)))
    )
    world = cluster(
        owned("n1", labels={"example.com/family": "m"}), owned("n2", "mid", labels={"example.com/family": "c"}),
        node_pools=(pool,),
    )  # fmt: skip
    found = offered(world, policy(row("small", 1.0), row("large", 2.0, 5), row("mid", 3.0, 6), row("new", 4.0, 7)))
    assert [machine.place[0] for machine in found.machines] == ["mid", "new"]
    [told] = unjudged_told(found)
    assert told.startswith("NodePool web asks for example.com/family, which a table of prices does not tell: ")


def test_its_node_is_like_one_of_the_type_or_like_what_the_pool_has_in_common() -> None:
    """With taints that last, and without the name of a host or a price of its own."""
    last, passing = taint("dedicated"), taint("node.kubernetes.io/not-ready")
    world = cluster(
        owned("n1", labels={"size": "l", "team": "x", "price": "7"}, taints=[last, passing]),
        owned("n2", "mid", labels={"size": "m", "team": "x", "price": "8"}),
    )
    found = offered(world, policy(row("small", 1.0, 2), row("mid", 2.0), label="price", per="month"))
    machines: dict[str | None, Machine] = {machine.place[0]: machine for machine in found.machines}
    new, known = machines["small"], machines["mid"]
    shared = {CAPACITY: "on-demand", POOL: "web", "team": "x", "topology.kubernetes.io/zone": "a"}
    assert new.labels == {TYPE: "small", **shared}
    assert known.labels == {TYPE: "mid", "size": "m", **shared}
    assert (new.taints, known.taints, known.sample) == ((last,), (), "n2")
    assert (new.price, dict(new.resources)["pods"]) == (1.0, 110)


def test_a_type_that_is_named_is_looked_up() -> None:
    """With what all nodes have in common where nothing is said; what the table does not know is refused."""
    world = cluster(owned("n1"), owned("n2", zone="b"))
    asked = policy(
        row("small", 3.0), row("small", 2.0, 4, "spot"), row("bare", 1.0, sized=False), row(None, 9.0, 4, None, "a")
    )
    machine = machine_of(("small", None, None, None), world, asked)
    assert (machine.told, machine.price) == ("small (on-demand, web)", 3.0)
    assert machine_of(("small", "spot", "b", None), world, asked).told == "small (spot, b, web)"
    assert machine_of(("small", "spot", None, None), cluster(), asked).price == 2.0
    with pytest.raises(ReschedulerError, match="type:bare: its row in the table of prices says no resources"):
        machine_of(("bare", None, None, None), world, asked)
    for zone in (None, "a"):
        with pytest.raises(ReschedulerError, match="type:gone: the table of prices has no row for it"):
            machine_of(("gone", None, zone, None), world, asked)
