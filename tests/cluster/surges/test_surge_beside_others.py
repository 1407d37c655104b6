"""Surges beside others who write: an autoscaler, and somebody who applies his manifests every second."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.guidance.guided_scenes import install, pods_of
from tests.cluster.load.metrics_stand_in import EvenUse, metrics_stand_in
from tests.cluster.plane.kwok import READY_AFTER
from tests.cluster.shapes import deployment
from tests.cluster.surges.surge_scenes import Floor, owner_generations, shop, start, surge_plan, wait_at_rest, wait_out
from tests.cluster.surges.test_surge import result_of, told
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

pytestmark = pytest.mark.campaign
AUTOSCALERS = "horizontalpodautoscalers"
WANTED_MILLICORES = 500


def autoscaler() -> Manifest:
    """Keeps the pods of ``web`` at half a CPU each, three at most."""
    target = {"type": "AverageValue", "averageValue": f"{WANTED_MILLICORES}m"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 1,
            "maxReplicas": 3,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        },
    }


@contextmanager
def autoscaled(cluster: Cluster) -> Iterator[EvenUse]:
    """An autoscaler that has seen what the pods use, and is content."""
    use = EvenUse(cluster.control_plane, WANTED_MILLICORES)
    with metrics_stand_in(cluster.control_plane, use):
        cluster.create(autoscaler())
        wait_until(
            lambda: condition(cluster.api.get(AUTOSCALERS, "web", "default"), "ScalingActive") == "True",
            lambda: str(cluster.api.get(AUTOSCALERS, "web", "default").get("status")),
            timeout_seconds=90,
        )
        yield use


def test_an_autoscaler_that_sees_one_pod_more_scales_nothing(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """The pod that is out has the Deployment's labels, and is counted with what it uses; nobody is ever missing."""
    install(cluster)
    shop(cluster, 2, annotations={READY_AFTER: "20s"})
    with autoscaled(cluster):
        before = owner_generations(cluster)
        with Floor(cluster) as floor:
            process = start(tool.kubeconfig, tmp_path, surge_plan(cluster), within=60.0)
            result = result_of(process)
        assert told(result) == [("Landed", "b-0")] * 2
        floor.holds(2)
        assert owner_generations(cluster) == before
        wait_at_rest(cluster, 2, 10)


def test_an_autoscaler_that_scales_in_the_middle_gets_what_it_wants(
    cluster: Cluster, tool: Tool, tmp_path: Path
) -> None:
    """Twice the use while a replacement is not Ready yet: what is out is given back, and one pod comes besides."""
    install(cluster)
    shop(cluster, 2, is_bound=False, annotations={READY_AFTER: "30s"})
    with autoscaled(cluster) as use:
        with Floor(cluster) as floor:
            process = start(tool.kubeconfig, tmp_path, surge_plan(cluster, 1), within=90.0)
            wait_out(cluster)
            use.millicores = 2 * WANTED_MILLICORES
            result = result_of(process, 1)
        assert told(result) == [("Undone", None)]
        assert "scaled from 2 to 3" in result["message"]
        floor.holds(2)
        wait_at_rest(cluster, 3, 60)


@contextmanager
def applying(cluster: Cluster, manifest: Manifest) -> Iterator[list[int]]:
    """Somebody applies a manifest every second; yields how often he has."""
    is_over, times = threading.Event(), [0]

    def apply() -> None:
        while not is_over.wait(1.0):
            cluster.api.apply(manifest)
            times[0] += 1

    thread = threading.Thread(target=apply, daemon=True)
    thread.start()
    try:
        yield times
    finally:
        is_over.set()
        thread.join()


@pytest.mark.parametrize("replicas", [1, 5])
def test_who_applies_his_manifests_every_second_changes_nothing(
    cluster: Cluster, tool: Tool, tmp_path: Path, replicas: int
) -> None:
    """As a controller does that keeps a cluster as a repository has it: all pods move, and nobody is ever missing."""
    install(cluster)
    template: dict[str, Any] = {"cpu": "1", "annotations": {READY_AFTER: "3s"}}
    shop(cluster, replicas, annotations=template["annotations"])
    manifest = deployment("web", replicas=replicas, **template)
    cluster.api.apply(manifest)
    with Floor(cluster) as floor, applying(cluster, manifest) as times:
        result = result_of(start(tool.kubeconfig, tmp_path, surge_plan(cluster), within=60.0))
    assert times[0] > 1
    assert told(result) == [("Landed", "b-0")] * replicas
    floor.holds(replicas)
    wait_at_rest(cluster, replicas, 10)
    assert {pod["spec"]["nodeName"] for pod in pods_of(cluster, "web")} == {"b-0"}
