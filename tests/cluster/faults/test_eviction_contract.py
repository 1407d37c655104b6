"""The real API server answers evictions as the simulated cluster does, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget
from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.plane.kwok import COMPLETE_AFTER, GONE_AFTER, NEVER_READY
from tests.cluster.scenes import add_node
from tests.cluster.shapes import disruption_budget, pod
from tests.cluster.waiting import wait_until
from tests.unit.execution.eviction_contract import BudgetShape, EvictionContract

LONG = "300s"
CONTROLLER = "kube-controller-manager"
STATES: dict[str, dict[str, Any]] = {
    "Ready": {},
    "Lingering": {"annotations": {GONE_AFTER: LONG}},
    "Unready": {"annotations": {NEVER_READY: "true"}},
    "Waiting": {"cpu": "99"},
    "Finished": {"annotations": {COMPLETE_AFTER: "0s"}, "spec": {"restartPolicy": "Never"}},
    "Leaving": {"annotations": {GONE_AFTER: LONG}},
}


class RealEvictionStage:
    """One pretended node of a real control plane."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        add_node(cluster, "n0", cpu="4")
        connection = connect(str(cluster.control_plane.kubeconfig), read_only=False)
        self.target = KubernetesTarget(
            connection, LiveReader(connection), clock=SystemClock(), hold_namespace="rescheduler-holds"
        )

    def pods(self, state: str, count: int) -> Sequence[Pod]:
        """Create bare pods and wait until they are what they are to be."""
        names = [f"{state.lower()}-{number}" for number in range(count)]
        self._cluster.create(*(pod(name, labels={"app": "web"}, **STATES[state]) for name in names))
        wait_until(lambda: self._are(names, _BEFORE.get(state, IS[state])), f"pods that are {state}")
        if state == "Leaving":
            for name in names:
                self._cluster.api.delete("pods", name, "default")
            wait_until(lambda: self._are(names, IS[state]), "pods that are leaving")
        return [item for item in self.target.read_pods("default", None) if item.name in names]

    def protect(self, budgets: Sequence[BudgetShape]) -> None:
        """Create budgets and wait until their status counts the pods."""
        for shape in budgets:
            self._cluster.create(_manifest(shape))
        names = [shape.name for shape in budgets]
        wait_until(lambda: all(map(self._is_counted, names)), "the status of all budgets")

    def stop_counting(self) -> None:
        """Freeze the controllers."""
        self._cluster.control_plane.pause(CONTROLLER)

    def protect_uncounted(self, budget: BudgetShape) -> None:
        """Create a budget while the controllers are frozen."""
        self._cluster.create(_manifest(budget))

    def book(self, name: str, pods: Sequence[str]) -> None:
        """Write the status by hand."""
        booked = dict.fromkeys(pods, "2026-01-01T00:00:00Z")
        patch = {"status": {"disruptedPods": booked}}
        self._cluster.api.patch("poddisruptionbudgets", name, patch, "default", subresource="status")

    def budget(self, name: str) -> DisruptionBudget:
        """As a snapshot of ours shows it."""
        return next(item for item in self.target.read().budgets if item.name == name)

    def _are(self, names: Sequence[str], is_so: Any) -> bool:
        pods = self._cluster.api.list("pods", "default")
        return all(is_so(item) for item in pods if item["metadata"]["name"] in names)

    def _is_counted(self, name: str) -> bool:
        status = self._cluster.api.get("poddisruptionbudgets", name, "default").get("status", {})
        pods = self._cluster.api.list("pods", "default")
        covers = name not in ("none", "other")
        # Pods that have ended are expected too: the disruption controller does not look at the phase.
        return status.get("observedGeneration") == 1 and status.get("expectedPods") == (len(pods) if covers else 0)


def _is_ready(item: Manifest) -> bool:
    return condition(item, "Ready") == "True"


def _is_leaving(item: Manifest) -> bool:
    return "deletionTimestamp" in item["metadata"]


IS = {
    "Ready": _is_ready,
    "Lingering": _is_ready,
    "Unready": lambda item: item["status"].get("phase") == "Running" and not _is_ready(item),
    "Waiting": lambda item: condition(item, "PodScheduled") == "False",
    "Finished": lambda item: item["status"].get("phase") == "Succeeded",
    "Leaving": _is_leaving,
}
_BEFORE = {"Leaving": _is_ready}


def _manifest(shape: BudgetShape) -> Manifest:
    made = disruption_budget(
        shape.name, app=shape.app, minAvailable=shape.minimum, unhealthyPodEvictionPolicy=shape.unready
    )
    if shape.app is None:
        del made["spec"]["selector"]
    elif not shape.app:
        made["spec"]["selector"] = {}
    return made


class TestKubernetesEvictions(EvictionContract):
    """All rows of the eviction handler."""

    @pytest.fixture
    def eviction_stage(self, cluster: Cluster) -> RealEvictionStage:
        """A fresh cluster."""
        return RealEvictionStage(cluster)
