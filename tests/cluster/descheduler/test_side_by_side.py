"""The descheduler's real binary and ours, each in turn on the same small cluster: what the comparison rests on."""

from __future__ import annotations

import pytest

from benchmarks.side_by_side.contenders import descheduler, rescheduler
from benchmarks.side_by_side.cycles import work
from benchmarks.side_by_side.rows import row
from benchmarks.side_by_side.scenes import Scene
from benchmarks.side_by_side.stage import Stage
from benchmarks.side_by_side.workloads import nodes
from tests.cluster.building.descheduler import locate_descheduler
from tests.cluster.cluster import Cluster
from tests.cluster.shapes import daemon_set, deployment


@pytest.fixture(scope="session")
def _binary() -> None:
    """Built before any test's time runs."""
    locate_descheduler()


@pytest.mark.usefixtures("_binary")
def test_both_work_on_the_same_cluster_and_their_evictions_are_counted(cluster: Cluster) -> None:
    """The peer evicts from the emptier nodes; ours lets a waiting pod in by the fewest evictions."""
    agent, web = daemon_set("agent", cpu="50m"), deployment("web", replicas=10, cpu="1500m")
    scene = Scene(nodes(4, "node"), (agent, web), waiting=(deployment("large", cpu="5500m"),))
    peer = descheduler("high", "HighNodeUtilization", {"thresholds": {"cpu": 45, "memory": 45, "pods": 45}})
    stage = Stage(cluster.control_plane)
    picture = stage.first(scene)
    assert sorted(map(picture["web"].count, set(picture["web"]))) == [2, 2, 3, 3]
    found = []
    for contender in (peer, rescheduler("room", {})):
        stage.again(scene, picture, contender.scheduler)
        found.append(row(work(stage.cluster, contender, scene, 0, most_cycles=1)))
    theirs, ours = found
    assert theirs.pending_before == ours.pending_before == 1
    assert (theirs.failed_cycles, ours.failed_cycles) == (0, 0)
    assert theirs.sent > 0
    assert ours.pending == 0
    assert ours.sent == ours.evicted == ours.least_to_admit == 1
    assert ours.refused_by_budget == ours.returned == 0
    assert theirs.peak_megabytes > 20
