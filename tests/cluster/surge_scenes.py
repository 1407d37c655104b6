"""Workloads that are moved by surge, the run that moves them as a process of its own, and what is left afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cluster.api import ApiError, Manifest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.guided_scenes import gated, left_over, move, plan_of, pods_of
from tests.cluster.shapes import deployment, disruption_budget
from tests.cluster.waiting import wait_until

SURGE = "rescheduler.dev/surge"
SLICES = "discovery.k8s.io/v1/endpointslices"


def service(name: str, namespace: str = "default") -> Manifest:
    """A Service for the pods of a workload of the same name."""
    spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def shop(cluster: Cluster, replicas: int = 1, *, spare: str = "8", is_bound: bool = True, **template: Any) -> None:
    """A Deployment of so many pods on node a-0, behind a Service, all of which its budget wants; b-0 has room."""
    cluster.add_nodes(1, prefix="a", cpu="8")
    if is_bound:
        cluster.create(disruption_budget("web", minAvailable=replicas))
    cluster.create(service("web"), deployment("web", replicas=replicas, cpu="1", **template))
    cluster.wait_pods_running(replicas, labels="app=web")
    cluster.add_nodes(1, prefix="b", cpu=spare)
    wait_until(lambda: len(ready_endpoints(cluster)) == replicas, "the endpoints of web")
    if is_bound:
        wait_until(lambda: _is_counted(cluster, replicas), "the count of the budget")


def _is_counted(cluster: Cluster, replicas: int) -> bool:
    status = cluster.api.get("poddisruptionbudgets", "web", "default").get("status", {})
    return bool(status.get("currentHealthy") == replicas and status.get("disruptionsAllowed") == 0)


def ready_endpoints(cluster: Cluster) -> set[str]:
    """Names of pods that get requests for the Service ``web``."""
    slices = cluster.api.list(SLICES, "default", labels="kubernetes.io/service-name=web")
    return {
        endpoint["targetRef"]["name"]
        for item in slices
        for endpoint in item.get("endpoints") or []
        if endpoint["conditions"].get("ready")
    }


def surge_plan(cluster: Cluster, count: int | None = None, to_node: str = "b-0") -> str:
    """A plan that moves the pods of ``web``, or so many of them, by surge in one wave."""
    pods = pods_of(cluster, "web")[:count]
    return plan_of(cluster, *({**move(pod, to_node), "method": "Surge"} for pod in pods))


def start(
    kubeconfig: Path, folder: Path, plan: str, *, within: float = 20.0, settle: float = 0.5, guidance: str = "Guide"
) -> subprocess.Popen[str]:
    """Carry a plan out in a process group of its own."""
    file = folder / "plan.json"
    file.write_text(plan)
    command = [sys.executable, "-m", "tests.cluster.surge_process", str(kubeconfig), str(file), str(within)]
    return subprocess.Popen(
        [*command, str(settle), guidance], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )


def remains(cluster: Cluster) -> list[str]:
    """Everything of ours that stands anywhere, and pods that nobody controls."""
    pods = [pod for pod in cluster.api.list("pods", "default") if "deletionTimestamp" not in pod["metadata"]]
    return left_over(cluster) + [
        pod["metadata"]["name"]
        for pod in pods
        if pod["metadata"].get("labels", {}).get("pod-template-hash", "").endswith("-leaving")
        or not any(owner.get("controller") for owner in pod["metadata"].get("ownerReferences", []))
    ]


def wait_at_rest(cluster: Cluster, replicas: int, seconds: float) -> None:
    """Until exactly so many pods of ``web`` run and nothing of ours is left anywhere."""

    def is_at_rest() -> bool:
        pods = cluster.api.list("pods", "default", labels="app=web")
        are_ready = [condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"] for pod in pods]
        return len(pods) == replicas and all(are_ready) and not remains(cluster) and not gated(cluster)

    def what() -> str:
        return f"{replicas} pods and nothing else; there are {cluster.pods_by_node('default')}, {remains(cluster)}"

    wait_until(is_at_rest, what, timeout_seconds=seconds)


def owner_generations(cluster: Cluster) -> list[tuple[str, int]]:
    """Names and generations of Deployments and ReplicaSets: nobody has written them where these stay."""
    found = [*cluster.api.list("deployments", "default"), *cluster.api.list("replicasets", "default")]
    return sorted((item["metadata"]["name"], item["metadata"]["generation"]) for item in found)


def exists(cluster: Cluster, resource: str, name: str) -> bool:
    """Whether an object of the default namespace is there."""
    try:
        cluster.api.get(resource, name, "default")
    except ApiError as error:
        if error.code == 404:
            return False
        raise
    return True
