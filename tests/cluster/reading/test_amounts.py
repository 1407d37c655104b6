"""Amounts that the real API server accepts and that cannot be counted: they cost whoever wrote them, nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.reading.test_mirror import mirrored, wait_until_equal
from tests.cluster.shapes import deployment, namespace
from tests.cluster.tool import Tool

AMOUNTS = (
    "8Ei", "1e25", "9223372036854775807", "4503599627370497", "1n", "0.1m", "1e-30", "100E", "1e400", "1e9999",
    "1e-9999",
    "9" * 300, "0." + "0" * 300 + "1", "-1",
)  # fmt: skip
INTEGERS = (2**63 - 1, 2**62, 9_223_372_037, 2**31, 2**31 - 1, 0, -1, -(2**63))
POD: dict[str, Any] = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "odd", "namespace": "default"},
    "spec": {"containers": [{"name": "main", "image": "registry.example.com/app:v1"}],
             "schedulerName": "nobody"},
}  # fmt: skip
CLAIM: dict[str, Any] = {
    "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "odd", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "none"},
}  # fmt: skip
VOLUME: dict[str, Any] = {
    "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "odd"},
    "spec": {"accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}},
}  # fmt: skip
SELECTED: dict[str, Any] = {"selector": {"matchLabels": {"app": "odd"}}}
TEMPLATE = {"metadata": {"labels": {"app": "odd"}}, "spec": POD["spec"]}


def at(manifest: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The manifest with a value at a path such as ``spec.containers.0.resources``."""
    made = deepcopy(manifest)
    part: Any = made
    *steps, last = path.split("/")
    for step in steps:
        part = part[int(step)] if isinstance(part, list) else part.setdefault(step, {})
    part[last] = value
    return made


def odd_objects() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of a number or a quantity, with values at the edge and beyond, each in an object of its own."""
    container = "spec/containers/0/resources"
    for value in AMOUNTS:
        for resource in ("cpu", "memory", "ephemeral-storage", "example.com/token"):
            amounts = {"requests": {resource: value}, "limits": {resource: value}}
            yield f"pod {resource} {value}", at(POD, container, amounts)
        yield f"pod limit {value}", at(POD, container, {"limits": {"memory": value}})
        yield f"pod-level {value}", at(POD, "spec/resources", {"requests": {"memory": value}})
        yield f"claim {value}", at(CLAIM, "spec/resources", {"requests": {"storage": value}})
        yield f"volume {value}", at(VOLUME, "spec/capacity", {"storage": value})
        yield f"capacity {value}", {
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "storageClassName": "none",
            "metadata": {"name": "odd", "namespace": "default"}, "capacity": value, "maximumVolumeSize": value,
        }  # fmt: skip
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "odd", "namespace": "team"}}
        yield f"quota {value}", at(quota, "spec/hard", {"requests.memory": value, "count/pods": value})
    for number in INTEGERS:
        for field in ("terminationGracePeriodSeconds", "activeDeadlineSeconds", "priority"):
            yield f"pod {field} {number}", at(POD, f"spec/{field}", number)
        toleration = {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": number}
        yield f"pod tolerationSeconds {number}", at(POD, "spec/tolerations", [toleration])
        spread = {"topologyKey": "zone", "maxSkew": number, "whenUnsatisfiable": "DoNotSchedule"}
        yield f"pod maxSkew {number}", at(POD, "spec/topologySpreadConstraints", [spread])
        domains = {**spread, "maxSkew": 1, "minDomains": number}
        yield f"pod minDomains {number}", at(POD, "spec/topologySpreadConstraints", [domains])
        greater = {"matchExpressions": [{"key": "n", "operator": "Gt", "values": [str(number) * 3]}]}
        wish = {"weight": number, "preference": greater}
        near = {"preferredDuringSchedulingIgnoredDuringExecution": [wish],
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [greater]}}  # fmt: skip
        yield f"pod weight {number}", at(POD, "spec/affinity", {"nodeAffinity": near})
        near["preferredDuringSchedulingIgnoredDuringExecution"] = []
        yield f"pod Gt {number}", at(POD, "spec/affinity", {"nodeAffinity": deepcopy(near)})
        yield f"pod port {number}", at(POD, "spec/containers/0/ports", [{"containerPort": number}])
        for kind in ("ReplicaSet", "Deployment", "StatefulSet"):
            made = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "odd", "namespace": "default"},
                    "spec": {**SELECTED, "template": TEMPLATE, "replicas": number, "paused": True}}  # fmt: skip
            if number in (-1, -(2**63), 2**63 - 1, 2**31):
                yield f"{kind} replicas {number}", made
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": SELECTED,
                  "metadata": {"name": "odd", "namespace": "default"}}  # fmt: skip
        yield f"budget minAvailable {number}", at(budget, "spec/minAvailable", number)
        yield f"budget maxUnavailable {number}%", at(budget, "spec/maxUnavailable", f"{number}%")
        yield f"priority class {number}", {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "odd"}, "value": number,
        }  # fmt: skip
        driver = {"name": "d", "nodeID": "n", "allocatable": {"count": number}}
        yield f"CSINode {number}", {
            "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "odd"},
            "spec": {"drivers": [driver]},
        }  # fmt: skip
        yield f"autoscaler {number}", {
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "odd", "namespace": "default"},
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"},
                     "maxReplicas": number, "minReplicas": number},
        }  # fmt: skip


SURE = ("pod memory 8Ei", "pod memory 1e25", "claim 1e25", f"pod terminationGracePeriodSeconds {2**63 - 1}")
"""What the server takes for certain: a list that it refused would prove nothing."""


def test_whatever_the_server_accepts_can_be_read(cluster: Cluster, tool: Tool, tmp_path: Path) -> None:
    """No object that it takes ends a reading, or blinds the mirror; what is not counted is said of that object."""
    free, barred = cluster.add_nodes(2)
    cluster.create(namespace("team"))
    taken = {}
    for number, (label, manifest) in enumerate(odd_objects()):
        manifest["metadata"]["name"] = f"odd-{number}"
        with suppress(ApiError):
            cluster.create(manifest)
            taken[label] = f"odd-{number}"
    assert set(SURE) <= set(taken)
    bound = at(at(POD, "spec/nodeName", barred), "spec/terminationGracePeriodSeconds", 2**63 - 1)
    cluster.create(bound, deployment("good", replicas=2, cpu="100m"))
    cluster.wait_pods_running(2, labels="app=good")

    found = LiveReader(connect(str(cluster.control_plane.kubeconfig), read_only=True)).read()
    with mirrored(cluster) as (mirror, connection):
        wait_until_equal(mirror, connection, lambda seen: len(seen.set_aside) == len(found.set_aside))
    aside = {item.name: item for item in found.set_aside}
    assert {taken[label] for label in SURE} <= set(aside)
    assert {item.kind for item in aside.values()} == {"Pod", "PersistentVolumeClaim"}
    assert not [
        item.text for item in aside.values() if "out of range" not in item.problem and "more than" not in item.problem
    ]
    assert {name: node.problem is None for name, node in found.node_by_name.items() if not name.startswith("odd")} == {
        free: True, barred: False
    }  # fmt: skip
    assert sum(pod.labels.get("app") == "good" for pod in found.pods) == 2
    print(len(taken), "taken;", len(aside), "set aside")

    recorded = str(tmp_path / "recorded.json")
    told = tool.run("plan", "-o", "json", "--objective", "SpreadLoad").warnings
    assert any("odd-" in text for text in told)
    for command in (("schedule",), ("explain", "node", barred), ("explain", "pod", "default/odd"),
                    ("score", f"default/{taken['pod cpu 1n']}"), ("snapshot", "-o", recorded)):  # fmt: skip
        tool.run(*command)
