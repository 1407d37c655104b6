"""Live clusters recorded into archives and planned for side by side: read only, with a disk that is really full too."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import SHORT_LEASE, daemon
from tests.cluster.scenes import fragmented
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

DISK_KILOBYTES = 256


def test_a_live_cluster_is_recorded_and_planned_for_as_it_stood(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """A snapshot a call; a plan of it and a back-test say what ``plan`` says live; nothing is written."""
    fragmented(cluster)
    tool.writes()
    folder = str(tmp_path / "archive")
    told = [tool.run("record", "--archive", folder).errors for _ in range(2)]
    assert all("recorded 20" in text for text in told)
    assert "MetricsServer" in told[0]  # none runs here, which is told and stops nothing
    listed = tool.run("record", "--list", "--archive", folder, "-o", "json").document["snapshots"]
    assert [(one["nodes"], one["pods"]) for one in listed] == [(4, 13)] * 2
    live = tool.run("plan", "-o", "json").document
    kept = offline("plan", "-f", f"{folder}@{listed[0]['time']}")
    assert victims(kept) == victims(live) != []
    rows = offline("backtest", "--archive", folder, "--processes", "1")["rows"]
    assert [len(row["moves"]) for row in rows] == [2, 2]
    assert tool.writes() == []


def offline(*arguments: str) -> dict[str, Any]:
    """What a command answers that knows of no cluster."""
    command = [sys.executable, "-m", "rescheduler", *arguments, "-o", "json"]
    document: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return document


def victims(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """Who is moved where."""
    return sorted((move["pod"]["name"], move["toNode"]) for move in plan["moves"])


def test_a_fleet_of_live_clusters_one_of_which_does_not_answer(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """One row for each context that matches, with money; the other is told as failed, and nothing is written."""
    fragmented(cluster)
    tool.writes()
    document = yaml.safe_load(Path(tool.kubeconfig).read_text())
    user = document["users"][0]["name"]
    here, gone = document["clusters"][0], {"name": "gone", "cluster": {"server": "https://127.0.0.1:9"}}
    document["clusters"] = [here, gone]
    document["contexts"] = [
        {"name": name, "context": {"cluster": place["name"], "user": user}}
        for name, place in (("prod-a", here), ("prod-b", gone), ("test", gone))
    ]
    document["current-context"] = "test"
    tool.kubeconfig = tmp_path / "many"
    tool.kubeconfig.write_text(yaml.safe_dump(document))
    policy = tool.policy("objectives: [{name: MakeRoom}]\nprices: {default: 2, per: month}")
    answer = tool.run(
        "fleet", "plan", "--contexts", "prod-*", "--policy", policy, "--processes", "2", "-o", "json", code=1
    )
    first, second = json.loads(answer.output)["clusters"]
    assert (first["name"], first["error"], first["evictions"]) == ("prod-a", None, 2)
    assert first["objectives"][0]["helped"] == 1
    assert first["cost"] == {"currency": "USD", "before": 8, "after": 8}
    assert (second["name"], second["evictions"]) == ("prod-b", None)
    assert "127.0.0.1:9" in second["error"]
    assert tool.writes() == []


class ToolWithDisk(Tool):
    """Runs everything with a full disk at ``folder``/disk, on which room is made when ``folder``/room appears."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        super().__init__(cluster, folder)
        self.disk = folder / "disk"
        self.disk.mkdir()

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        disk, room = shlex.quote(str(self.disk)), shlex.quote(str(self._folder / "room"))
        script = (
            f"mount -t tmpfs -o size={DISK_KILOBYTES}k full {disk}; cat /dev/zero > {disk}/filler 2> /dev/null; "
            f"(until [ -e {room} ]; do sleep 0.2; done; rm {disk}/filler) & "
            f"exec {shlex.join(super()._command(arguments))}"
        )
        return ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", script]


def test_a_full_disk_ends_the_recording_and_never_the_daemon(cluster: Cluster, tmp_path: Path) -> None:
    """It is told once, rounds go on, and once there is room snapshots are kept again."""
    if subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")
    tool = ToolWithDisk(cluster, tmp_path)
    fragmented(cluster)
    policy = tool.policy(
        f"mode: DryRun\ntriggers: [{{name: Schedule, args: {{every: 3s}}}}]\ntelemetry: {{address: '127.0.0.1:0'}}\n"
        f"{SHORT_LEASE}\narchive: {{path: {tool.disk}/archive, every: 2s}}"
    )
    with daemon(tool, "--policy", policy) as process:
        full = "archive: no snapshot was kept"
        process.wait_for("fault", where="surroundings")
        process.wait_for("round ended", count=3)
        told = [line["message"] for line in process.events("fault") if full in line["message"]]
        assert len(told) == 1, process.told()
        assert "No space left on device" in told[0]
        (tmp_path / "room").touch()
        kept = Path(f"/proc/{process.process.pid}/root{tool.disk}/archive")  # only that process sees its disk
        wait_until(lambda: list(kept.glob("*.snapshot")), lambda: f"a snapshot: {process.told()}")
        assert process.stop() == 0
