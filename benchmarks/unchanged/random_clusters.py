"""Random clusters as plain API objects, made without any code of the program that is compared."""

from __future__ import annotations

import random
from typing import Any

Object = dict[str, Any]

NOW = "2026-01-05T10:00:00Z"
BEFORE = "2026-01-04T10:00:00Z"
ZONES = ("a", "b", "c")


def random_cluster(seed: int) -> Object:
    """A ``List`` of nodes, workloads, pods and budgets, as kubectl would print it."""
    return _Maker(random.Random(seed)).made()


class _Maker:
    """Puts one cluster together; pods sit wherever there is room, whatever their affinity says."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._items: list[Object] = []
        self._free: dict[str, list[int]] = {}

    def made(self) -> Object:
        rng = self._rng
        for number in range(rng.randint(3, 8)):
            self._node(number)
        for number in range(rng.randint(3, 11)):
            self._workload(number)
        return {"apiVersion": "v1", "kind": "List", "metadata": {"creationTimestamp": NOW}, "items": self._items}

    def _node(self, number: int) -> None:
        rng, name = self._rng, f"node-{number}"
        cpu, memory = rng.choice((4000, 8000, 16000)), rng.choice((8, 16, 32))
        gpus = rng.choice((0, 0, 0, 4))
        spec: Object = {}
        if rng.random() < 0.1:
            spec["taints"] = [{"key": "team", "value": "a", "effect": rng.choice(("NoSchedule", "PreferNoSchedule"))}]
        if rng.random() < 0.05:
            spec["unschedulable"] = True
        labels = {
            "kubernetes.io/hostname": name,
            "topology.kubernetes.io/zone": ZONES[number % len(ZONES)],
            "disk": rng.choice(("fast", "slow")),
            "price": rng.choice(("1", "2.5", "4")),
        }
        offered = {"cpu": f"{cpu}m", "memory": f"{memory}Gi", "pods": "30", "nvidia.com/gpu": str(gpus)}
        status = {"allocatable": offered, "capacity": offered, "conditions": [{"type": "Ready", "status": "True"}]}
        metadata = {"name": name, "uid": f"uid-{name}", "labels": labels, "creationTimestamp": BEFORE}
        self._items.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status})
        self._free[name] = [cpu, memory * 1024, gpus, 30]

    def _workload(self, number: int) -> None:
        rng = self._rng
        kind = rng.choices(("ReplicaSet", "StatefulSet", "DaemonSet", "Job"), (12, 3, 1, 1))[0]
        name, namespace = f"app-{number}", rng.choice(("shop", "shop", "shop", "data", "kube-system"))
        replicas = rng.randint(1, 7)
        owner = {"apiVersion": "batch/v1" if kind == "Job" else "apps/v1", "kind": kind, "name": name}
        owner |= {"uid": f"uid-{namespace}-{name}", "controller": True}
        labels = {"app": name, "tier": rng.choice(("web", "back"))}
        metadata = {"name": name, "namespace": namespace, "uid": owner["uid"], "creationTimestamp": BEFORE}
        spec = {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": labels}},
        }
        self._items.append(
            {"apiVersion": owner["apiVersion"], "kind": kind, "metadata": metadata, "spec": spec, "status": {}}
        )
        if rng.random() < 0.3:
            self._budget(namespace, name, replicas)
        pod = self._pod_spec(labels)
        asks = [rng.choice((250, 500, 1000, 2000)), rng.choice((256, 1024, 2048, 4096)), rng.choice((0, 0, 0, 0, 1)), 1]
        requests = {"cpu": f"{asks[0]}m", "memory": f"{asks[1]}Mi"} | ({"nvidia.com/gpu": "1"} if asks[2] else {})
        pod["containers"] = [{"name": "main", "image": "app", "resources": {"requests": requests}}]
        for replica in range(replicas):
            self._pod(f"{name}-{replica}", namespace, owner, labels, pod, asks)

    def _pod_spec(self, labels: dict[str, str]) -> Object:
        """What all pods of a workload share beside their requests."""
        rng = self._rng
        spec: Object = {"schedulerName": "default-scheduler", "priority": rng.choice((0, 0, 0, 100, 1000))}
        selector = {"matchLabels": {"app": labels["app"]}}
        if rng.random() < 0.2:
            key = rng.choice(("kubernetes.io/hostname", "topology.kubernetes.io/zone"))
            kind = rng.choice(("podAntiAffinity", "podAffinity"))
            term = {"topologyKey": key, "labelSelector": selector}
            spec["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        if rng.random() < 0.25:
            spread = {"maxSkew": rng.choice((1, 2)), "topologyKey": "topology.kubernetes.io/zone"}
            spread |= {"whenUnsatisfiable": rng.choice(("DoNotSchedule", "ScheduleAnyway")), "labelSelector": selector}
            spec["topologySpreadConstraints"] = [spread]
        if rng.random() < 0.15:
            spec["nodeSelector"] = {"disk": rng.choice(("fast", "slow"))}
        if rng.random() < 0.1:
            spec["tolerations"] = [{"key": "team", "operator": "Exists"}]
        if rng.random() < 0.1:
            spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
        return spec

    def _pod(
        self, name: str, namespace: str, owner: Object, labels: dict[str, str], spec: Object, asks: list[int]
    ) -> None:
        rng = self._rng
        fitting = [
            node for node, free in self._free.items() if all(ask <= left for ask, left in zip(asks, free, strict=True))
        ]
        metadata: Object = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}", "labels": labels}
        metadata |= {"ownerReferences": [owner], "creationTimestamp": BEFORE}
        if rng.random() < 0.03:
            metadata["annotations"] = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
        if not fitting or rng.random() < 0.06:
            told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": BEFORE}
            status: Object = {"phase": "Pending", "conditions": [told]}
        else:
            node = rng.choice(fitting)
            self._free[node] = [left - ask for ask, left in zip(asks, self._free[node], strict=True)]
            spec = {**spec, "nodeName": node}
            status = {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": BEFORE}],
            }
        self._items.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status})

    def _budget(self, namespace: str, name: str, replicas: int) -> None:
        allowed = self._rng.randint(0, 2)
        spec = {"maxUnavailable": allowed, "selector": {"matchLabels": {"app": name}}}
        status = {
            "disruptionsAllowed": allowed,
            "currentHealthy": replicas,
            "desiredHealthy": max(0, replicas - allowed),
        }
        status |= {"expectedPods": replicas, "observedGeneration": 1}
        metadata = {
            "name": name,
            "namespace": namespace,
            "generation": 1,
            "uid": f"uid-pdb-{name}",
            "creationTimestamp": BEFORE,
        }
        item = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": metadata,
            "spec": spec,
            "status": status,
        }
        self._items.append(item)


def random_usage(seed: int, cluster: Object) -> Object:
    """What a load watcher would answer about such a cluster, so that some nodes are hot."""
    rng = random.Random(f"usage {seed}")
    nodes = [item["metadata"]["name"] for item in cluster["items"] if item["kind"] == "Node"]
    measured = {
        node: {
            "metrics": [
                {"type": kind, "operator": operator, "rollup": "5m", "value": round(rng.uniform(5, 98), 2)}
                for kind in ("CPU", "Memory")
                for operator in ("AVG", "STD")
            ]
        }
        for node in nodes
    }
    window = {"duration": "5m", "start": 1767606900, "end": 1767607200}
    return {"timestamp": 1767607200, "window": window, "source": "Prometheus", "data": {"NodeMetricsMap": measured}}
