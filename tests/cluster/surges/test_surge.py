"""Surges on a real control plane: never one Ready pod or endpoint too few, nothing left behind, and the user wins."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.guidance.guided_scenes import install, pods_of
from tests.cluster.plane.kwok import NEVER_READY, READY_AFTER
from tests.cluster.shapes import resource_quota
from tests.cluster.surges.surge_scenes import (
    Floor,
    owner_generations,
    shop,
    start,
    surge_plan,
    wait_at_rest,
    wait_out,
)
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until


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
@pytest.mark.parametrize("replicas", [1, pytest.param(5, marks=pytest.mark.campaign)])
def test_nobody_is_ever_missing(cluster: Cluster, tool: Tool, tmp_path: Path, replicas: int, guidance: str) -> None:
    """All pods move onto the planned node, under a budget that wants all of them; nobody writes to their owners."""
    install(cluster)
    shop(cluster, replicas)
    before = owner_generations(cluster)
    tool.writes()
    with Floor(cluster) as floor:
        result = result_of(start(tool.kubeconfig, tmp_path, surge_plan(cluster), guidance=guidance))
    assert result["message"] == ""
    assert told(result) == [("Landed", "b-0")] * replicas
    floor.holds(replicas)
    wait_at_rest(cluster, replicas, 10)
    assert {pod["spec"]["nodeName"] for pod in pods_of(cluster, "web")} == {"b-0"}
    assert owner_generations(cluster) == before
    writes = [item for item in tool.writes() if item.namespace == "default" and item.code < 300]
    assert {(item.verb, item.resource, item.subresource) for item in writes if not item.is_dry_run} <= {
        ("patch", "pods", ""), ("patch", "pods", "status"), ("create", "pods", "eviction"), ("create", "events", ""),
    }  # fmt: skip
    assert sum(item.subresource == "eviction" for item in writes) == replicas


@pytest.mark.parametrize("guidance", ["Guide", "Hold"])
def test_a_replacement_that_never_gets_ready_costs_nothing(
    cluster: Cluster, tool: Tool, tmp_path: Path, guidance: str
) -> None:
    """The old pod never left: undone after the time that it is given, with the same pods as before."""
    install(cluster)
    shop(cluster, 2, annotations={NEVER_READY: "true"})
    names = {pod["metadata"]["name"] for pod in pods_of(cluster, "web")}
    with Floor(cluster) as floor:
        process = start(tool.kubeconfig, tmp_path, surge_plan(cluster, 1), within=4.0, guidance=guidance)
        result = result_of(process, 1)
    assert told(result) == [("Undone", None)]
    assert "was not Ready and answering within 4 s" in result["message"]
    floor.holds(2)
    wait_at_rest(cluster, 2, 10)
    assert {pod["metadata"]["name"] for pod in pods_of(cluster, "web")} == names


@pytest.mark.campaign
def test_a_full_quota_costs_nothing(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """No replacement can be made: undone, and nothing is left."""
    install(cluster)
    shop(cluster, 1)
    cluster.create(resource_quota("full", pods="1"))
    with Floor(cluster) as floor:
        result = result_of(start(tool.kubeconfig, tmp_path, surge_plan(cluster), within=3.0), 1)
    assert told(result) == [("Undone", None)]
    floor.holds(1)
    wait_at_rest(cluster, 1, 10)


@pytest.mark.parametrize("wanted", [*(pytest.param(one, marks=pytest.mark.campaign) for one in (0, 1)), 3])
def test_who_scales_in_the_middle_gets_what_he_wants(cluster: Cluster, tool: Tool, tmp_path: Path, wanted: int) -> None:
    """To nothing, to one less and to one more, while a replacement is not Ready yet: within 20 seconds."""
    install(cluster)
    shop(cluster, 2, is_bound=False, annotations={READY_AFTER: "6s"})
    with Floor(cluster) as floor:
        process = start(tool.kubeconfig, tmp_path, surge_plan(cluster, 1))
        wait_out(cluster)
        cluster.api.patch("deployments", "web", {"spec": {"replicas": wanted}}, "default")
        result = result_of(process, 1)
    assert told(result) == [("Undone", None)]
    assert f"scaled from 2 to {wanted}" in result["message"]
    floor.holds(min(wanted, 2))
    wait_at_rest(cluster, wanted, 20)


def versions(cluster: Cluster) -> set[str | None]:
    """Of the pods of ``web``. Two may run and be Ready in the middle of a rollout too, one of each."""
    return {pod["metadata"]["labels"].get("version") for pod in pods_of(cluster, "web")}


def test_a_rollout_in_the_middle_wins(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """The old pod does not serve the old version on: it is given back, and goes with the others of its revision."""
    install(cluster)
    shop(cluster, 2, annotations={READY_AFTER: "6s"})
    with Floor(cluster) as floor:
        process = start(tool.kubeconfig, tmp_path, surge_plan(cluster, 1))
        wait_out(cluster)
        labels = {"metadata": {"labels": {"version": "2"}}}
        cluster.api.patch("deployments", "web", {"spec": {"template": labels}}, "default")
        result = result_of(process, 1)
    assert told(result) == [("Undone", None)]
    floor.holds(2)
    wait_until(lambda: versions(cluster) == {"2"}, lambda: f"no pod but the new ones; there are {versions(cluster)}",
               timeout_seconds=20)  # fmt: skip
    wait_at_rest(cluster, 2, 20)
    assert versions(cluster) == {"2"}


@pytest.mark.campaign
def test_a_deployment_that_is_deleted_in_the_middle_is_gone(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """The pod that is out goes with it, since its plain reference stays; nobody waits, or says that he evicted it."""
    install(cluster)
    shop(cluster, 1, is_bound=False, annotations={READY_AFTER: "6s"})
    process = start(tool.kubeconfig, tmp_path, surge_plan(cluster))
    wait_out(cluster)
    cluster.api.delete("deployments", "web", "default")
    result = result_of(process, 1)
    assert told(result) == [("Undone", None)]
    assert "its owner was deleted meanwhile" in result["message"]
    wait_at_rest(cluster, 0, 20)


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.campaign)])
def test_who_stops_a_run_gets_everything_back(
    cluster: Cluster, tool: Tool, tmp_path: Path, number: signal.Signals
) -> None:
    """Before the eviction: when the process has ended, nothing of ours is left."""
    install(cluster)
    shop(cluster, 1, annotations={READY_AFTER: "10s"})
    with Floor(cluster) as floor:
        process = start(tool.kubeconfig, tmp_path, surge_plan(cluster))
        wait_out(cluster)
        process.send_signal(number)
        result = result_of(process, 130)
    assert told(result) == [("Undone", None)]
    floor.holds(1)
    wait_at_rest(cluster, 1, 5)
