"""Workloads that are moved by surge, the run that moves them as a process of its own, and what is left afterwards."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import urllib3

from tests.cluster.api import ApiError, Manifest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.faults.floor_watch import is_serving
from tests.cluster.guidance.guided_scenes import gated, left_over, move, plan_of, pods_of
from tests.cluster.plane.kwok import NEVER_READY
from tests.cluster.shapes import deployment, disruption_budget
from tests.cluster.waiting import wait_until

SURGE = "rescheduler.dev/surge"
SLICES = "discovery.k8s.io/v1/endpointslices"


def service(name: str, namespace: str = "default") -> Manifest:
    """A Service for the pods of a workload of the same name."""
    spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def shop(cluster: Cluster, replicas: int = 1, *, is_bound: bool = True, **template: Any) -> None:
    """A Deployment of so many pods on node a-0, behind a Service, all of which its budget wants; b-0 has room.

    ``is_bound``: with that budget. Pods that never get ready by their template do here, but for those that come later.
    """
    cluster.add_nodes(1, prefix="a", cpu="8")
    if is_bound:
        cluster.create(disruption_budget("web", minAvailable=replicas))
    cluster.create(service("web"), deployment("web", replicas=replicas, cpu="1", **template))
    for pod in cluster.wait_pods_running(replicas, labels="app=web", ready=False):
        if NEVER_READY in pod["metadata"].get("annotations", {}):
            freed = {"metadata": {"annotations": {NEVER_READY: None}}}
            cluster.api.patch("pods", pod["metadata"]["name"], freed, "default")
    cluster.wait_pods_running(replicas, labels="app=web")
    cluster.add_nodes(1, prefix="b", cpu="8")
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


class Floor:
    """Fewest Ready pods of ``web``, and fewest of its ready endpoints, at looks 50 ms apart; most pods at once."""

    def __init__(self, cluster: Cluster) -> None:
        self.ready = self.endpoints = 1_000_000
        self.most = self.looks = 0
        self._cluster = cluster
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._is_over.wait(0.05):
            try:
                pods = self._cluster.api.list("pods", "default", labels="app=web")
                endpoints = ready_endpoints(self._cluster)
            except (ApiError, urllib3.exceptions.HTTPError):
                continue
            self.looks += 1
            self.most = max(self.most, len(pods))
            self.ready = min(self.ready, sum(map(is_serving, pods)))
            self.endpoints = min(self.endpoints, len(endpoints))

    def __enter__(self) -> Floor:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def holds(self, wanted: int) -> None:
        """That nobody was ever missing."""
        assert self.looks > 10
        assert self.ready >= wanted, (self.ready, wanted)
        assert self.endpoints >= wanted, (self.endpoints, wanted)


def wait_out(cluster: Cluster, count: int = 1) -> None:
    """Until so many pods are out of their ReplicaSet."""

    def out() -> list[str]:
        pods = cluster.api.list("pods", "default")
        return [pod["metadata"]["name"] for pod in pods if SURGE in (pod["metadata"].get("annotations") or {})]

    wait_until(lambda: len(out()) == count, lambda: f"{count} pods out of their ReplicaSet, not {out()}")


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
    command = [sys.executable, "-m", "tests.cluster.surges.surge_process", str(kubeconfig), str(file), str(within)]
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
