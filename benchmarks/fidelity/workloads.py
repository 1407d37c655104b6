"""Random ReplicaSets whose pods wait behind a gate, so that they can be let go in a known order."""

from __future__ import annotations

from benchmarks.fidelity.draw import Draw, Manifest
from benchmarks.fidelity.pods import pod
from benchmarks.fidelity.profiles import MEASURED

NAMESPACE = "default"
SET = "example.com/set"
"""Label that ties pods to their ReplicaSet."""


def replica_sets(draw: Draw, nodes: list[str], pods: int) -> list[Manifest]:
    """ReplicaSets with so many pods in all, each with constraints of its own."""
    found: list[Manifest] = []
    while pods > 0:
        replicas = min(pods, draw.number(1, 6))
        found.append(_replica_set(draw, f"set{len(found)}", nodes, replicas))
        pods -= replicas
    return found


def _replica_set(draw: Draw, name: str, nodes: list[str], replicas: int) -> Manifest:
    drawn = pod(draw, name, nodes, scheduler=draw.one(MEASURED))
    labels = {**drawn["metadata"]["labels"], SET: name}
    spec = {key: value for key, value in drawn["spec"].items() if key != "priorityClassName"}
    spec["terminationGracePeriodSeconds"] = 0
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {SET: name}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
