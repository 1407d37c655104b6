"""Two daemons on one cluster: whatever becomes of the one that leads, the other goes on, and nothing is done twice."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, NO_RATES, STRAYS, DaemonProcess, daemon
from tests.cluster.plane.audit import Request
from tests.cluster.plane.kwok import READY_AFTER
from tests.cluster.scenes import add_pending, spread
from tests.cluster.shapes import deployment
from tests.cluster.tool import HOLDS, Tool
from tests.cluster.waiting import wait_until

LEASE_SECONDS = 5.0
RETRY_SECONDS = 1.0
HOLD_SECONDS = 10
REPLICAS = 12
OUTAGE_SECONDS = float(os.environ.get("RESCHEDULER_OUTAGE_SECONDS", "25"))
"""How long the API server is away; 300 is what is promised."""
POLICY = f"""
mode: Execute
triggers: [{{name: PendingPods, args: {{olderThan: 1s, debounce: 1s, backOff: {{first: 5s, longest: 10s}}}}}}]
telemetry: {{address: '127.0.0.1:0'}}
leaderElection: {{leaseDuration: {LEASE_SECONDS:g}s, renewDeadline: 3s, retryPeriod: {RETRY_SECONDS:g}s}}
hold: {{deadline: {HOLD_SECONDS}s}}
{AT_ONCE}
"""
ALL_AT_ONCE = f"disruption: {{workloads: {{maxUnavailable: 99%}}, {NO_RATES}}}"


class Side(NamedTuple):
    """One of two daemons: a user of its own, so that its requests can be told apart, and its process."""

    tool: Tool
    process: DaemonProcess

    def writes(self) -> list[Request]:
        """What it has asked to be changed since the last call, questions about rights left out."""
        return [write for write in self.tool.writes() if not write.resource.endswith("reviews")]


@contextmanager
def two_daemons(cluster: Cluster, folder: Path, policy: str) -> Iterator[tuple[Side, Side]]:
    """The first of them leads."""
    sides = []
    for name in ("first", "second"):
        (folder / name).mkdir()
        sides.append(Tool(cluster, folder / name))
        sides[-1].user = f"rescheduler-{name}"
        sides[-1].kubeconfig = cluster.control_plane.user_kubeconfig(sides[-1].user, ("system:masters",))
    with daemon(sides[0], "--policy", sides[0].policy(policy)) as one:
        one.wait_for("leading")
        with daemon(sides[1], "--policy", sides[1].policy(policy)) as two:
            two.wait_for("not leading", timeout_seconds=60)
            time.sleep(RETRY_SECONDS)
            yield Side(sides[0], one), Side(sides[1], two)


def scene(cluster: Cluster) -> None:
    """Full nodes, and a pending pod for which two pods must leave; replacements are ready after a second."""
    cluster.add_nodes(4, cpu="4")
    spread(cluster, deployment("web", replicas=REPLICAS, cpu="1", annotations={READY_AFTER: "1s"}))
    add_pending(cluster, deployment("big", cpu="2500m"))


def holds(cluster: Cluster) -> set[str]:
    """Placeholders that stand, by uid."""
    label = "app.kubernetes.io/managed-by=rescheduler"
    return {item["metadata"]["uid"] for item in cluster.api.list("jobs", HOLDS, labels=label)}


def evicted(*sides: Side) -> Counter[str]:
    """How often each pod was evicted in earnest, by whomever."""
    writes = [write for side in sides for write in side.writes()]
    return Counter(write.name for write in writes if write.subresource == "eviction" and not write.is_dry_run
                   and write.code == 201)  # fmt: skip


def assert_clean(cluster: Cluster, tool: Tool, seconds: float = HOLD_SECONDS + 10) -> None:
    """Nothing of anybody's is left, after the time that a placeholder may outlive its process."""
    label = "app.kubernetes.io/managed-by=rescheduler"
    wait_until(
        lambda: not [item for kind in ("jobs", "pods") for item in cluster.api.list(kind, HOLDS, labels=label)],
        "no placeholder", timeout_seconds=seconds,
    )  # fmt: skip
    tool.assert_nothing_left()


def told_at(line: dict[str, Any]) -> float:
    """When a line was logged, seconds since the epoch."""

    return datetime.fromisoformat(line["timestamp"]).timestamp()


@pytest.mark.timeout(400)
def test_after_kill_9_the_other_takes_over_and_nothing_is_doubled(cluster: Cluster, tmp_path: Path) -> None:
    """Killed right after its first eviction: leadership moves within the lease and two seconds, the pod gets in."""
    with two_daemons(cluster, tmp_path, f"{POLICY}{ALL_AT_ONCE}") as (first, second):
        scene(cluster)
        first.process.wait_for("eviction sent")
        first.process.process.kill()
        killed_at = time.time()
        took = told_at(second.process.wait_for("leading")) - killed_at
        assert took <= LEASE_SECONDS + 2, second.process.told()
        cluster.wait_pods_running(REPLICAS + 1, timeout_seconds=200)
        assert second.process.stop() == 0
        gone = evicted(first, second)
    assert max(gone.values()) == 1, gone
    assert 2 <= gone.total() <= 4
    assert_clean(cluster, second.tool)


@pytest.mark.timeout(400)
def test_after_sigterm_the_other_takes_over_at_once(cluster: Cluster, tmp_path: Path) -> None:
    """Asked to stop while it waits between two waves: it ends within seconds and leaves nothing."""
    with two_daemons(cluster, tmp_path, f"{POLICY}{STRAYS}") as (first, second):
        scene(cluster)
        first.process.wait_for("eviction sent")
        time.sleep(2)
        held = holds(cluster)
        assert held
        stopped_at = time.time()
        assert first.process.stop(timeout_seconds=20) == 0
        assert time.time() - stopped_at < 10, first.process.told()
        ended = first.process.events("round ended")[-1]
        assert "asked to stop (SIGTERM)" in ended["reason"], ended
        gave_up = told_at(first.process.events("not leading")[-1])
        taken = told_at(second.process.wait_for("leading"))
        assert -0.5 <= taken - gave_up <= RETRY_SECONDS + 1
        assert not held & holds(cluster), "the second may have made others"
        cluster.wait_pods_running(REPLICAS + 1, timeout_seconds=250)
        assert second.process.stop() == 0
        gone = evicted(first, second)
    assert max(gone.values()) == 1, gone
    assert gone.total() <= 3
    assert_clean(cluster, second.tool)


@pytest.mark.timeout(400)
@pytest.mark.campaign
def test_a_leader_that_was_paused_writes_nothing_when_it_wakes(cluster: Cluster, tmp_path: Path) -> None:
    """Stopped in the middle of a plan for longer than the lease: the other goes on, and it adds nothing."""
    with two_daemons(cluster, tmp_path, f"{POLICY}{STRAYS}") as (first, second):
        scene(cluster)
        first.process.wait_for("eviction sent")
        time.sleep(1)
        first.process.process.send_signal(signal.SIGSTOP)
        second.process.wait_for("leading", timeout_seconds=LEASE_SECONDS + 30)
        before = evicted(first)
        first.process.process.send_signal(signal.SIGCONT)
        first.process.wait_for("not leading", timeout_seconds=30)
        first.process.wait_for("round ended", timeout_seconds=60)
        time.sleep(3)
        late = [write for write in first.writes() if write.resource != "leases"]
        assert late == []
        cluster.wait_pods_running(REPLICAS + 1, timeout_seconds=250)
        assert second.process.stop() == 0
        gone = before + evicted(second)
    assert max(gone.values()) == 1, gone
    assert_clean(cluster, second.tool)


@pytest.mark.timeout(400 + OUTAGE_SECONDS)
@pytest.mark.campaign
def test_an_outage_of_the_api_server_is_survived(cluster: Cluster, tmp_path: Path) -> None:
    """It is killed after the first eviction and comes back much later: nobody dies, one leads, the pod gets in."""
    plane = cluster.control_plane
    with two_daemons(cluster, tmp_path, f"{POLICY}{ALL_AT_ONCE}") as (first, second):
        scene(cluster)
        first.process.wait_for("eviction sent")
        plane.kill("kube-apiserver")
        time.sleep(OUTAGE_SECONDS)
        assert first.process.events("not leading"), first.process.told()
        for side in (first, second):
            assert side.process.process.poll() is None, side.process.told()
        plane.restart("kube-apiserver")
        cluster.wait_pods_running(REPLICAS + 1, timeout_seconds=250)
        assert [side.process.stop() for side in (first, second)] == [0, 0]
        gone = evicted(first, second)
    assert max(gone.values()) == 1, gone
    assert gone.total() <= 4
    assert_clean(cluster, second.tool)
