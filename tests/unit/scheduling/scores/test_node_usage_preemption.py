"""Which pods on hot nodes give way, and for which nodes."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings

from rescheduler.model.usage.usage import UsageWindows
from rescheduler.scheduling.scores.node_usage import NodeUsage
from rescheduler.scheduling.scores.node_usage_preemption import cooler_nodes, hottest_first
from tests.builders import cluster, node, pod
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.random_usage import Measured, measured


def test_a_pod_may_only_go_where_it_is_cooler_by_the_margin() -> None:
    """With 20 points of its own, from 80 percent: to 54 percent it may, to 56 not, nor to its own node."""
    world = cluster(*(node(name, cpu="10") for name in "abc"), pod("old", cpu="2", memory="0", node="a"))
    use = {"cpu": np.array([2000.0])}
    loads = {"a": 80.0, "b": 54.0, "c": 56.0}
    plugin = NodeUsage(UsageWindows({300.0: usages.usage(world, loads, dict.fromkeys("abc", 0.0), pod_use=use)}))
    assert cooler_nodes(0, usages.placement(world), plugin).tolist() == [False, True, False]
    assert cooler_nodes(0, usages.placement(world), plugin, margin=1).tolist() == [False, True, True]


def test_pods_on_hotter_nodes_give_way_first() -> None:
    """A pending pod comes last, pods of one node in their own order; pending ones go nowhere cooler."""
    world = cluster(node("a"), node("b"), pod("p0", node="b"), pod("p1", node="a"), pod("p2"), pod("p3", node="a"))
    plugin = NodeUsage(UsageWindows({300.0: usages.usage(world, {"a": 90.0, "b": 30.0}, {"a": 0.0, "b": 0.0})}))
    place = usages.placement(world)
    assert hottest_first(range(4), place, plugin) == [1, 3, 0, 2]
    assert not cooler_nodes(2, place, plugin).any()


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(world=measured())
def test_every_cooler_node_was_cooler_before(world: Measured) -> None:
    """In the pod's own resource the node's load without the pod is below that of its present one by the margin."""
    plugin = NodeUsage(UsageWindows({300.0: world.usage}))
    shares = plugin.composites(world.placement)
    for number in range(world.placement.columns.pod_count):
        origin = int(world.placement.node_of[number])
        for place in np.flatnonzero(cooler_nodes(number, world.placement, plugin)):
            assert (shares[:, place] < shares[:, origin] - 0.05).any()
