"""Pods and nodes of realistic size and variety, as an API server lists them, made from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

REPLICAS = 15
CREATED = "2026-06-01T08:00:00Z"
CLUSTER_DEFAULTS = (
    ("node.kubernetes.io/not-ready", 300),
    ("node.kubernetes.io/unreachable", 300),
)


def pod_objects(pods: int, nodes: int, seed: int) -> Iterator[dict[str, Any]]:
    """Pods of deployments of 15 replicas each, a tenth of them from daemon sets and stateful sets."""
    chance = random.Random(seed)
    return (_pod(number, nodes, chance) for number in range(pods))


def node_objects(nodes: int, seed: int) -> Iterator[dict[str, Any]]:
    """Nodes, 50 images on each."""
    chance = random.Random(seed)
    return (_node(number, chance) for number in range(nodes))


def pod_pages(pods: int, nodes: int, seed: int, limit: int = 500) -> Iterator[bytes]:
    """Pages of a PodList of `pod_objects`."""
    batch: list[str] = []
    for number, found in enumerate(pod_objects(pods, nodes, seed)):
        batch.append(json.dumps(found, separators=(",", ":")))
        if len(batch) == limit or number == pods - 1:
            yield _page("PodList", batch, number + 1, pods)
            batch = []


def node_pages(nodes: int, seed: int, limit: int = 500) -> Iterator[bytes]:
    """Pages of a NodeList of `node_objects`."""
    batch: list[str] = []
    for number, found in enumerate(node_objects(nodes, seed)):
        batch.append(json.dumps(found, separators=(",", ":")))
        if len(batch) == limit or number == nodes - 1:
            yield _page("NodeList", batch, number + 1, nodes)
            batch = []


def _page(kind: str, items: list[str], done: int, total: int) -> bytes:
    more = f',"continue":"{done}","remainingItemCount":{total - done}' if done < total else ""
    head = f'{{"kind":"{kind}","apiVersion":"v1","metadata":{{"resourceVersion":"123456"{more}}},"items":['
    return (head + ",".join(items) + "]}").encode()


def _pod(number: int, nodes: int, chance: random.Random) -> dict[str, Any]:
    template = number // REPLICAS
    app, namespace = f"service-{template:05d}", f"team-{template % 200:03d}"
    kind = "DaemonSet" if template % 20 == 0 else "StatefulSet" if template % 20 == 1 else "ReplicaSet"
    suffix = f"{number % REPLICAS}" if kind == "StatefulSet" else f"{number * 7919 % 2**20:05x}"
    revision = f"{template * 2654435761 % 2**32:08x}"
    name = f"{app}-{suffix}" if kind != "ReplicaSet" else f"{app}-{revision}-{suffix}"
    node = f"ip-10-{number % nodes // 250}-{number % nodes % 250}-12.eu-central-1.compute.internal"
    token = f"kube-api-access-{chance.getrandbits(20):05x}"
    labels = {"app.kubernetes.io/name": app, "app.kubernetes.io/instance": f"{app}-main", "pod-template-hash": revision}
    if kind == "StatefulSet":
        labels["statefulset.kubernetes.io/pod-name"] = name
    metadata = {
        "name": name,
        "generateName": f"{app}-{revision}-",
        "namespace": namespace,
        "uid": _uid(chance),
        "resourceVersion": str(1_000_000 + number),
        "creationTimestamp": CREATED,
        "labels": labels,
        "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "9090", "checksum/config": "f" * 64},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": kind,
                "name": name.rpartition("-")[0],
                "uid": f"{template:08d}-1111-4222-8333-444444444444",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        "managedFields": _managed_fields(),
    }
    spec = _spec(template, app, node, token, kind)
    return {"metadata": metadata, "spec": spec, "status": _status(number, spec)}


def _spec(template: int, app: str, node: str, token: str, kind: str) -> dict[str, Any]:
    return {
        "volumes": [
            {"name": "config", "configMap": {"name": f"{app}-config", "defaultMode": 420}},
            {"name": "cache", "emptyDir": {}},
            {
                "name": token,
                "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]},
            },
        ],
        "containers": [_container("main", app, token, template), _container("proxy", "mesh-proxy", token, 3)],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "serviceAccountName": app,
        "nodeName": node,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "affinity": _affinity(app, node, kind),
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
            for key, seconds in CLUSTER_DEFAULTS
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app.kubernetes.io/name": app}},
            }
        ],
    }


def _affinity(app: str, node: str, kind: str) -> dict[str, Any]:
    """Replicas wish to be apart; a DaemonSet's pod is pinned to its node."""
    if kind == "DaemonSet":
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    apart = {
        "labelSelector": {"matchLabels": {"app.kubernetes.io/name": app}},
        "topologyKey": "kubernetes.io/hostname",
    }
    wishes = [{"weight": 100, "podAffinityTerm": apart}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wishes}}


def _container(name: str, app: str, token: str, template: int) -> dict[str, Any]:
    probe = {
        "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
        "initialDelaySeconds": 10,
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    return {
        "name": name,
        "image": f"registry.example.com/platform/{app}:v1.{template % 40}.2",
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "env": [{"name": f"SETTING_{index}", "value": f"value-{index}-of-{app}"} for index in range(5)],
        "resources": {
            "limits": {"memory": f"{256 + 64 * (template % 7)}Mi"},
            "requests": {"cpu": f"{50 + 25 * (template % 11)}m", "memory": f"{256 + 64 * (template % 7)}Mi"},
        },
        "volumeMounts": [
            {"name": "config", "readOnly": True, "mountPath": "/etc/config"},
            {"name": token, "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"},
        ],
        "livenessProbe": probe,
        "readinessProbe": probe,
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }


def _status(number: int, spec: dict[str, Any]) -> dict[str, Any]:
    started = f"2026-06-{1 + number % 28:02d}T{number % 24:02d}:{number % 60:02d}:{number % 59:02d}Z"
    types = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    return {
        "phase": "Running",
        "conditions": [
            {"type": name, "status": "True", "lastProbeTime": None, "lastTransitionTime": started} for name in types
        ],
        "hostIP": "10.0.0.1",
        "podIP": f"10.1.{number % 250}.{number // 250 % 250}",
        "startTime": started,
        "containerStatuses": [
            {
                "name": container["name"],
                "state": {"running": {"startedAt": started}},
                "lastState": {},
                "ready": True,
                "restartCount": 0,
                "image": container["image"],
                "imageID": f"registry.example.com/platform/image@sha256:{'0' * 64}",
                "containerID": f"containerd://{'1' * 64}",
                "started": True,
                "allocatedResources": container["resources"]["requests"],
                "resources": container["resources"],
            }
            for container in spec["containers"]
        ],
        "qosClass": "Burstable",
    }


def _managed_fields() -> list[dict[str, Any]]:
    fields = {f"f:field{index}": {"f:value": {}} for index in range(6)}
    return [
        {
            "manager": manager,
            "operation": "Update",
            "apiVersion": "v1",
            "time": CREATED,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {'k:{"uid":"x"}': {}}, "f:spec": fields},
        }
        for manager in ("kube-controller-manager", "kubelet")
    ]


def _node(number: int, chance: random.Random) -> dict[str, Any]:
    name = f"ip-10-{number // 250}-{number % 250}-12.eu-central-1.compute.internal"
    offered = {"cpu": "31850m", "memory": "127Gi", "pods": "110", "ephemeral-storage": "95551679124"}
    return {
        "metadata": {
            "name": name,
            "uid": _uid(chance),
            "resourceVersion": str(number),
            "creationTimestamp": CREATED,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "topology.kubernetes.io/zone": f"eu-central-1{'abc'[number % 3]}",
                "node.kubernetes.io/instance-type": "m6i.8xlarge",
            },
        },
        "spec": {"providerID": f"aws:///eu-central-1a/i-{number:017x}"},
        "status": {
            "capacity": {**offered, "cpu": "32", "memory": "128Gi"},
            "allocatable": offered,
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": CREATED}],
            "nodeInfo": {"kernelVersion": "6.1", "kubeletVersion": "v1.36.3", "bootID": _uid(chance)},
            "images": [
                {
                    "names": [
                        f"registry.example.com/platform/service-{index:05d}@sha256:{index:064x}",
                        f"registry.example.com/platform/service-{index:05d}:v1.{index % 40}.2",
                    ],
                    "sizeBytes": 50_000_000 + index * 1000,
                }
                for index in sorted(chance.sample(range(2000), 50))
            ],
        },
    }


def _uid(chance: random.Random) -> str:
    text = f"{chance.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
