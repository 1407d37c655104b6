"""Draws a small cluster, and a policy of one plugin that may find something to do in it."""

from __future__ import annotations

from random import Random
from typing import Any, Final, NamedTuple

from tests.cluster.api import Manifest
from tests.cluster.shapes import disruption_budget, node, replica_set

ZONE: Final = "topology.kubernetes.io/zone"
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
BALANCING: Final = (
    "LowNodeUtilization", "HighNodeUtilization", "RemoveDuplicates", "RemovePodsViolatingTopologySpreadConstraint",
)  # fmt: skip
DESCHEDULING: Final = (
    "RemovePodsViolatingNodeTaints", "RemovePodsViolatingNodeAffinity", "RemovePodsViolatingInterPodAntiAffinity",
    "PodLifeTime", "RemovePodsHavingTooManyRestarts", "RemoveFailedPods",
)  # fmt: skip
PLUGINS: Final = (*BALANCING, *DESCHEDULING)
CLASSES: Final = {"low": 100, "high": 1000}
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule")


class DrawnPod(NamedTuple):
    """``owner``: the name of its ReplicaSet."""

    manifest: Manifest
    owner: str
    restarts: int = 0
    has_failed: bool = False


class DrawnCase(NamedTuple):
    """``owners``: ReplicaSets."""

    plugin: str
    policy: Manifest
    nodes: list[Manifest]
    owners: list[Manifest]
    pods: list[DrawnPod]
    budgets: list[Manifest]


def draw(seed: int) -> DrawnCase:
    """The same case for the same seed; plugins take turns."""
    random = Random(seed)
    plugin = PLUGINS[seed % len(PLUGINS)]
    names = [f"n{number}" for number in range(random.randint(3, 6))]
    nodes = [_node(random, name) for name in names]
    owners, pods, budgets = [], [], []
    for number in range(random.randint(2, 5)):
        name, replicas = f"app{number}", random.randint(1, 6)
        owner = _owner(random, name, replicas)
        owners.append(owner)
        crowded = random.sample(names, k=random.randint(1, 2))
        pods.extend(_pod(random, owner, index, random.choice(crowded), plugin) for index in range(replicas))
        if random.random() < 0.3:
            space = owner["metadata"]["namespace"]
            budgets.append(disruption_budget(name, space, minAvailable=random.randint(0, replicas)))
    return DrawnCase(plugin, _policy(random, plugin), nodes, owners, pods, budgets)


def _node(random: Random, name: str) -> Manifest:
    labels = {ZONE: random.choice("xyz"), "disk": random.choice(["ssd", "hdd"])}
    taints = [{"key": "dedicated", "value": random.choice("ab"), "effect": random.choice(EFFECTS)}]
    found = node(name, cpu=random.choice(["2", "4", "8"]), memory="8Gi", pods=20, labels=labels)
    if random.random() < 0.45:
        found["spec"]["taints"] = taints
    if random.random() < 0.1:
        found["spec"]["unschedulable"] = True
    return found


def _owner(random: Random, name: str, replicas: int) -> Manifest:
    selector = {"matchLabels": {"app": name}}
    spec: Manifest = {}
    if random.random() < 0.3:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    affinity: Manifest = {}
    if random.random() < 0.45:
        term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
        affinity["nodeAffinity"] = {
            REQUIRED: {"nodeSelectorTerms": [term]},
            PREFERRED: [{"weight": random.randint(1, 9), "preference": term}],
        }
        del affinity["nodeAffinity"][random.choice([REQUIRED, PREFERRED])]
    if random.random() < 0.35:
        key = random.choice([ZONE, "kubernetes.io/hostname"])
        affinity["podAntiAffinity"] = {REQUIRED: [{"topologyKey": key, "labelSelector": selector}]}
    if affinity:
        spec["affinity"] = affinity
    if random.random() < 0.6:
        when = random.choice(["DoNotSchedule", "ScheduleAnyway"])
        rule = {"topologyKey": ZONE, "maxSkew": random.randint(1, 2), "whenUnsatisfiable": when}
        spec["topologySpreadConstraints"] = [{**rule, "labelSelector": selector}]
    if random.random() < 0.3:
        spec["priorityClassName"] = random.choice(sorted(CLASSES))
    if random.random() < 0.15:
        spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    cpu, memory = random.choice(["100m", "300m", "700m", "1"]), random.choice(["64Mi", "512Mi", "1Gi"])
    space = random.choice(["default", "default", "team"])
    return replica_set(name, replicas=replicas, namespace=space, cpu=cpu, memory=memory, spec=spec)


def _pod(random: Random, owner: Manifest, index: int, place: str, plugin: str) -> DrawnPod:
    name = owner["metadata"]["name"]
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "controller": True}
    template = owner["spec"]["template"]
    metadata = {
        "name": f"{name}-{index}",
        "namespace": owner["metadata"]["namespace"],
        "labels": template["metadata"]["labels"],
        "ownerReferences": [reference],
    }
    spec = {**template["spec"], "nodeName": place}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    restarts = random.randint(0, 9) if plugin == "RemovePodsHavingTooManyRestarts" else 0
    has_failed = plugin == "RemoveFailedPods" and random.random() < 0.4
    return DrawnPod(manifest, name, restarts, has_failed)


def _policy(random: Random, plugin: str) -> Manifest:
    evictor: dict[str, Any] = {"nodeFit": random.random() < 0.5, "minReplicas": random.choice([0, 0, 2])}
    if random.random() < 0.15:
        evictor["priorityThreshold"] = {"name": "high"}
    if random.random() < 0.3:
        evictor["podProtections"] = {"defaultDisabled": ["PodsWithLocalStorage"]}
    if evictor["nodeFit"] and random.random() < 0.15:
        evictor["nodeSelector"] = "disk=hdd"
    point = "balance" if plugin in BALANCING else "deschedule"
    profile = {
        "name": "drawn",
        "pluginConfig": [
            {"name": "DefaultEvictor", "args": evictor},
            {"name": plugin, "args": _arguments(random, plugin)},
        ],
        "plugins": {point: {"enabled": [plugin]}},
    }
    limits = {}
    if random.random() < 0.3:
        scope = random.choice(["Total", "PerNode", "PerNamespace"])
        limits[f"maxNoOfPodsToEvict{scope}"] = random.randint(1, 6)
    seen = {"nodeSelector": "disk=ssd"} if random.random() < 0.07 else {}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", **limits, **seen, "profiles": [profile]}


def _arguments(random: Random, plugin: str) -> dict[str, Any]:
    low, high = random.randint(5, 40), random.randint(41, 80)
    outside = {"exclude": ["team"]} if random.random() < 0.2 else {}
    chosen = {"namespaces": outside} if outside else {}
    if plugin == "LowNodeUtilization":
        keys = random.choice([("cpu", "memory", "pods"), ("cpu",), ("cpu", "memory")])
        return {
            "thresholds": dict.fromkeys(keys, low),
            "targetThresholds": dict.fromkeys(keys, high),
            "useDeviationThresholds": random.random() < 0.2,
            **({"evictableNamespaces": outside} if outside else {}),
        }
    if plugin == "HighNodeUtilization":
        thresholds = {"cpu": random.randint(10, 60), "memory": random.randint(10, 60)}
        return {"thresholds": thresholds, **({"evictableNamespaces": outside} if outside else {})}
    if plugin == "RemovePodsViolatingTopologySpreadConstraint":
        both = ["DoNotSchedule", "ScheduleAnyway"][: random.randint(1, 2)]
        return {**chosen, "constraints": both, "topologyBalanceNodeFit": random.random() < 0.7}
    if plugin == "RemovePodsViolatingNodeTaints":
        return {**chosen, "includePreferNoSchedule": random.random() < 0.5}
    if plugin == "RemovePodsViolatingNodeAffinity":
        return {**chosen, "nodeAffinityType": random.sample([REQUIRED, PREFERRED], k=random.randint(1, 2))}
    return {**chosen, **_of_states(random, plugin)}


def _of_states(random: Random, plugin: str) -> dict[str, Any]:
    if plugin == "RemovePodsHavingTooManyRestarts":
        return {"podRestartThreshold": random.randint(3, 8)}
    if plugin == "RemoveFailedPods":
        return {"minPodLifetimeSeconds": 0, "exitCodes": random.choice([[], [1], [2]])}
    return {"states": [random.choice(["Running", "Running", "Running", "Pending"])]} if plugin == "PodLifeTime" else {}
