"""Waiting until the cluster has come to rest: controllers, scheduler and budgets have nothing left to do."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass

from benchmarks.side_by_side.state import NAMESPACE
from tests.cluster.api import Api, Manifest
from tests.cluster.cluster import condition

LONGEST_BACK_OFF_SECONDS = 10.0
"""For so long the scheduler may leave a pod aside that found no room, before it tries again."""
REST_SECONDS = 0.6
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Look:
    """What stands in the cluster at one moment, as the API server tells it."""

    pods: list[Manifest]
    replicated: list[Manifest]
    """ReplicaSets and StatefulSets."""
    daemon_sets: list[Manifest]
    budgets: list[Manifest]
    nodes: int

    @classmethod
    def at(cls, api: Api) -> Look:
        """Look at everything."""
        replicated = api.list("replicasets", NAMESPACE) + api.list("statefulsets", NAMESPACE)
        daemon_sets, budgets = api.list("daemonsets", NAMESPACE), api.list("poddisruptionbudgets", NAMESPACE)
        return cls(api.list("pods", NAMESPACE), replicated, daemon_sets, budgets, len(api.list("nodes")))

    @property
    def places(self) -> frozenset[tuple[str, str]]:
        """Which pod is where."""
        return frozenset((pod["metadata"]["uid"], _node(pod)) for pod in self.pods)

    @property
    def has_waiting_pods(self) -> bool:
        """Whether some pod has no node."""
        return not all(map(_node, self.pods))

    def unrest(self) -> str:
        """What is still under way, in words; empty at rest."""
        for pod in self.pods:
            if not _is_at_rest(pod):
                return f"pod {pod['metadata']['name']} is {pod['status'].get('phase')}"
        there = Counter(_owner(pod) for pod in self.pods)
        wanted = [(item, item["spec"]["replicas"]) for item in self.replicated]
        for item, count in [*wanted, *((item, self.nodes) for item in self.daemon_sets)]:
            if there[item["metadata"]["uid"]] != count:
                return f"{item['metadata']['name']} has {there[item['metadata']['uid']]} of {count} pods"
        for budget in self.budgets:
            if not _is_counted(budget, self.pods):
                return f"budget {budget['metadata']['name']} is behind"
        return ""


def settle(api: Api, *, timeout_seconds: float = 180.0) -> None:
    """Wait until nothing has changed for a while; TimeoutError says what moves."""
    begun = changed = time.monotonic()
    seen: object = None
    while True:
        look = Look.at(api)
        unrest, now = look.unrest(), time.monotonic()
        if unrest or look.places != seen:
            seen, changed = look.places, now
        if now - changed >= REST_SECONDS + (LONGEST_BACK_OFF_SECONDS if look.has_waiting_pods else 0):
            return
        if now - begun > timeout_seconds:
            what = unrest or "pods come and go"
            raise TimeoutError(f"the cluster did not come to rest within {timeout_seconds:g} s: {what}")
        time.sleep(POLL_SECONDS)


def _is_at_rest(pod: Manifest) -> bool:
    """Whether a pod runs and is ready, or has been refused by the scheduler."""
    if "deletionTimestamp" in pod["metadata"]:
        return False
    return condition(pod, "Ready") == "True" if _node(pod) else condition(pod, "PodScheduled") == "False"


def _is_counted(budget: Manifest, pods: list[Manifest]) -> bool:
    """Whether a budget's status tells the healthy pods of now and waits for no disrupted one."""
    app = budget["spec"]["selector"]["matchLabels"]["app"]
    healthy = sum(pod["metadata"]["labels"].get("app") == app and bool(_node(pod)) for pod in pods)
    status = budget.get("status", {})
    return status.get("currentHealthy") == healthy and not status.get("disruptedPods")


def _node(pod: Manifest) -> str:
    name: str = pod["spec"].get("nodeName", "")
    return name


def _owner(pod: Manifest) -> str:
    owners = pod["metadata"].get("ownerReferences", ())
    return next((one["uid"] for one in owners if one.get("controller")), "")
