"""Room stays kept through what happens to a scheduler and to long terminations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.guidance.holds import HoldKeeper
from rescheduler.extension_points import HoldRequest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.scenes import add_node
from tests.cluster.shapes import pod
from tests.cluster.tool import HOLDS
from tests.cluster.waiting import wait_until

REQUEST = HoldRequest("hold-a-0", "n0", (("cpu", 3000),), "", "default-scheduler", 60, "a")


@pytest.fixture
def keeper(cluster: Cluster) -> Iterator[HoldKeeper]:
    """Placeholders on a cluster of one node with 4 CPU."""
    add_node(cluster, "n0", cpu="4")
    connection = connect(str(cluster.control_plane.kubeconfig), read_only=False)
    found = HoldKeeper(connection, HOLDS, SystemClock())
    yield found
    found.release([REQUEST.name])


def gets_a_node(cluster: Cluster, name: str) -> bool:
    """Create a pod of 2 CPU and wait for the scheduler's verdict."""
    cluster.create(pod(name, cpu="2"))
    wait_until(
        lambda: condition(cluster.api.get("pods", name, "default"), "PodScheduled") in ("True", "False"),
        "the scheduler's verdict",
    )
    return bool(cluster.node_of(name))


def test_renewing_restores_what_a_restarted_scheduler_forgot(cluster: Cluster, keeper: HoldKeeper) -> None:
    """Once the new scheduler is up, the next renewal lets it count the placeholder again."""
    keeper.hold([REQUEST])
    assert not gets_a_node(cluster, "early")
    cluster.api.delete("pods", "early", "default")
    cluster.control_plane.restart("kube-scheduler")
    numbers = itertools.count()

    def is_kept_again() -> bool:
        assert keeper.renew([REQUEST]) == []
        name = f"late-{next(numbers)}"
        got_in = gets_a_node(cluster, name)
        cluster.api.delete("pods", name, "default")
        cluster.wait_gone("pods", name, "default")
        return not got_in

    wait_until(is_kept_again, "the room to be kept again", timeout_seconds=10)
