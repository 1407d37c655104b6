"""The mirror on a real API server: it holds what a fresh reading finds, whatever happens to the server."""

from __future__ import annotations

import json
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import pytest

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.kinds import KINDS
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.kubernetes.watch.list_and_watch import WatchSettings
from rescheduler.adapters.kubernetes.watch.mirror import MIRROR_SETTINGS, Mirror
from rescheduler.model.objects.cluster import Cluster as Snapshot
from tests.cluster.cluster import Cluster
from tests.cluster.shapes import daemon_set, deployment, disruption_budget, namespace, priority_class, resource_quota
from tests.cluster.waiting import wait_until


@contextmanager
def mirrored(cluster: Cluster, settings: WatchSettings = MIRROR_SETTINGS) -> Iterator[tuple[Mirror, Connection]]:
    """A mirror of the cluster that has synced, and its connection."""
    connection = connect(str(cluster.control_plane.kubeconfig), read_only=True)
    mirror = Mirror(connection, SystemClock(), settings=settings)
    mirror.start()
    try:
        assert mirror.wait_synced(60.0), mirror.kinds_out_of_sync()
        yield mirror, connection
    finally:
        assert mirror.stop(30.0)


def differing(found: Snapshot, wanted: Snapshot) -> list[str]:
    """Fields in which two snapshots differ, but for the time; warnings may come in another order."""
    names = [field.name for field in fields(Snapshot) if field.name not in ("taken_at", "warnings")]
    differences = [name for name in names if getattr(found, name) != getattr(wanted, name)]
    return differences + ([] if sorted(found.warnings) == sorted(wanted.warnings) else ["warnings"])


def wait_until_equal(mirror: Mirror, connection: Connection, holds: Callable[[Snapshot], bool]) -> Snapshot:
    """Wait until the mirror shows what is wanted of it and equals a fresh reading; the snapshot."""
    last: list[Any] = []

    def is_equal() -> bool:
        found, fresh = mirror.snapshot(), LiveReader(connection).read()
        last[:] = [differing(found, fresh), mirror.kinds_out_of_sync(), found]
        return not last[0] and holds(found)

    wait_until(is_equal, lambda: f"the mirror to equal a reading: {last[:2]}", timeout_seconds=60.0)
    found: Snapshot = last[2]
    return found


def of_etcd(cluster: Cluster, call: str, **body: Any) -> dict[str, Any]:
    """Ask etcd itself, behind the API server's back."""
    request = urllib.request.Request(f"{cluster.control_plane.etcd}/v3/{call}", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


@pytest.mark.parametrize("is_streaming", [True, False], ids=["streamed", "paged"])
def test_it_equals_a_reading_through_all_changes(cluster: Cluster, is_streaming: bool) -> None:
    """First sync by a streamed list or by pages; then objects of many kinds come, change and go."""
    names = cluster.add_nodes(2)
    cluster.add_nodes(1, "closed", taints=[{"key": "example.com/closed", "effect": "NoSchedule"}])
    cluster.create(deployment("web", replicas=4), priority_class("fast", 1000))
    cluster.wait_pods_running(4)
    with mirrored(cluster, MIRROR_SETTINGS._replace(is_streaming=is_streaming)) as (mirror, connection):
        wait_until_equal(mirror, connection, lambda found: len(found.pods) == 4)
        cluster.create(
            namespace("team"), daemon_set("agent", "team"), disruption_budget("web", minAvailable=3),
            resource_quota("all", "team", pods="10"), deployment("big", cpu="100"),
        )  # fmt: skip
        cluster.api.patch("nodes", names[0], {"spec": {"unschedulable": True}})
        cluster.api.delete("nodes", "closed-0")
        wait_until_equal(
            mirror, connection,
            lambda found: len(found.nodes) == 2 and len(found.quotas) == 1 and len(found.pending_pods) >= 1,
        )  # fmt: skip
        cluster.api.delete("namespaces", "team")
        cluster.api.patch("deployments", "web", {"spec": {"replicas": 1}}, "default")
        wait_until_equal(
            mirror, connection,
            lambda found: not found.quotas and len([pod for pod in found.pods if "web" in pod.name]) == 1,
        )  # fmt: skip


def test_snapshots_tell_the_servers_time(cluster: Cluster) -> None:
    """Within a second and a half of what the server says, and never older than its newest object."""
    with mirrored(cluster) as (mirror, connection):
        cluster.create(deployment("web"))
        connection.get("/version")
        assert connection.server_time is not None
        assert abs(mirror.snapshot().taken_at - connection.server_time) < 1.5
        assert mirror.age_seconds() < 60.0


@pytest.mark.parametrize("gracefully", [True, False], ids=["restarted", "killed"])
def test_it_takes_up_where_it_stopped(cluster: Cluster, gracefully: bool) -> None:
    """The API server goes and comes back: snapshots go on meanwhile, and then show what came later."""
    cluster.add_nodes(2)
    with mirrored(cluster) as (mirror, connection):
        if not gracefully:
            cluster.control_plane.kill("kube-apiserver")
            wait_until(lambda: len(mirror.kinds_out_of_sync()) >= len(KINDS), "all watches to be interrupted")
            assert len(mirror.snapshot().nodes) == 2
        cluster.control_plane.restart("kube-apiserver", gracefully=gracefully)
        cluster.create(deployment("web", replicas=2))
        wait_until_equal(mirror, connection, lambda found: len(found.pods) == 2)
        wait_until(lambda: not mirror.kinds_out_of_sync(), "all watches to go on")


def test_what_vanished_behind_its_back_is_gone(cluster: Cluster) -> None:
    """Changes that no watch will ever tell (410): the list is read again, and shows that a pod is no more."""
    cluster.add_nodes(2)
    cluster.create(deployment("web", replicas=2))
    cluster.wait_pods_running(2)
    plane = cluster.control_plane
    with mirrored(cluster) as (mirror, connection):
        victim = wait_until_equal(mirror, connection, lambda found: len(found.pods) == 2).pods[0]
        for name in ("kube-controller-manager", "kube-apiserver"):
            plane.kill(name)
        key = b64encode(f"/registry/pods/default/{victim.name}".encode()).decode()
        revision = of_etcd(cluster, "kv/deleterange", key=key)["header"]["revision"]
        of_etcd(cluster, "kv/compaction", revision=revision)
        plane.restart("kube-apiserver")
        wait_until_equal(mirror, connection, lambda found: victim.name not in {pod.name for pod in found.pods})


def test_a_frozen_server_is_found_out(cluster: Cluster) -> None:
    """It keeps every connection and says nothing: the watches notice, and go on once it speaks again."""
    cluster.add_nodes(1)
    with mirrored(cluster, MIRROR_SETTINGS._replace(silence_seconds=3.0)) as (mirror, connection):
        cluster.control_plane.pause("kube-apiserver")
        try:
            wait_until(lambda: "Pod" in mirror.kinds_out_of_sync(), "the silence to be noticed")
            assert "did not answer" in mirror.kinds_out_of_sync()["Pod"]
        finally:
            cluster.control_plane.resume("kube-apiserver")
        cluster.create(deployment("web"))
        wait_until_equal(mirror, connection, lambda found: len(found.pods) == 1)
