"""Writes a large cluster into etcd, from where the API server serves it: a status and all, and in minutes.

``python -m benchmarks.first_sync.store ETCD --pods N --nodes N --touch COUNT`` changes pods, as fast as it goes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any

import urllib3

from benchmarks.reading.data import CREATED, REPLICAS, node_objects, pod_objects
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.waiting import wait_until

QUOTA_BYTES = 8 * 2**30
STOPPED = ("kwok", "kube-scheduler", "kube-controller-manager")
BATCH = 100
WRITERS = 4
PENDING = 8
PLURALS = {"ReplicaSet": "replicasets", "StatefulSet": "statefulsets", "DaemonSet": "daemonsets"}
Stored = tuple[str, dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Change the first pods, each once."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_sync.store", description=__doc__)
    parser.add_argument("etcd", help="its address")
    parser.add_argument("--pods", type=int, required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--touch", type=int, required=True, metavar="COUNT")
    options = parser.parse_args(arguments)
    found = islice(pods_of(options.pods, options.nodes), options.touch)
    write(options.etcd, (_touched(key, pod) for key, pod in found))
    return 0


@contextmanager
def large_cluster(
    pods: int, nodes: int, waiting: int = PENDING, new_nodes: int = 0
) -> Iterator[tuple[ControlPlane, float]]:
    """An API server and etcd with such a cluster, in which nobody acts, and how many seconds writing it took."""
    os.environ["ETCD_QUOTA_BACKEND_BYTES"] = str(QUOTA_BYTES)
    with ControlPlane() as plane:
        for name in STOPPED:
            plane.kill(name)
        began = time.perf_counter()
        count = write(plane.etcd, cluster_of(pods, nodes, waiting, new_nodes))
        seconds = round(time.perf_counter() - began, 1)
        print(f"{count} objects written in {seconds} s", file=sys.stderr, flush=True)
        wanted = pods + waiting
        wait_until(lambda: _pods(plane) == wanted, lambda: f"{wanted} pods; there are {_pods(plane)}",
                   timeout_seconds=900.0)  # fmt: skip
        yield plane, seconds


def cluster_of(pods: int, nodes: int, waiting: int = PENDING, new_nodes: int = 0) -> Iterator[Stored]:
    """Everything, by key: nodes, the new ones empty, namespaces, owners, pods, and pods that wait for room."""
    for node in node_objects(nodes + new_nodes, 0):
        yield f"/registry/minions/{node['metadata']['name']}", {"apiVersion": "v1", "kind": "Node", **node}
    yield from _namespaces_and_owners(pods)
    yield from pods_of(pods, nodes)
    for number, pod in enumerate(pod_objects(waiting, nodes, 0)):
        yield _pending(number, pod)


def pods_of(pods: int, nodes: int) -> Iterator[Stored]:
    """The pods that run, by key; without the emptyDir that would keep each of them where it is."""
    for pod in pod_objects(pods, nodes, 0):
        meta, spec = pod["metadata"], pod["spec"]
        spec["volumes"] = [volume for volume in spec["volumes"] if "emptyDir" not in volume]
        yield f"/registry/pods/{meta['namespace']}/{meta['name']}", {"apiVersion": "v1", "kind": "Pod", **pod}


def _pods(plane: ControlPlane) -> int:
    """How many the API server says that there are."""
    found = plane.api.request("GET", "/api/v1/pods?limit=1")
    return len(found["items"]) + int(found["metadata"].get("remainingItemCount", 0))


def write(etcd: str, objects: Iterable[Stored]) -> int:
    """Put objects into etcd, several transactions at a time; how many there were."""
    pool, count = urllib3.PoolManager(maxsize=WRITERS), 0

    def send(batch: list[Stored]) -> int:
        puts = [{"requestPut": {"key": _coded(key), "value": _coded(json.dumps(value))}} for key, value in batch]
        answer = pool.request("POST", f"{etcd}/v3/kv/txn", json={"success": puts})
        if answer.status != 200:
            raise RuntimeError(f"etcd answered {answer.status}: {answer.data[:300]!r}")
        return len(batch)

    rest = iter(objects)
    with ThreadPoolExecutor(WRITERS) as writers:
        while batches := [batch for _ in range(4 * WRITERS) if (batch := list(islice(rest, BATCH)))]:
            count += sum(writers.map(send, batches))
    return count


def _namespaces_and_owners(pods: int) -> Iterator[Stored]:
    seen = set()
    for pod in pod_objects(pods, 1, 0):
        meta = pod["metadata"]
        owner, namespace = meta["ownerReferences"][0], meta["namespace"]
        if namespace not in seen:
            seen.add(namespace)
            yield f"/registry/namespaces/{namespace}", _object("v1", "Namespace", {"name": namespace})
        if owner["uid"] in seen:
            continue
        seen.add(owner["uid"])
        key = f"/registry/{PLURALS[owner['kind']]}/{namespace}/{owner['name']}"
        yield key, _owner(owner, namespace, pod)


def _owner(owner: dict[str, Any], namespace: str, pod: dict[str, Any]) -> dict[str, Any]:
    """A workload that is complete."""
    meta, spec = {"name": owner["name"], "namespace": namespace, "uid": owner["uid"], "generation": 1}, pod["spec"]
    labels = pod["metadata"]["labels"]
    template = {"metadata": {"labels": labels}, "spec": {"containers": spec["containers"]}}
    counts = {"replicas": REPLICAS, "readyReplicas": REPLICAS, "updatedReplicas": REPLICAS, "observedGeneration": 1}
    if owner["kind"] == "DaemonSet":
        counts = {"desiredNumberScheduled": REPLICAS, "numberReady": REPLICAS, "observedGeneration": 1}
    selector = {"matchLabels": {"app.kubernetes.io/name": labels["app.kubernetes.io/name"]}}
    desired = {} if owner["kind"] == "DaemonSet" else {"replicas": REPLICAS}
    return _object(
        "apps/v1", owner["kind"], meta, spec={**desired, "selector": selector, "template": template}, status=counts
    )


def _pending(number: int, pod: dict[str, Any]) -> Stored:
    """A pod that fits on no node as things are."""
    name, namespace = f"waiting-{number}", pod["metadata"]["namespace"]
    resources = {"requests": {"cpu": "29", "memory": "8Gi"}}
    spec = {"containers": [{"name": "main", "image": "registry.example.com/large:v1", "resources": resources}]}
    meta = {"name": name, "namespace": namespace, "uid": f"waiting-{number}", "creationTimestamp": CREATED}
    waits = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": CREATED}
    status = {"phase": "Pending", "conditions": [waits]}
    spec |= {"priority": 0, "schedulerName": "default-scheduler"}
    return f"/registry/pods/{namespace}/{name}", _object("v1", "Pod", meta, spec=spec, status=status)


def _touched(key: str, pod: dict[str, Any]) -> Stored:
    pod["metadata"]["annotations"]["touched"] = "true"
    return key, pod


def _object(version: str, kind: str, meta: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"creationTimestamp": CREATED, **meta}, **rest}


def _coded(text: str) -> str:
    return b64encode(text.encode()).decode()


if __name__ == "__main__":
    sys.exit(main())
