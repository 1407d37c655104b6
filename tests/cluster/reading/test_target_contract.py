"""A real cluster keeps the contract of every ExecutionTarget, word for word as the simulated one does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.model.objects.pod import Pod
from tests.cluster.cluster import Cluster, condition
from tests.cluster.guidance.guided_scenes import install
from tests.cluster.scenes import add_node
from tests.cluster.shapes import disruption_budget, replica_set
from tests.cluster.waiting import wait_until
from tests.unit.execution.target_contract import TargetContract
from tests.unit.execution.target_contract import app as of_app


class RealStage:
    """One pretended node of a real control plane."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        install(cluster)
        add_node(cluster, "n0", cpu="4")
        self.clock = SystemClock()
        self.target = self.another()

    def another(self) -> KubernetesTarget:
        """The cluster as a further process sees it."""
        connection = connect(str(self._cluster.control_plane.kubeconfig), read_only=False)
        return KubernetesTarget(
            connection, LiveReader(connection), clock=self.clock, hold_namespace="rescheduler-holds"
        )

    def run(self, name: str, cpu: str, replicas: int = 1) -> Sequence[Pod]:
        """Create a ReplicaSet and wait until each of its pods runs or was found to fit nowhere."""
        self._cluster.create(replica_set(name, replicas=replicas, cpu=cpu))

        def are_looked_at() -> bool:
            pods = self._cluster.api.list("pods", "default", labels=f"app={name}")
            return len(pods) == replicas and all(
                condition(pod, "Ready") == "True" or condition(pod, "PodScheduled") == "False" for pod in pods
            )

        wait_until(are_looked_at, f"the scheduler's verdict on {name}")
        return self.target.read_pods("default", of_app(name))

    def protect(self, name: str, app: str, minimum: int) -> None:
        """Create a budget and wait until the disruption controller has counted."""
        self._cluster.create(disruption_budget(name, app=app, minAvailable=minimum))

        def is_observed() -> bool:
            found = self._cluster.api.get("poddisruptionbudgets", name, "default")
            status = found.get("status", {})
            return status.get("observedGeneration") == 1 and status.get("expectedPods", 0) > 0

        wait_until(is_observed, f"the status of {name}")

    def wait(self, is_so: Callable[[], bool], seconds: float = 20.0) -> None:
        """Let real time pass."""
        wait_until(is_so, "what the contract promises", timeout_seconds=seconds)


class TestKubernetesTarget(TargetContract):
    """All cases of the contract."""

    @pytest.fixture
    def stage(self, cluster: Cluster) -> RealStage:
        """A fresh cluster."""
        return RealStage(cluster)
