"""Surges on a real control plane: never one Ready pod or endpoint too few, nothing left behind, and the user wins."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.floor_watch import FloorWatch, floor_watch
from tests.cluster.guided_scenes import install, pods_of
from tests.cluster.surge_scenes import owner_generations, shop, start, surge_plan, wait_at_rest
from tests.cluster.tool import Tool


def result_of(process: subprocess.Popen[str], code: int | None = 0) -> dict[str, Any]:
    """What a run told at its end; with which code it must exit (None: any)."""
    output, errors = process.communicate(timeout=120)
    assert code is None or process.returncode == code, (process.returncode, output, errors)
    found: dict[str, Any] = json.loads(output)
    return found


def told(result: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Outcome and node of each move."""
    return [(item["outcome"], item["landedOn"]) for item in result["moves"]]


@pytest.mark.parametrize("guidance", ["Guide", "Hold"])
@pytest.mark.parametrize("replicas", [1, 5])
def test_nobody_is_ever_missing(cluster: Cluster, tool: Tool, tmp_path: Path, replicas: int, guidance: str) -> None:
    """All pods move onto the planned node, under a budget that wants all of them; nobody writes to their owners."""
    install(cluster)
    shop(cluster, replicas)
    before = owner_generations(cluster)
    tool.writes()
    with floor_watch(cluster.api, "app=web") as watch:
        result = result_of(start(tool.kubeconfig, tmp_path, surge_plan(cluster), guidance=guidance))
    assert result["message"] == ""
    assert told(result) == [("Landed", "b-0")] * replicas
    assert_floor(watch, replicas)
    wait_at_rest(cluster, replicas, 10)
    assert {pod["spec"]["nodeName"] for pod in pods_of(cluster, "web")} == {"b-0"}
    assert owner_generations(cluster) == before
    writes = [item for item in tool.writes() if item.namespace == "default" and item.code < 300]
    assert {(item.verb, item.resource, item.subresource) for item in writes if not item.is_dry_run} <= {
        ("patch", "pods", ""), ("patch", "pods", "status"), ("create", "pods", "eviction"), ("create", "events", ""),
    }  # fmt: skip
    assert sum(item.subresource == "eviction" for item in writes) == replicas


def assert_floor(watch: FloorWatch, replicas: int) -> None:
    """That so many pods were Ready at every look."""
    assert watch.looks > 10
    assert watch.fewest >= replicas
