"""Lets the real descheduler work on a drawn cluster, three times from the same state, and keeps what it did.

Controllers and scheduler do not run: nobody else makes, moves or removes a pod, and budgets keep the status they were
given. So each run finds the same cluster, and what is kept is enough to judge it anew without a control plane.
"""

from __future__ import annotations

import json
import lzma
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from benchmarks.descheduler_policy.drawing import CLASSES, DrawnCase, DrawnPod, draw
from tests.cluster.api import ApiError, Manifest
from tests.cluster.building.descheduler import descheduler_command
from tests.cluster.cluster import Cluster
from tests.cluster.plane.audit import Request
from tests.cluster.plane.clean_slate import CleanSlate
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.plane.kwok import GONE_AFTER
from tests.cluster.shapes import namespace, priority_class
from tests.cluster.waiting import wait_until

RUNS: Final = 3
STAYS: Final = "10m"
STILL: Final = ("kube-scheduler", "kube-controller-manager")
UNPLAYED: Final = (ApiError, TimeoutError, subprocess.SubprocessError)
RECORDED: Final = (
    ("v1", "Node", "nodes"),
    ("v1", "Pod", "pods"),
    ("v1", "Namespace", "namespaces"),
    ("apps/v1", "ReplicaSet", "replicasets"),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    ("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses"),
)


class RecordedCase(NamedTuple):
    """``runs``: for each run of descheduler the pods that it evicted and those it was refused, in order."""

    seed: int
    plugin: str
    policy: Manifest
    cluster: Manifest
    runs: list[dict[str, list[str]]]


def recorded(folder: Path, seed: int) -> RecordedCase | None:
    """A case that was recorded before."""
    path = _path(folder, seed)
    return RecordedCase(**json.loads(lzma.decompress(path.read_bytes()))) if path.is_file() else None


def keep(folder: Path, case: RecordedCase) -> None:
    """Write a case, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    partial = _path(folder, case.seed).with_suffix(".partial")
    partial.write_bytes(lzma.compress(json.dumps(case._asdict()).encode()))
    partial.rename(_path(folder, case.seed))


def _path(folder: Path, seed: int) -> Path:
    return folder / f"case-{seed:05}.json.xz"


class Recorder:
    """A control plane on which case after case is set up and played."""

    def __init__(self, plane: ControlPlane, binary: Path, folder: Path) -> None:
        for name in STILL:
            plane.kill(name)
        self._plane, self._cluster, self._binary, self._folder = plane, Cluster(plane), binary, folder
        self._cluster.create(*(priority_class(name, value) for name, value in CLASSES.items()))
        self._cluster.create(namespace("team", {"team": "yes"}))
        self._cluster.create(_service_account("team"))
        self._slate = CleanSlate(plane.api)

    def record(self, seed: int) -> RecordedCase:
        """Play one case and keep it; where it cannot be played, nothing is kept and the cluster is as before."""
        try:
            return self._played(draw(seed), seed)
        except UNPLAYED:
            self._slate.restore()
            raise

    def _played(self, case: DrawnCase, seed: int) -> RecordedCase:
        self._put_nodes(case)
        owners = self._cluster.create(*case.owners)
        uids = {owner["metadata"]["name"]: owner["metadata"]["uid"] for owner in owners}
        self._cluster.create(*case.budgets)
        found: Manifest = {}
        runs = []
        for number in range(RUNS):
            pods = [_of_run(pod, uids, number) for pod in case.pods]
            self._put_pods(pods)
            self._put_budgets(case)
            found = found if number else self._objects()
            runs.append(self._run(case))
            self._remove_pods()
        kept = RecordedCase(seed, case.plugin, case.policy, found, runs)
        self._remove(case)
        keep(self._folder, kept)
        return kept

    def _put_nodes(self, case: DrawnCase) -> None:
        """Without the taint of a new node, which nobody here takes away again."""
        self._cluster.create(*case.nodes)
        for item in case.nodes:
            taints = item["spec"].get("taints", [])
            self._cluster.api.patch("nodes", item["metadata"]["name"], {"spec": {"taints": taints}})
        self._cluster.wait_nodes_ready([item["metadata"]["name"] for item in case.nodes])

    def _put_pods(self, pods: list[DrawnPod]) -> None:
        self._cluster.create(*(pod.manifest for pod in pods))

        def waiting() -> list[str]:
            pods = self._cluster.api.list("pods")
            return [pod["metadata"]["name"] for pod in pods if pod["status"].get("phase") != "Running"]

        wait_until(lambda: not waiting(), lambda: f"running pods: {waiting()}")
        for pod in pods:
            if pod.restarts or pod.has_failed:
                self._change_status(pod)

    def _change_status(self, pod: DrawnPod) -> None:
        metadata = pod.manifest["metadata"]
        found = self._cluster.api.get("pods", metadata["name"], metadata["namespace"])["status"]
        containers = [{**item, "restartCount": pod.restarts} for item in found["containerStatuses"]]
        status: Manifest = {"containerStatuses": containers}
        if pod.has_failed:
            ended = {"terminated": {"exitCode": 1, "reason": "Error"}}
            status = {
                "phase": "Failed",
                "containerStatuses": [{**item, "ready": False, "state": ended} for item in containers],
            }
        self._cluster.api.patch(
            "pods", metadata["name"], {"status": status}, metadata["namespace"], subresource="status"
        )

    def _put_budgets(self, case: DrawnCase) -> None:
        """With the status that their controller would write."""
        for budget in case.budgets:
            name, space = budget["metadata"]["name"], budget["metadata"]["namespace"]
            healthy = sum(pod.owner == name and not pod.has_failed for pod in case.pods)
            wanted = budget["spec"]["minAvailable"]
            generation = self._cluster.api.get("poddisruptionbudgets", name, space)["metadata"]["generation"]
            status = {
                "observedGeneration": generation,
                "expectedPods": sum(pod.owner == name for pod in case.pods),
                "currentHealthy": healthy,
                "desiredHealthy": wanted,
                "disruptionsAllowed": max(0, healthy - wanted),
                "disruptedPods": None,
            }
            self._cluster.api.patch("poddisruptionbudgets", name, {"status": status}, space, subresource="status")

    def _objects(self) -> Manifest:
        """The cluster as a file that ``plan -f`` reads."""
        items = [
            {"apiVersion": version, "kind": kind, **item}
            for version, kind, resource in RECORDED
            for item in self._cluster.api.list(resource)
        ]
        marks = {"annotations": {"rescheduler.dev/takenAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}}
        return {"apiVersion": "v1", "kind": "List", "metadata": marks, "items": items}

    def _run(self, case: DrawnCase) -> dict[str, list[str]]:
        """Whom one pass asked to evict, by the API server's audit log."""
        file = self._plane.root / "descheduler.yaml"
        file.write_text(yaml.safe_dump(case.policy))
        mark = self._plane.audit.mark()
        command = descheduler_command(self._binary, self._plane.kubeconfig, file)
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        sent = [write for write in self._plane.audit.writes_since(mark) if write.subresource == "eviction"]
        return {
            "evicted": [_of_first_run(write) for write in sent if write.code < 300],
            "refused": [_of_first_run(write) for write in sent if write.code >= 300],
        }

    def _remove_pods(self) -> None:
        for space in ("default", "team"):
            self._cluster.api.request(
                "DELETE",
                f"/api/v1/namespaces/{space}/pods",
                {"gracePeriodSeconds": 0, "propagationPolicy": "Background"},
            )
        wait_until(lambda: not self._cluster.api.list("pods"), "all pods to be gone")

    def _remove(self, case: DrawnCase) -> None:
        for item, resource in _all(case):
            self._cluster.api.delete(resource, item["metadata"]["name"], item["metadata"].get("namespace"))


def _all(case: DrawnCase) -> Iterator[tuple[Manifest, str]]:
    for items, resource in (
        (case.budgets, "poddisruptionbudgets"), (case.owners, "replicasets"), (case.nodes, "nodes"),
    ):  # fmt: skip
        yield from ((item, resource) for item in items)


def _of_run(pod: DrawnPod, uids: dict[str, str], number: int) -> DrawnPod:
    """With a name of its own in each run: kwok deletes by name, and may be late with one of the run before.

    A victim is terminating to the end of the run, as a real pod has its grace period: one that is gone at once would
    not count for ``minReplicas`` and leave room behind.
    """
    manifest = json.loads(json.dumps(pod.manifest))
    metadata = manifest["metadata"]
    metadata["name"] += f"-{number}"
    metadata["annotations"] = {GONE_AFTER: STAYS}
    metadata["ownerReferences"] = [{**owner, "uid": uids[owner["name"]]} for owner in metadata["ownerReferences"]]
    return pod._replace(manifest=manifest)


def _of_first_run(write: Request) -> str:
    """The pod that stands for it in the recorded cluster."""
    return f"{write.namespace}/{write.name.rpartition('-')[0]}-0"


def _service_account(space: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": space}}
