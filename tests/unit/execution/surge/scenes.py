"""A Deployment's ReplicaSet in the embedded cluster, and plans that move its pods by surge."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.execution.surge.surge_core import SurgeRules
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.workload import Service, Workload
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan, PlanResult
from tests.builders import NOW, budget, cluster, node, pod, selector, workload
from tests.unit.execution.worlds import AllowAll, World, plan_of

HASH = "pod-template-hash"


def shop(replicas: int = 1, *extra: Any, **fields: Any) -> Cluster:
    """Two nodes; all pods of ``web`` are on n0, behind a Service and a budget that allows none of them to go."""
    return cluster(
        node("n0", "8"), node("n1", "8"), *pods_of("web", replicas), *workloads(replicas), *extra,
        budget("web", 0, current_healthy=replicas, desired_healthy=replicas, min_available=str(replicas)),
        services=(Service("default", "web", {"app": "web"}),), **fields,
    )  # fmt: skip


def workloads(replicas: int, name: str = "web") -> tuple[Workload, Workload]:
    """A ReplicaSet and its Deployment, at rest."""
    own = selector(app=name)
    rules = LabelSelector((*own.requirements, *selector(**{HASH: "h1"}).requirements))
    above = OwnerReference("Deployment", name, f"d-{name}")
    child = workload(name, replicas, selector=rules, owner=above, generation=1, observed_generation=1)
    top = workload(name, replicas, kind="Deployment", generation=1, observed_generation=1)
    return structs.replace(child, uid=f"rs-{name}"), structs.replace(top, uid=f"d-{name}")


def pods_of(name: str, replicas: int) -> list[Pod]:
    """Of a ReplicaSet, all of them on n0 and Ready for long."""
    owner = OwnerReference("ReplicaSet", name, f"rs-{name}")
    labels = {"app": name, HASH: "h1"}
    plain = (
        pod(f"{name}-{number}", "1", node="n0", labels=labels, owner=None, uid=f"u-{name}-{number}")
        for number in range(replicas)
    )
    return [structs.replace(item, owners=(owner,), ready_at=NOW - 100.0) for item in plain]


def surging(start: Cluster, *names: str, to_node: str = "n1") -> Plan:
    """A plan that moves these pods by surge, in one wave."""
    plan = plan_of(start, [(name, to_node, 1) for name in names], objective="EmptyNodes")
    moves = tuple(structs.replace(move, method=MoveMethod.SURGE) for move in plan.moves)
    return structs.replace(plan, moves=moves)


def surger(
    world: World, *, within: float = 60.0, settle: float = 2.0, guidance: str = "Guide", gate: Any = None, **more: Any
) -> Executor:
    """An executor that may surge."""
    return Executor(
        world, gate or AllowAll(), world.clock, hold=HoldSettings(60.0, "rescheduler-holds"), guidance=guidance,
        timeout_seconds=600.0, proof=lambda _cluster, _plan: (), surge=SurgeRules(within, settle), **more,
    )  # fmt: skip


class ReadyWatch:
    """The fewest Ready pods of ``web`` that were ever seen, after every change of any pod."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.fewest = 1_000_000
        self.look()
        world._store.on_pod_change(lambda _old, _new: self.look())

    def look(self) -> None:
        """Count now."""
        pods = [item for item in self._world._store.pods.values() if item.labels.get("app") == "web"]
        self.fewest = min(self.fewest, sum(item.is_ready and not item.is_terminating for item in pods))


def left_behind(world: World) -> list[str]:
    """Labels, annotations, gates and placeholders of ours that are still somewhere."""
    found = [
        item.key
        for item in world._store.pods.values()
        if item.scheduling_gates
        or any(key.startswith("rescheduler.dev/") for key in item.annotations)
        or any(value.endswith("-leaving") for value in item.labels.values())
    ]
    return found + list(world.leftovers())


def told(result: PlanResult) -> dict[str, tuple[str, str | None]]:
    """Outcome and node by pod name."""
    return {item.pod.name: (item.outcome.value, item.landed_on) for item in result.moves}
