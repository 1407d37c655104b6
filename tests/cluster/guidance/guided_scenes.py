"""Clusters for guided moves: full nodes whose pods can only change places, and others who wait for the same room."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from tests.cluster.api import ApiError, Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.scenes import add_pending, put
from tests.cluster.shapes import deployment, replica_set
from tests.cluster.waiting import wait_until
from tests.paths import DEPLOY

GUIDE = DEPLOY / "guide.yaml"
GATE = "rescheduler.dev/guide"
RULE = "rescheduler-guide"
POLICY = "guidance: Guide\nhold: {deadline: 20s}\ndisruption: {singleReplicas: Allow, workloads: {maxUnavailable: 99%}}"


def install(cluster: Cluster) -> None:
    """Apply deploy/guide.yaml as an administrator does."""
    cluster.control_plane.apply_files(GUIDE)


def full_pair(cluster: Cluster, *, rivals: int = 2, **template: Any) -> None:
    """Nodes a-0 and b-0 of 4 CPU, filled by x and y, and older pending pods that would take either place."""
    for name in ("a", "b"):
        cluster.add_nodes(1, prefix=name, cpu="4")
    put(cluster, "a-0", replica_set("x", cpu="4", **template))
    put(cluster, "b-0", replica_set("y", cpu="4", **template))
    for number in range(rivals):
        add_pending(cluster, deployment(f"rival-{number}", cpu="4"))


def pods_of(cluster: Cluster, app: str) -> list[Manifest]:
    """The pods of one workload, those on their way out left out."""
    found = cluster.api.list("pods", "default", labels=f"app={app}")
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def nodes_of(cluster: Cluster, *apps: str) -> list[str]:
    """Where the pods of these workloads are, in order; an empty text for one without a node."""
    return [pod["spec"].get("nodeName", "") for app in apps for pod in pods_of(cluster, app)]


def move(pod: Manifest, to_node: str, *, wave: int = 1, **marks: bool) -> dict[str, Any]:
    """One move of a plan written by hand."""
    metadata = pod["metadata"]
    return {
        "pod": {key: metadata[key] for key in ("namespace", "name", "uid")},
        "fromNode": pod["spec"]["nodeName"], "toNode": to_node, "wave": wave, "objective": "SpreadLoad",
        "reason": "by hand", "needsGuidance": True, **marks,
    }  # fmt: skip


def plan_of(cluster: Cluster, *moves: dict[str, Any]) -> str:
    """A plan written by hand, as JSON."""
    snapshot = {
        "takenAt": datetime.now(UTC).isoformat(), "nodes": len(cluster.api.list("nodes")),
        "pods": len(cluster.api.list("pods")), "pendingPods": 0, "source": "by hand",
    }  # fmt: skip
    waves = sorted({item["wave"] for item in moves if item.get("evictFirst")})
    objective = {
        "name": "SpreadLoad", "status": "FEASIBLE", "value": 0.0, "bound": None, "gap": None, "unit": "by hand",
        "seconds": 0.0, "message": "",
    }  # fmt: skip
    plan = {
        "apiVersion": "rescheduler/v1alpha1", "kind": "Plan", "snapshot": snapshot, "objectives": [objective],
        "moves": list(moves),
    }  # fmt: skip
    if waves:
        plan["waves"] = [{"wave": wave, "evictFirst": True} for wave in waves]
    return json.dumps(plan)


def exchange(cluster: Cluster) -> str:
    """The plan in which x and y change places."""
    (x,), (y,) = pods_of(cluster, "x"), pods_of(cluster, "y")
    places = [(x, y["spec"]["nodeName"]), (y, x["spec"]["nodeName"])]
    return plan_of(cluster, *(move(pod, node, evictFirst=True) for pod, node in places))


def gated(cluster: Cluster) -> list[str]:
    """Pods at our gate."""
    return [
        pod["metadata"]["name"]
        for pod in cluster.api.list("pods")
        if GATE in [gate["name"] for gate in pod["spec"].get("schedulingGates") or []]
    ]


def left_over(cluster: Cluster) -> list[str]:
    """Everything of ours that stands anywhere: placeholders, their Jobs, the rule, gated pods and notes on pods."""
    label = "app.kubernetes.io/managed-by=rescheduler"
    found = [item["metadata"]["name"] for kind in ("jobs", "pods") for item in cluster.api.list(kind, labels=label)]
    found += [item["metadata"]["name"] for item in cluster.api.list("configmaps") if item["metadata"]["name"] == RULE]
    noted = [
        pod["metadata"]["name"]
        for pod in cluster.api.list("pods")
        if any(key.startswith("rescheduler.dev/") for key in pod["metadata"].get("annotations") or {})
    ]
    return found + gated(cluster) + noted


def wait_gated(cluster: Cluster, count: int) -> None:
    """Wait until so many pods stand at our gate: a workload's pods come a moment after it."""
    wait_until(lambda: len(gated(cluster)) == count, lambda: f"{count} gated pods, not {gated(cluster)}")


def wait_tidy(cluster: Cluster, seconds: float) -> None:
    """Wait until nothing of ours is left."""
    wait_until(lambda: not left_over(cluster), lambda: f"a tidy cluster: {left_over(cluster)}", timeout_seconds=seconds)


def why_unguided(cluster: Cluster) -> str:
    """What is said where the rule is not installed: how it would be, or that this server does not have its kind."""
    kind = "mutatingadmissionpolicies"
    return "deploy/guide.yaml" if cluster.api.serves(kind) else f"does not serve {kind}"


def uninstall(cluster: Cluster) -> None:
    """Remove what deploy/guide.yaml brought, for one test: an API server that is started again takes it anew."""
    for kind in ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"):
        with suppress(ApiError):
            cluster.api.delete(kind, RULE)
    cluster.control_plane.restart("kube-apiserver")


def gate_by_hand(workload: Manifest, *, plan: str) -> Manifest:
    """A workload whose pods come as those of a plan that was killed are left."""
    template = workload["spec"]["template"]
    notes = {"rescheduler.dev/plan": plan, "rescheduler.dev/expires": "2026-01-01T00:00:00Z"}
    template["metadata"]["annotations"] = {**template["metadata"].get("annotations", {}), **notes}
    template["spec"]["schedulingGates"] = [{"name": GATE}]
    return workload
