"""``autoscaler.firstTry`` beside a real Karpenter: a rearrangement or a purchase, and never both."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import daemon
from tests.cluster.karpenter.first_try_scene import FIRST_TRY, HELPED, HELPLESS, Tried, TwoMachines, buy_two
from tests.cluster.karpenter.lab import karpenter
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

HOLDS, LEDGER = "rescheduler-holds", "rescheduler-ledger"
REARRANGED = (0, 1)
"""Machines made and evictions."""
BOUGHT = (1, 0)
ATTEMPTS, OFTEN = 10, 9


@pytest.fixture
def scene(cluster: Cluster, tool: Tool) -> Iterator[TwoMachines]:
    """Two machines of four processors, and the daemon beside Karpenter."""
    with karpenter(cluster.control_plane) as lab:
        lab.add_pool(cpu=["4"])
        nodes = buy_two(cluster)
        with daemon(tool, "--policy", tool.policy(FIRST_TRY)) as process:
            process.wait_for("policy loaded")
            wait_until(lambda: LEDGER in config_maps(cluster), "the ledger, after which tries may come")
            yield TwoMachines(cluster, lab, process, nodes)
            assert process.stop() == 0, process.told()
            tool.assert_nothing_left()


def config_maps(cluster: Cluster) -> set[str]:
    """Those of the hold namespace, by name."""
    return {one["metadata"]["name"] for one in cluster.api.list("configmaps", HOLDS)}


def way(tried: Tried) -> tuple[int, int]:
    """Machines made and evictions, of which there is always just one of one kind."""
    return tried.machines, tried.evictions


@pytest.mark.campaign
@pytest.mark.timeout(900, func_only=True)
def test_a_pod_is_helped_by_one_eviction_or_by_a_machine_and_never_by_both(scene: TwoMachines) -> None:
    """Where one eviction helps, no NodeClaim is made: in one of three tries, since a busy machine may take its time.

    A pod that no rearrangement helps is not touched by us, and gets its machine.
    """
    ways = []
    while REARRANGED not in ways and len(ways) < 3:
        scene.crowd()
        ways.append(way(scene.tried(HELPED)))
        scene.clear()
    assert ways[-1] == REARRANGED, scene.process.told()
    assert set(ways) <= {REARRANGED, BOUGHT}
    scene.crowd()
    assert scene.tried(HELPLESS) == Tried(machines=1, evictions=0, nominations=0)


@pytest.mark.campaign
@pytest.mark.timeout(1800, func_only=True)
def test_nine_of_ten_pods_that_one_eviction_helps_have_no_machine_made(scene: TwoMachines) -> None:
    """And none is helped both ways."""
    ways = []
    for _ in range(ATTEMPTS):
        scene.crowd()
        ways.append(way(scene.tried(HELPED)))
        scene.clear()
    assert set(ways) <= {REARRANGED, BOUGHT}, ways
    assert ways.count(REARRANGED) >= OFTEN, ways


@pytest.mark.campaign
@pytest.mark.timeout(1800, func_only=True)
def test_a_pod_that_nothing_helps_has_its_machine_hardly_later_than_without_us(scene: TwoMachines) -> None:
    """Its NodeClaim comes at most a second later, by the medians of five pods each."""
    beside_us = median(bought(scene))
    assert scene.process.stop() == 0, scene.process.told()
    alone = median(bought(scene))
    assert beside_us - alone <= 1.0, (beside_us, alone)


def bought(scene: TwoMachines) -> Iterator[float]:
    """Seconds until a machine is bought, of several pods one after the other."""
    for _ in range(5):
        scene.crowd()
        yield scene.seconds_until_bought()
        scene.clear()
