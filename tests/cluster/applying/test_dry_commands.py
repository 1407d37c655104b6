"""Commands that only look write nothing at all, not even as a dry run."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.scenes import fragmented
from tests.cluster.tool import Tool


def test_looking_commands_write_nothing(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """plan, explain, snapshot, and an apply that nobody confirmed leave no write in the audit log."""
    fragmented(cluster)
    big = next(pod["metadata"]["name"] for pod in cluster.api.list("pods", "default", labels="app=big"))
    tool.writes()
    tool.run("plan")
    tool.run("plan", "-o", "json")
    tool.run("explain", "pod", f"default/{big}")
    tool.run("explain", "node", "node-0")
    tool.run("snapshot", "-o", str(tmp_path / "recording.json"))
    refused = tool.run("apply", code=2)
    assert "--yes" in refused.errors
    assert tool.writes() == []
    assert cluster.node_of(big) == ""
