"""A running daemon whose policy is edited: broken, wider, acknowledged, and back to a dry run."""

from __future__ import annotations

import signal

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import AT_ONCE, DaemonProcess, daemon
from tests.cluster.tool import Tool

REST = f"""
triggers: [{{name: OnDemand}}]
telemetry: {{address: '127.0.0.1:0'}}
leaderElection: {{leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 500ms}}
{AT_ONCE}
"""


def reload(process: DaemonProcess, tool: Tool, text: str) -> None:
    """Write the policy and say that it is whole."""
    tool.policy(f"{text}\n{REST}")
    process.process.send_signal(signal.SIGHUP)


def test_what_reaches_further_waits_for_a_yes(cluster: Cluster, tool: Tool) -> None:
    """From a dry run to execution by way of the file alone; what is broken changes nothing, a dry run needs no yes."""
    cluster.add_nodes(1)
    with daemon(tool, "--policy", tool.policy(f"mode: DryRun\n{REST}")) as process:
        process.wait_for("policy loaded", mode="DryRun")
        reload(process, tool, "mode: Execute\nlimits: {maxEvictons: 3}")
        kept = process.wait_for("policy kept")
        assert "did you mean maxEvictions?" in kept["problem"]
        reload(process, tool, "mode: Execute")
        held = process.wait_for("policy held")
        assert "mode from DryRun to Execute" in held["widening"]
        assert not [line for line in process.events("policy loaded") if line["mode"] == "Execute"]
        reload(process, tool, f'mode: Execute\nmetadata: {{acknowledged: "{held["held_id"]}"}}')
        assert process.wait_for("policy loaded", mode="Execute")["policy_id"] == held["held_id"]
        process.wait_for("leading", is_leader=True, timeout_seconds=30)
        reload(process, tool, "mode: DryRun")
        process.wait_for("policy loaded", mode="DryRun", count=2)
        assert process.stop() == 0
    lease = cluster.api.get("leases", "rescheduler", "rescheduler-system")
    assert not lease["spec"].get("holderIdentity")
    written = {write.resource for write in tool.writes() if not write.resource.endswith("reviews")}
    assert written <= {"leases", "namespaces"}


def test_the_file_is_looked_at_without_being_told(cluster: Cluster, tool: Tool) -> None:
    """An edit alone is enough, once it has stood for a moment."""
    cluster.add_nodes(1)
    with daemon(tool, "--policy", tool.policy(f"mode: DryRun\n{REST}")) as process:
        first = process.wait_for("policy loaded")
        tool.policy(f"mode: DryRun\nlimits: {{maxEvictions: 3}}\n{REST}")
        second = process.wait_for("policy loaded", count=2, timeout_seconds=60)
        assert second["policy_id"] != first["policy_id"]
        assert process.stop() == 0
