"""Plays cluster-autoscaler on pretended nodes: adds and removes them, and writes its events, taints and status.

As a script: python -m tests.cluster.autoscaler.fake_autoscaler KUBECONFIG [SECONDS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

from tests.cluster.api import Api, ApiError, Manifest
from tests.cluster.cluster import condition
from tests.cluster.shapes import node

COMPONENT = "cluster-autoscaler"
STATUS = "cluster-autoscaler-status"
GROUP_LABEL = "example.com/node-group"
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
PROVISIONING = "autoscaling.x-k8s.io/v1/provisioningrequests"
BUFFERS = "autoscaling.x-k8s.io/v1beta1/capacitybuffers"
EXPENDABLE_BELOW = -10
_numbers = count(1)


@dataclass
class NodeGroup:
    """Equal nodes of which there may be so many; ``cpu`` in cores is all that is looked at."""

    name: str = "pool"
    cpu: int = 4
    most: int = 3
    labels: dict[str, str] = field(default_factory=dict)


class FakeAutoscaler:
    """One node group. ``unneeded_seconds``: a node that is empty for so long is removed; None: never."""

    def __init__(
        self, api: Api, group: NodeGroup | None = None, *, unneeded_seconds: float | None = None,
        node_takes_seconds: float = 0.5,
    ) -> None:  # fmt: skip
        self._api = api
        self.group = group or NodeGroup()
        self._unneeded_seconds = unneeded_seconds
        self._node_takes_seconds = node_takes_seconds
        self._told: set[tuple[str, str]] = set()
        self._empty_since: dict[str, float] = {}
        self._stopping = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self.added: list[str] = []
        self.removed: list[str] = []

    def __enter__(self) -> FakeAutoscaler:
        self._write_status("NoActivity")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join(30)
        with suppress(ApiError):
            self._api.delete("configmaps", STATUS, "kube-system")

    def _run(self) -> None:
        while not self._stopping.wait(0.2):
            try:
                self.step()
            except ApiError as error:  # something went away under our hands; the real one goes on too
                print(f"fake autoscaler: {error}", file=sys.stderr)

    def step(self) -> None:
        """One look at the cluster, as the real one takes it every few seconds."""
        asking = [*self._unschedulable(), *self._requested()]
        fitting = [item for item in asking if item.cpu <= self.group.cpu]
        for item in asking:
            if item.cpu > self.group.cpu:
                self._tell_once(item, "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 Insufficient cpu")
        if fitting:
            self._scale_up(fitting)
        if self._unneeded_seconds is not None:
            self._scale_down()

    def _scale_up(self, asking: list[Asking]) -> None:
        """One node for all of them, as far as the group goes; pods that have triggered one wait for it."""
        new = [item for item in asking if (item.key, "TriggeredScaleUp") not in self._told]
        if not new:
            return
        size = len(self._nodes())
        if size >= self.group.most:
            for item in new:
                self._tell_once(item, "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached")
            return
        name = f"{self.group.name}-{next(_numbers)}"
        told = f"[{{{self.group.name} {size}->{size + 1} (max: {self.group.most})}}]"
        for item in new:
            self._tell_once(item, "TriggeredScaleUp", f"pod triggered scale-up: {told}")
        self._write_status("InProgress")
        self._event("ConfigMap", STATUS, "kube-system", "ScaledUpGroup",
                    f"Scale-up: group {self.group.name} size set to {size + 1} instead of {size}")  # fmt: skip
        self._stopping.wait(self._node_takes_seconds)
        labels = {GROUP_LABEL: self.group.name, **self.group.labels}
        self._api.create(node(name, cpu=str(self.group.cpu), labels=labels))
        self.added.append(name)
        self._write_status("NoActivity")
        for item in new:
            item.provisioned()

    def _scale_down(self) -> None:
        in_use = {
            pod["spec"].get("nodeName") for pod in self._api.list("pods")
            if not any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", []))
        }  # fmt: skip
        now = time.monotonic()
        empty = {name for name in self._nodes() if name not in in_use}
        self._empty_since = {name: self._empty_since.get(name, now) for name in empty}
        for name, since in self._empty_since.items():
            if now - since >= (self._unneeded_seconds or 0.0):
                self.remove(name)

    def remove(self, name: str) -> None:
        """Mark a node, say so, and delete it."""
        found = self._api.get("nodes", name)
        if found["metadata"].get("annotations", {}).get(DISABLED) == "true":
            return
        self.mark(name)
        self._event("Node", name, "default", "ScaleDown", "marked the node as toBeDeleted/unschedulable")
        self._event("ConfigMap", STATUS, "kube-system", "ScaleDownEmpty", f'Scale-down: removing empty node "{name}"')
        self._stopping.wait(self._node_takes_seconds)
        self._api.delete("nodes", name)
        self.removed.append(name)

    def mark(self, name: str) -> None:
        """The taint by which it keeps pods off a node that it is about to remove."""
        taints = self._api.get("nodes", name)["spec"].get("taints", [])
        taint = {"key": TO_BE_DELETED, "value": str(int(time.time())), "effect": "NoSchedule"}
        self._api.patch("nodes", name, {"spec": {"taints": [*taints, taint]}})

    def _nodes(self) -> list[str]:
        return [item["metadata"]["name"] for item in self._api.list("nodes", labels=f"{GROUP_LABEL}={self.group.name}")]

    def _unschedulable(self) -> Iterator[Asking]:
        """Pods that it looks at: ungated, not nominated, not of too low a priority."""
        for pod in self._api.list("pods"):
            spec, status = pod["spec"], pod["status"]
            if spec.get("nodeName") or spec.get("schedulingGates") or status.get("nominatedNodeName"):
                continue
            if condition(pod, "PodScheduled") == "False" and spec.get("priority", 0) >= EXPENDABLE_BELOW:
                yield Asking(self, pod, "Pod", _cpu(spec))

    def _requested(self) -> Iterator[Asking]:
        """ProvisioningRequests and CapacityBuffers, where these are served."""
        for resource in (PROVISIONING, BUFFERS):
            try:
                items = self._api.list(resource)
            except ApiError:
                continue
            for item in items:
                if condition(item, "Provisioned") != "True":
                    yield Asking(self, item, resource, sum(self._needs(item)))

    def _needs(self, item: Manifest) -> Iterator[float]:
        spec, namespace = item["spec"], item["metadata"]["namespace"]
        for pod_set in spec.get("podSets") or [{"count": spec["replicas"], "podTemplateRef": spec["podTemplateRef"]}]:
            template = self._api.get("v1/podtemplates", pod_set["podTemplateRef"]["name"], namespace)
            yield pod_set["count"] * _cpu(template["template"]["spec"])

    def _tell_once(self, item: Asking, reason: str, message: str) -> None:
        if (item.key, reason) not in self._told:
            self._told.add((item.key, reason))
            if item.kind == "Pod":
                metadata = item.found["metadata"]
                self._event("Pod", metadata["name"], metadata["namespace"], reason, message)

    def provision(self, item: Manifest, resource: str) -> None:
        """Say of a request that its room is there."""
        now = _now()
        said = {"type": "Provisioned", "status": "True", "reason": "Done", "message": "", "lastTransitionTime": now}
        metadata = item["metadata"]
        self._api.patch(
            resource, metadata["name"], {"status": {"conditions": [said]}}, metadata["namespace"], subresource="status"
        )

    def _event(self, kind: str, name: str, namespace: str, reason: str, message: str) -> None:
        now = _now()
        self._api.create(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": f"{name}.{next(_numbers)}.{time.time_ns()}", "namespace": namespace},
                "involvedObject": {"kind": kind, "name": name, "namespace": namespace if kind != "Node" else ""},
                "reason": reason,
                "message": message,
                "type": "Normal",
                "source": {"component": COMPONENT},
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
            }
        )

    def _write_status(self, scale_up: str) -> None:
        now = _now()
        whole = f"  scaleUp:\n    status: {scale_up}\n    lastProbeTime: {now}\n    lastTransitionTime: {now}\n"
        head = f"time: {now}\nautoscalerStatus: Running\nclusterWide:\n  health:\n    status: Healthy\n"
        text = f"{head}{whole}nodeGroups: []\n"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": STATUS, "namespace": "kube-system"}}
        self._api.apply({**body, "data": {"status": text}})


@dataclass
class Asking:
    """Somebody who needs ``cpu`` cores: a pod, or a request for room."""

    autoscaler: FakeAutoscaler
    found: Manifest
    kind: str
    cpu: float

    @property
    def key(self) -> str:
        """Who it is."""
        uid: str = self.found["metadata"]["uid"]
        return uid

    def provisioned(self) -> None:
        """The room is there."""
        if self.kind != "Pod":
            self.autoscaler.provision(self.found, self.kind)


def _cpu(spec: dict[str, Any]) -> float:
    total = 0.0
    for container in spec["containers"]:
        text = container.get("resources", {}).get("requests", {}).get("cpu", "0")
        total += float(text[:-1]) / 1000 if text.endswith("m") else float(text)
    return total


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    with FakeAutoscaler(Api.from_kubeconfig(Path(sys.argv[1])), unneeded_seconds=10.0):
        time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 3600.0)
