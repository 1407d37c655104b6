"""A surge beside a HorizontalPodAutoscaler at work: it finds nothing to do, and has its way where it does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster, condition
from tests.cluster.guided_scenes import install, pods_of
from tests.cluster.kwok import USED_CPU, resource_metrics_path
from tests.cluster.metrics_server import RESOURCE_METRICS_PATH, metrics_server
from tests.cluster.shapes import deployment, node
from tests.cluster.surge_scenes import Floor, owner_generations, service, start, surge_plan, wait_at_rest, wait_out
from tests.cluster.test_surge import result_of, told
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

pytestmark = pytest.mark.campaign
HPA = "autoscaling/v2/horizontalpodautoscalers"
SETTLE_SECONDS = 40.0
"""The autoscaler looks every fifteen: it has looked twice at least while there is a pod too many."""
REPLICAS = 2


def add_node(cluster: Cluster, name: str) -> None:
    """A node of 8 cpus whose use is measured."""
    found = node(name, cpu="8")
    found["metadata"].setdefault("annotations", {})[RESOURCE_METRICS_PATH] = resource_metrics_path(name)
    cluster.create(found)
    cluster.wait_nodes_ready([name])


@pytest.fixture
def scaled(cluster: Cluster) -> Iterator[Cluster]:
    """Two replicas that use half of what they ask for, which is what their autoscaler wants."""
    install(cluster)
    add_node(cluster, "a-0")
    cluster.create(service("web"), deployment("web", replicas=REPLICAS, cpu="1", annotations={USED_CPU: "500m"}))
    cluster.wait_pods_running(REPLICAS, labels="app=web")
    add_node(cluster, "b-0")
    cluster.create({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 1, "maxReplicas": 4,
            "metrics": [{
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
            }],
        },
    })  # fmt: skip
    with metrics_server(cluster.control_plane):
        wait_until(
            lambda: is_active(cluster), lambda: f"a look of the autoscaler: {status(cluster)}", timeout_seconds=150
        )
        yield cluster


def status(cluster: Cluster) -> dict[str, object]:
    """What the autoscaler says."""
    found: dict[str, object] = cluster.api.get(HPA, "web", "default").get("status", {})
    return found


def is_active(cluster: Cluster) -> bool:
    """Whether it has measured, and is content."""
    found = cluster.api.get(HPA, "web", "default")
    return condition(found, "ScalingActive") == "True" and found["status"].get("desiredReplicas") == REPLICAS


def scalings(cluster: Cluster, mark: int) -> list[str]:
    """Who has written to a scale since."""
    writes = cluster.control_plane.audit.writes_since(mark)
    return [item.user for item in writes if item.subresource == "scale" and item.code < 300]


def test_it_finds_nothing_to_do(scaled: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Though a pod too many serves for a while: replicas stay as they are, and nobody has written them."""
    pods = {pod["metadata"]["name"] for pod in pods_of(scaled, "web")}
    before, mark = owner_generations(scaled), scaled.control_plane.audit.mark()
    with Floor(scaled) as floor:
        result = result_of(start(tool.kubeconfig, tmp_path, surge_plan(scaled, 1), within=90.0, settle=SETTLE_SECONDS))
    assert told(result) == [("Landed", "b-0")]
    floor.holds(REPLICAS)
    wait_at_rest(scaled, REPLICAS, 20)
    assert scalings(scaled, mark) == []
    assert owner_generations(scaled) == before
    assert len(pods & {pod["metadata"]["name"] for pod in pods_of(scaled, "web")}) == REPLICAS - 1


def test_it_has_its_way(scaled: Cluster, tool: Tool, tmp_path: Path) -> None:
    """Where load rises in the middle: scaled up within its own time, and the surge is undone."""
    process = start(tool.kubeconfig, tmp_path, surge_plan(scaled, 1), within=110.0, settle=100.0)
    wait_out(scaled)
    for pod in pods_of(scaled, "web"):
        scaled.api.patch("pods", pod["metadata"]["name"], {"metadata": {"annotations": {USED_CPU: "1"}}}, "default")
    result = result_of(process, 1)
    assert told(result) == [("Undone", None)]
    assert f"scaled from {REPLICAS} to" in result["message"]
    wait_until(
        lambda: cluster_replicas(scaled) > REPLICAS and not left(scaled),
        lambda: f"{status(scaled)}",
        timeout_seconds=60,
    )


def cluster_replicas(cluster: Cluster) -> int:
    """What the Deployment is told to have."""
    found: int = cluster.api.get("deployments", "web", "default")["spec"]["replicas"]
    return found


def left(cluster: Cluster) -> list[str]:
    """Pods that are still out."""
    pods = cluster.api.list("pods", "default", labels="app=web")
    return [
        pod["metadata"]["name"] for pod in pods if "rescheduler.dev/surge" in pod["metadata"].get("annotations", {})
    ]
