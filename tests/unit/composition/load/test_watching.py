"""The watcher at work over recorded load, in a thread of its own."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.load.watching import LiveObserver, UsageWatch
from rescheduler.extension_points import SnapshotError
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError
from tests.clocks import FakeClock
from tests.unit.composition.recorded_load import answers, recorded_cluster, recorded_policy

STORE = "  store: {path: usage.sqlite}\n"


def one_tick(watch: UsageWatch) -> None:
    """Start it, wait for its first tick, and stop it."""
    ticked = threading.Event()
    watch.start(ticked.set)
    assert ticked.wait(60)
    assert watch.is_running
    watch.stop()
    assert not watch.is_running


def test_it_collects_and_keeps(tmp_path: Path) -> None:
    """A second one goes on with what the first has kept, though its provider is gone."""
    policy, where = recorded_policy(tmp_path, answers(a=20, b=60), STORE), recorded_cluster(tmp_path, "a", "b")
    told: list[str] = []
    first = UsageWatch(policy, where, FakeClock(), told.append)
    one_tick(first)
    (tmp_path / "load.json").unlink()
    second = UsageWatch(policy, where, FakeClock(), told.append)
    one_tick(second)
    for watch in (first, second):
        usage = watch.collected.windows.over(900.0)
        assert usage is not None
        assert usage.percent("cpu").round().tolist() == [20, 60]
    assert len(told) == 1
    assert told[0].startswith("Recorded at ")


def test_without_providers_it_is_wrong_use() -> None:
    """With what to write."""
    with pytest.raises(PolicyError) as caught:
        UsageWatch(Policy(), ClusterOptions(), FakeClock(), print)
    assert str(caught.value).startswith("usage.providers: none; write where load comes from, such as providers: [{")


def test_a_cluster_that_cannot_be_read_is_told_at_once(tmp_path: Path) -> None:
    """Before anything is listened on."""
    policy = recorded_policy(tmp_path, [])
    with pytest.raises(SnapshotError, match="none"):
        UsageWatch(policy, ClusterOptions(filenames=(str(tmp_path / "none.json"),)), FakeClock(), print)


def test_pods_are_read_less_often_than_nodes(tmp_path: Path) -> None:
    """There are many of them; nodes are always those of now."""
    from rescheduler.adapters.kubernetes.client.connection import connect
    from tests.unit.adapters.api_objects import list_of, node_object, pod_object
    from tests.unit.adapters.fake_api_server import Answer, Request, answer, serving

    asked: list[str] = []

    def handle(request: Request) -> Answer:
        asked.append(request.path.rpartition("/")[2])
        return answer(list_of(pod_object()) if request.path.endswith("/pods") else list_of(node_object("n1")))

    with serving(handle) as server:
        clock = FakeClock()
        observe = LiveObserver(connect(str(server.kubeconfig(tmp_path)), read_only=True), clock, 60.0)
        for seconds in (0, 30, 29, 1):
            clock.time += seconds
            seen = observe()
            assert [node.name for node in seen.nodes] == ["n1"]
            assert seen.pods is not None
            assert len(seen.pods) == 1
    assert asked.count("nodes") == 4
    assert asked.count("pods") == 2
