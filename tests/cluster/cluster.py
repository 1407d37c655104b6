"""The cluster as a test works with it: create things, wait for nodes and pods, look."""

from __future__ import annotations

from typing import Any

from tests.cluster.api import Api, ApiError, Manifest
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.shapes import node
from tests.cluster.waiting import wait_until


class Cluster:
    """A control plane with an administrator's client and the waits that tests need."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self.control_plane = control_plane
        self.api: Api = control_plane.api

    def create(self, *manifests: Manifest) -> list[Manifest]:
        """Create objects in the given order."""
        return [self.api.create(manifest) for manifest in manifests]

    def add_nodes(self, count: int, prefix: str = "node", **shape: Any) -> list[str]:
        """Create equal nodes named PREFIX-0, PREFIX-1, … and wait until pods can be placed on them."""
        names = [f"{prefix}-{number}" for number in range(count)]
        self.create(*(node(name, **shape) for name in names))
        self.wait_nodes_ready(names)
        return names

    def node_of(self, pod: str, namespace: str = "default") -> str:
        """Return the node a pod is bound to, or an empty text."""
        name: str = self.api.get("pods", pod, namespace)["spec"].get("nodeName", "")
        return name

    def pods_by_node(self, namespace: str | None = None, *, labels: str = "") -> dict[str, list[str]]:
        """Return the names of the pods on each node that has some; unbound pods stand under an empty text."""
        found: dict[str, list[str]] = {}
        for pod in self.api.list("pods", namespace, labels=labels):
            found.setdefault(pod["spec"].get("nodeName", ""), []).append(pod["metadata"]["name"])
        return {name: sorted(found[name]) for name in sorted(found)}

    def wait_nodes_ready(self, names: list[str] | None = None, *, timeout_seconds: float = 60.0) -> None:
        """Wait until these nodes, or all, are ready and the taints that say otherwise have gone."""

        def waiting() -> list[str]:
            nodes = {node["metadata"]["name"]: node for node in self.api.list("nodes")}
            wanted = nodes if names is None else names
            return [name for name in wanted if name not in nodes or not _is_node_ready(nodes[name])]

        wait_until(lambda: not waiting(), lambda: f"ready nodes: {waiting()}", timeout_seconds=timeout_seconds)

    def wait_pods_running(
        self, count: int, namespace: str = "default", *, labels: str = "", ready: bool = True,
        timeout_seconds: float = 60.0,
    ) -> list[Manifest]:  # fmt: skip
        """Wait until exactly so many pods are there, all running, none on its way out, and ready if so asked."""
        pods: list[Manifest] = []

        def all_run() -> bool:
            pods[:] = self.api.list("pods", namespace, labels=labels)
            return len(pods) == count and all(_is_running(pod, ready=ready) for pod in pods)

        def what() -> str:
            return f"{count} running pods; there are: " + ", ".join(map(_told, pods))

        wait_until(all_run, what, timeout_seconds=timeout_seconds)
        return pods

    def wait_gone(
        self, resource: str, name: str, namespace: str | None = None, *, uid: str | None = None,
        timeout_seconds: float = 60.0,
    ) -> None:  # fmt: skip
        """Wait until an object is gone; with its uid, another one of its name does not count."""

        def is_gone() -> bool:
            try:
                found = self.api.get(resource, name, namespace)
            except ApiError as error:
                if error.code == 404:
                    return True
                raise
            return uid is not None and found["metadata"]["uid"] != uid

        wait_until(is_gone, f"{resource} {name} to be gone", timeout_seconds=timeout_seconds)


def condition(item: Manifest, kind: str) -> str:
    """Return the status of one condition of an object: True, False, Unknown, or an empty text."""
    conditions = item.get("status", {}).get("conditions") or []
    return next((str(entry["status"]) for entry in conditions if entry["type"] == kind), "")


def _is_node_ready(node: Manifest) -> bool:
    """Whether a node is ready and carries no taint of the node controller."""
    taints = [taint["key"] for taint in node["spec"].get("taints", [])]
    wants_ready = "node.kubernetes.io/not-ready" not in taints and "node.kubernetes.io/unreachable" not in taints
    return condition(node, "Ready") == "True" and wants_ready


def _is_running(pod: Manifest, *, ready: bool) -> bool:
    """Whether a pod runs and stays."""
    runs = pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
    return runs and (not ready or condition(pod, "Ready") == "True")


def _told(pod: Manifest) -> str:
    """Tell a pod's state in a few words."""
    going = " going" if "deletionTimestamp" in pod["metadata"] else ""
    where = pod["spec"].get("nodeName", "no node")
    messages = [entry.get("message", "") for entry in pod["status"].get("conditions", [])]
    reason = "".join(f" ({message})" for message in messages if message)
    return f"{pod['metadata']['name']} {pod['status'].get('phase')}{going} on {where}{reason}"
