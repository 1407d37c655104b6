"""``rescheduler run`` on a real cluster: what it does by itself, what it never does, and how it ends."""

from __future__ import annotations

import signal
import time

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, SHORT_BACK_OFF, SHORT_LEASE, STRAYS, daemon
from tests.cluster.scenes import cramped, fragmented
from tests.cluster.tool import Tool

PENDING = "triggers: [{name: PendingPods, args: {olderThan: 1s, debounce: 1s}}]"
QUICK = f"telemetry: {{address: '127.0.0.1:0'}}\n{SHORT_LEASE}"


def policy(tool: Tool, mode: str, *more: str) -> str:
    """A policy file for a test cluster."""
    return tool.policy("\n".join([f"mode: {mode}", PENDING, QUICK, AT_ONCE, STRAYS, *more]))


def test_a_pending_pod_gets_its_room(cluster: Cluster, tool: Tool) -> None:
    """The trigger fires by itself, the plan is carried out, the pod runs, nothing is left, SIGTERM ends it with 0."""
    with daemon(tool, "--policy", policy(tool, "Execute")) as process:
        process.wait_for("leading")
        cramped(cluster)
        ended = process.wait_for("round ended", outcome="done")
        assert ended["triggers"] == ["PendingPods"]
        assert (ended["planned"], ended["outcomes"]) == (1, {"Landed": 1}), process.told()
        assert len(process.events("eviction announced")) == len(process.events("eviction sent")) == 1
        cluster.wait_pods_running(7)
        assert process.stop() == 0
    assert len([write for write in tool.writes() if write.subresource == "eviction" and not write.is_dry_run]) == 1
    tool.assert_nothing_left()


def test_a_dry_run_writes_nothing(cluster: Cluster, tool: Tool) -> None:
    """It plans and says so in every line; the audit log has not one write of its."""
    fragmented(cluster)
    tool.writes()
    with daemon(tool, "--policy", policy(tool, "DryRun")) as process:
        ended = process.wait_for("round ended")
        assert ended["planned"] == 2
        assert all(line["dry_run"] is True for line in process.lines if line["event"] not in ("listening",))
        assert process.stop() == 0
    assert tool.writes() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_asked(cluster: Cluster, tool: Tool, number: signal.Signals) -> None:
    """Before the first round, and without a cluster worth planning for."""
    with daemon(tool, "--policy", policy(tool, "Execute")) as process:
        process.wait_for("leading")
        assert process.stop(number) == 0
        assert process.events("stopping")


def test_one_round_on_demand(cluster: Cluster, tool: Tool) -> None:
    """--once runs a round whatever the triggers say, and ends."""
    fragmented(cluster)
    with daemon(tool, "--once", "--policy", policy(tool, "Execute")) as process:
        process.wait_for("round ended")
        process.wait_for("stopping", reason="done")
        assert process.process.wait(30) == 0, process.told()
    cluster.wait_pods_running(13)


def test_one_round_leaves_alone_what_was_just_scaled_and_nothing_else(cluster: Cluster, tool: Tool) -> None:
    """A process that has just begun has seen nothing change: the API server tells it who was scaled, and when."""
    fragmented(cluster)
    for quiet, planned in {"1h": 0, "1s": 2}.items():
        time.sleep(1)
        text = f"disruption: {{unsettled: Deny, quiet: {quiet}, {SHORT_BACK_OFF}}}"
        file = tool.policy("\n".join(["mode: Execute", PENDING, QUICK, AT_ONCE, text]))
        with daemon(tool, "--once", "--policy", file) as process:
            ended = process.wait_for("round ended")
            assert process.process.wait(30) == 0, process.told()
        assert ended["planned"] == planned, ended
    cluster.wait_pods_running(13)


def test_a_signal_asks_for_a_round(cluster: Cluster, tool: Tool) -> None:
    """SIGUSR1, where the policy has the trigger OnDemand."""
    fragmented(cluster)
    on_demand = tool.policy("\n".join(["mode: Execute", "triggers: [{name: OnDemand}]", QUICK, AT_ONCE, STRAYS]))
    with daemon(tool, "--policy", on_demand) as process:
        process.wait_for("leading")
        process.process.send_signal(signal.SIGUSR1)
        assert process.wait_for("round ended", outcome="done")["triggers"] == ["OnDemand"]
        assert process.stop() == 0
