"""The simulated cluster keeps the contract of every ExecutionTarget."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import pytest

from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.adapters.simulated.taints import SimulatedNodeTaints
from rescheduler.model.objects.pod import Pod
from tests.builders import budget, cluster, node, pod, workload
from tests.unit.execution.target_contract import TargetContract, app


class SimulatedStage:
    """One node in memory."""

    def __init__(self) -> None:
        self.target = SimulatedCluster(cluster(node("n0", "4")))
        self.clock = self.target.clock

    def run(self, name: str, cpu: str, replicas: int = 1) -> Sequence[Pod]:
        """Create a workload and its pods."""
        self.target.put(workload(name, replicas))
        self.target.put(*(pod(f"{name}-{number}", cpu, "64Mi", owner=name) for number in range(replicas)))
        self.target.settle()
        return self.target.read_pods("default", app(name))

    def protect(self, name: str, app: str, minimum: int) -> None:
        """Create a budget."""
        pods = [item for item in self.target.read_pods("default", None) if item.labels["app"] == app]
        allowed = max(0, len(pods) - minimum)
        self.target.put(
            budget(
                name, allowed, app=app, current_healthy=len(pods), desired_healthy=minimum, min_available=str(minimum)
            )
        )
        self.target.settle()

    def wait(self, is_so: Callable[[], bool], seconds: float = 20.0) -> None:
        """Let simulated time pass."""
        until = self.clock.now() + seconds
        while not is_so():
            assert self.clock.now() < until, "it did not come"
            self.clock.sleep(0.05)

    def another(self) -> SimulatedCluster:
        """The same world, without the memory of what this process put there."""
        other = copy.copy(self.target)
        other._taints = SimulatedNodeTaints(self.target._store, self.target.settings)
        return other


class TestSimulatedTarget(TargetContract):
    """All cases of the contract."""

    @pytest.fixture
    def stage(self) -> SimulatedStage:
        """A fresh cluster in memory."""
        return SimulatedStage()
