"""The mirror as a whole: when it knows enough, how old that is, and what it says otherwise."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, NotServedError
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME, KINDS
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.notices import Notice, SyncChanged
from tests.clocks import FakeClock
from tests.unit.adapters.api_objects import node_object, pod_object
from tests.unit.adapters.kubernetes.watch.watched_server import Asked, WatchedServer

PODS, NODES = KIND_BY_NAME["Pod"].path, KIND_BY_NAME["Node"].path


class Scene:
    """A server with a node and a pod, and a mirror of it that moves by hand."""

    def __init__(self, **options: Any) -> None:
        self.server, self.clock, self.heard = WatchedServer(), FakeClock(), list[Notice]()
        self.server.put(NODES, node_object())
        self.server.put(PODS, pod_object())
        self.mirror = Mirror(
            self.server,  # type: ignore[arg-type] # stands in for a Connection
            self.clock, hear=self.heard.append, **options,
        )  # fmt: skip

    def refuse(self, kind: str, error: ClusterError) -> None:
        """Refuse all requests for a kind."""
        path = KIND_BY_NAME[kind].path

        def fault(asked: Asked) -> None:
            if asked.path == path:
                raise error

        self.server.faults.append(fault)

    def turn(self, *kinds: str) -> None:
        """Let these watches, or all, and the polling move once."""
        for kind in kinds or [kind.name for kind in KINDS]:
            self.mirror.reflectors[kind].follow_once()
        self.mirror.polling.poll()


def test_nothing_is_shown_before_everything_was_read() -> None:
    """Half a cluster is no cluster: the kinds that are missing are named."""
    scene = Scene()
    scene.turn(*(kind.name for kind in KINDS if kind.name not in ("Node", "Job")))
    assert not scene.mirror.has_synced
    assert scene.mirror.age_seconds() == float("inf")
    with pytest.raises(ClusterError, match="not everything has been read yet: Node: no answer yet; Job: no answer yet"):
        scene.mirror.snapshot()
    assert set(scene.mirror.kinds_out_of_sync()) == {"Node", "Job"}
    scene.turn("Node", "Job")
    assert scene.mirror.has_synced
    assert [pod.name for pod in scene.mirror.snapshot().pods] == ["a"]
    assert scene.mirror.kinds_out_of_sync() == {}


def test_there_is_one_watch_for_each_kind() -> None:
    """Their number does not depend on the cluster's size."""
    scene = Scene()
    for number in range(20):
        scene.server.put(PODS, pod_object(str(number), namespace=f"ns-{number}"))
    scene.turn()
    watches = [asked.path for asked in scene.server.asked if asked.how == "watch" and not asked.is_streamed_list]
    assert sorted(watches) == sorted(kind.path for kind in KINDS)


def test_a_snapshot_says_where_and_when_it_was_taken() -> None:
    """Time is the server's own, running on; version and source are told."""
    scene = Scene()
    scene.server.server_time = 1_900_000_000.0
    scene.turn()
    scene.clock.time += 12.0
    found = scene.mirror.snapshot()
    assert (found.taken_at, found.source, found.server_version) == (1_900_000_012.0, "https://cluster", "v1.36.3")


def test_kinds_that_may_be_missing_are() -> None:
    """An API that is not served has no objects; quotas that we may not see are warned of, as for a reader."""
    scene = Scene()
    scene.refuse("PodDisruptionBudget", NotServedError("no such thing"))
    scene.refuse("ResourceQuota", ForbiddenError("not for you"))
    scene.turn()
    found = scene.mirror.snapshot()
    assert (found.budgets, found.quotas) == ((), ())
    assert found.warnings == ("whether quotas leave room for replacements is not known: not for you",)
    assert scene.mirror.kinds_out_of_sync() == {}
    assert scene.mirror.age_seconds() == 0.0


def test_a_kind_that_few_servers_have_is_not_missed_while_the_server_is_away() -> None:
    """NodePools that were not served are none; where nobody has answered yet they are waited for like any kind."""
    scene = Scene()
    scene.refuse("NodePool", NotServedError("no such thing"))
    scene.turn()
    assert scene.mirror.snapshot().node_pools == ()
    scene.refuse("NodePool", ClusterError("down"))
    scene.turn()
    assert scene.mirror.snapshot().node_pools == ()
    fresh = Scene()
    fresh.refuse("NodePool", ClusterError("down"))
    fresh.turn()
    with pytest.raises(ClusterError, match="NodePool: down"):
        fresh.mirror.snapshot()


@pytest.mark.parametrize(
    ("kind", "error"),
    [("Pod", NotServedError("where are we?")), ("Pod", ForbiddenError("no")), ("Service", ForbiddenError("no"))],
)
def test_kinds_that_decide_may_not_be_missing(kind: str, error: ClusterError) -> None:
    """Without them no snapshot is taken, with the server's reason."""
    scene = Scene()
    scene.refuse(kind, error)
    scene.turn()
    with pytest.raises(ClusterError, match=f"{kind}: {error}"):
        scene.mirror.snapshot()


def test_a_right_that_is_taken_away_ends_the_snapshots() -> None:
    """What nobody shows us any more is not taken for what there is."""
    scene = Scene()
    scene.turn()
    scene.refuse("Pod", ForbiddenError("not any more"))
    for _ in range(3):
        scene.turn("Pod")
    with pytest.raises(ClusterError, match="Pod: not any more"):
        scene.mirror.snapshot()


def test_an_outage_leaves_the_last_state_and_its_age() -> None:
    """While the server is away snapshots go on, and grow old; who is not followed is told."""
    scene = Scene()
    scene.turn()
    scene.refuse("Node", ClusterError("connection refused"))
    for _ in range(4):
        scene.clock.time += 30.0
        scene.turn()
    assert scene.mirror.has_synced
    assert scene.mirror.age_seconds() == 120.0
    assert scene.mirror.kinds_out_of_sync() == {"Node": "connection refused"}
    assert len(scene.mirror.snapshot().nodes) == 1
    told = [(notice.kind, notice.is_synced) for notice in scene.heard if isinstance(notice, SyncChanged)]
    assert told[len(KINDS) :] == [("Node", False)]


def test_an_object_that_cannot_be_used_is_set_aside() -> None:
    """It holds room on its node, which is then neither source nor target; once it is gone all is well."""
    scene = Scene()
    scene.server.put(PODS, pod_object("odd", containers=[]))
    scene.turn()
    seen = scene.mirror.snapshot()
    assert [pod.name for pod in seen.pods] == ["a", "odd"]
    assert [item.key for item in seen.set_aside] == ["default/odd"]
    assert seen.nodes[0].problem == "what pod default/odd on it asks for cannot be counted"
    scene.server.remove(PODS, "odd", "default")
    scene.turn("Pod")
    seen = scene.mirror.snapshot()
    assert ([pod.name for pod in seen.pods], seen.nodes[0].problem, seen.set_aside) == (["a"], None, ())


def test_the_generation_grows_with_changes_alone() -> None:
    """Nobody is woken by a watch that begins anew with nothing to tell."""
    scene = Scene()
    scene.turn()
    before = scene.mirror.generation
    scene.turn()
    assert scene.mirror.generation == before
    scene.server.put(PODS, pod_object("b"))
    scene.turn("Pod")
    assert scene.mirror.generation == before + 1


def test_named_config_maps_are_in_the_snapshot() -> None:
    """They are read now and then; one that is missing is an error that names it, and the others wait for it."""
    scene = Scene(config_maps=["kube-system/scheduler"])
    scene.turn()
    with pytest.raises(ClusterError, match="there is no ConfigMap kube-system/scheduler"):
        scene.mirror.snapshot()
    reading = scene.server.get

    def get(path: str, params: Any = None) -> bytes:
        return b'{"data": {"config": "x"}}' if path.endswith("/configmaps/scheduler") else reading(path, params)

    scene.server.get = get  # type: ignore[method-assign]
    scene.turn()
    assert scene.mirror.snapshot().config_maps == {"kube-system/scheduler": {"config": "x"}}
    scene.server.get = reading  # type: ignore[method-assign]
    generation = scene.mirror.generation
    scene.turn()
    assert scene.mirror.snapshot().config_maps == {"kube-system/scheduler": {"config": "x"}}
    assert "no ConfigMap" in scene.mirror.kinds_out_of_sync()["version and ConfigMaps"]
    assert scene.mirror.generation > generation


def test_it_runs_and_stops_in_threads_of_its_own() -> None:
    """Started, it gets to know the cluster; stopped, no thread of it is left."""
    scene = Scene()
    scene.mirror.start()
    try:
        assert scene.mirror.wait_synced(60.0)
        assert len(scene.mirror.read().nodes) == 1
    finally:
        assert scene.mirror.stop(60.0)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("watch-")]


def test_what_a_round_may_be_wanted_for_is_told_at_once() -> None:
    """A pod that turns unschedulable, and a node that comes; not what was there when everything was read."""
    stirs: list[str] = []
    scene = Scene(stirred=lambda: stirs.append("stirred"))
    scene.turn()
    assert stirs == []
    scene.server.put(PODS, pod_object("calm"))
    scene.server.put(NODES, node_object("b"))
    scene.turn()
    assert stirs == ["stirred"]
    waiting = pod_object("big")
    waiting["spec"].pop("nodeName", None)
    waiting["status"] = {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
    }
    scene.server.put(PODS, waiting)
    scene.turn()
    assert stirs == ["stirred", "stirred"]
