"""What the daemon's watches spare the API server, and how they are proven to show the cluster as it stands."""

from __future__ import annotations

import urllib.request
from collections import Counter

import pytest
from prometheus_client.parser import text_string_to_metric_families

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.watch.freshness import Freshness, StaleMirrorError
from rescheduler.adapters.kubernetes.watch.watched_scope import WatchedScope
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, SHORT_LEASE, STRAYS, DaemonProcess, daemon
from tests.cluster.reading.test_mirror import mirrored
from tests.cluster.scenes import fragmented
from tests.cluster.shapes import deployment, disruption_budget
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

POLICY = f"""\
mode: Execute
triggers: [{{name: PendingPods, args: {{olderThan: 0s, debounce: 0s}}}}]
telemetry: {{address: '127.0.0.1:0'}}
{SHORT_LEASE}
{AT_ONCE}
{STRAYS}
"""
WHOLE = ("nodes", "services", "replicasets.apps", "storageclasses.storage.k8s.io")
"""Kinds that are listed with everything else, and never for a single move."""


def test_a_quiet_part_of_the_cluster_is_proven_and_a_lost_watch_is_found_out(cluster: Cluster) -> None:
    """By the real server's own streams: nodes, pods of a node, budgets of a namespace; each alone."""
    (node,) = cluster.add_nodes(1)
    cluster.create(deployment("web", replicas=2), disruption_budget("web", minAvailable=1))
    cluster.wait_pods_running(2)
    parts = [
        WatchedScope("Node", name=node), WatchedScope("Pod", node=node), WatchedScope("Pod", namespace="default"),
        WatchedScope("PodDisruptionBudget", namespace="default"), WatchedScope("ReplicaSet", namespace="default"),
        WatchedScope("Namespace", name="default"), WatchedScope("StatefulSet", namespace="default"),
    ]  # fmt: skip
    with mirrored(cluster) as (mirror, connection):
        freshness = Freshness(connection, mirror, SystemClock())
        for _ in range(3):
            assert freshness.prove(parts, within=0.0) < 60.0
        mirror.reflectors["Pod"].stop()
        assert mirror.reflectors["Pod"].join(30.0)
        cluster.create(deployment("more", replicas=1))
        cluster.wait_pods_running(3)
        with pytest.raises(StaleMirrorError, match="watch of Pod lags behind: default/more-"):
            freshness.prove([WatchedScope("Pod", node=node)], within=0.0)
        freshness.prove([WatchedScope("Node", name=node), WatchedScope("ReplicaSet", namespace="default")], within=0.0)


def test_neither_a_change_nor_a_round_makes_the_daemon_list_the_cluster(cluster: Cluster, tool: Tool) -> None:
    """Watches tell it all: lists were asked for at the start alone, if at all."""
    with daemon(tool, "--policy", tool.policy(POLICY)) as process:
        process.wait_for("leading")
        before = lists(process)
        fragmented(cluster)
        ended = process.wait_for("round ended", outcome="done")
        after = lists(process)
        assert {kind: after[kind] - before[kind] for kind in WHOLE} == dict.fromkeys(WHOLE, 0.0), after
        assert figure(process, "rescheduler_moves_by_state", state="settled") == ended["planned"] > 0
        seen = figure(process, "rescheduler_snapshot_nodes")
        cluster.add_nodes(2, "late")
        wait_until(lambda: figure(process, "rescheduler_snapshot_nodes") == seen + 2, lambda: "the nodes to be seen")
        assert lists(process) == after
        assert process.stop() == 0


def lists(process: DaemonProcess) -> Counter[str]:
    """How often each kind was listed so far, by the daemon's own count."""
    found: Counter[str] = Counter()
    for name, labels, value in samples(process):
        if name == "rescheduler_api_requests_total" and labels["verb"] == "list":
            found[labels["kind"]] += value
    return found


def figure(process: DaemonProcess, wanted: str, **labels: str) -> float:
    """One metric."""
    return sum(value for name, had, value in samples(process) if name == wanted and labels.items() <= had.items())


def samples(process: DaemonProcess) -> list[tuple[str, dict[str, str], float]]:
    """All metrics as they stand."""
    url = process.wait_for("listening")["url"]
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return [
        (sample.name, sample.labels, sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
