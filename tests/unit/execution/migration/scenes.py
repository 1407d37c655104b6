"""Pods of virtual machines in the embedded cluster, and plans that have them moved by their owner."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from rescheduler.execution.migration.migration_core import MigrationRules
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.model.objects.annotations import REQUEST_EVICT_ONLY
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan
from tests.builders import budget, cluster, node, pod
from tests.unit.execution.worlds import AllowAll, World, plan_of


def machine(name: str, on: str = "n0", **fields: Any) -> Pod:
    """The pod of a virtual machine, under a controller that the snapshot does not hold."""
    defaults: dict[str, Any] = {"annotations": {REQUEST_EVICT_ONLY: ""}, "restart_policy": "Never", "uid": f"u-{name}"}
    made = pod(name, "1", node=on, owner=None, labels={"app": name}, **{**defaults, **fields})
    owner = OwnerReference("VirtualMachineInstance", name, f"vmi-{name}", group="kubevirt.io")
    return structs.replace(made, owners=(owner,))


def machines(*extra: Any, names: tuple[str, ...] = ("vm-a",), **fields: Any) -> Cluster:
    """Three nodes; all machines are on n0, each under a budget that allows no eviction."""
    pods = [machine(name, **fields) for name in names]
    budgets = [budget(name, 0, app=name, current_healthy=1, desired_healthy=1) for name in names]
    return cluster(node("n0", "8"), node("n1", "8"), node("n2", "8"), *pods, *budgets, *extra)


def migrating(start: Cluster, *moves: tuple[str, str, int]) -> Plan:
    """A plan by which the owners of these pods (name, destination, wave) are asked to move them."""
    plan = plan_of(start, moves, objective="EmptyNodes")
    return structs.replace(plan, moves=tuple(structs.replace(move, method=MoveMethod.MIGRATE) for move in plan.moves))


def migrator(
    world: World, *, within: float | None = 120.0, guidance: str = "Guide", gate: Any = None, **more: Any
) -> Executor:
    """An executor that may ask owners."""
    return Executor(
        world, gate or AllowAll(), world.clock, hold=HoldSettings(60.0, "rescheduler-holds"), guidance=guidance,
        proof=lambda _cluster, _plan: (), migration=None if within is None else MigrationRules(within),
        **{"timeout_seconds": 600.0, **more},
    )  # fmt: skip
