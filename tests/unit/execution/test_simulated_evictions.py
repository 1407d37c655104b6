"""The simulated cluster answers evictions as the real API server does, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget
from tests.builders import NOW, budget, cluster, node, pod
from tests.unit.execution.eviction_contract import BudgetShape, EvictionContract

STATES: Final[Mapping[str, Mapping[str, Any]]] = {
    "Ready": {},
    "Lingering": {"termination_grace_seconds": 120},
    "Unready": {"is_ready": False},
    "Waiting": {"node": None, "cpu": "99"},
    "Finished": {"phase": "Succeeded", "is_ready": False},
    "Leaving": {"deletion_at": NOW + 60.0},
}


class SimulatedEvictionStage:
    """One node in memory, where pods take long to end and the disruption controller takes longer than a test."""

    def __init__(self) -> None:
        settings = SimulationSettings(termination_seconds=60.0, budget_lag_seconds=60.0)
        self.target = SimulatedCluster(cluster(node("n0", "4")), settings=settings)

    def pods(self, state: str, count: int) -> Sequence[Pod]:
        """Bare pods as somebody else made them."""
        fields = dict(STATES[state])
        place, cpu = fields.pop("node", "n0"), fields.pop("cpu", "100m")
        names = [f"{state.lower()}-{number}" for number in range(count)]
        made = [pod(name, cpu, "64Mi", node=place, owner=None, labels={"app": "web"}, **fields) for name in names]
        self.target.put(*made)
        self.target.clock.sleep(1.0)  # the scheduler looks at those that wait
        return [item for item in self.target.read_pods("default", None) if item.name in names]

    def protect(self, budgets: Sequence[BudgetShape]) -> None:
        """Budgets with the status that the controller would give them."""
        for shape in budgets:
            covered = [
                item
                for item in self.target.read_pods("default", None)
                if shape.app is not None and item.labels["app"].startswith(shape.app) and not item.is_finished
            ]
            healthy = sum(item.is_ready and not item.is_terminating for item in covered)
            allowed = max(0, healthy - shape.minimum)
            self._put(shape, allowed, current_healthy=healthy, expected_pods=len(covered))

    def stop_counting(self) -> None:
        """It never gets to count."""

    def protect_uncounted(self, budget: BudgetShape) -> None:
        """A status that is behind."""
        self._put(budget, 0, generation=1, observed_generation=0)

    def book(self, name: str, pods: Sequence[str]) -> None:
        """Written into the status by hand."""
        self.target.put(structs.replace(self.budget(name), disrupted_pods=tuple(pods)))

    def budget(self, name: str) -> DisruptionBudget:
        """As it stands now."""
        return next(item for item in self.target.read().budgets if item.name == name)

    def _put(self, shape: BudgetShape, allowed: int, **fields: int) -> None:
        rule = (Requirement("app", "In", (shape.app,)),) if shape.app else ()
        covers = None if shape.app is None else LabelSelector(rule)
        status = {"desired_healthy": shape.minimum, "min_available": str(shape.minimum), **fields}
        self.target.put(
            budget(shape.name, allowed, selector=covers, unhealthy_pod_eviction_policy=shape.unready, **status)
        )


class TestSimulatedEvictions(EvictionContract):
    """All rows of the eviction handler."""

    @pytest.fixture
    def eviction_stage(self) -> SimulatedEvictionStage:
        """A fresh cluster in memory."""
        return SimulatedEvictionStage()
