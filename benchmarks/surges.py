"""Benchmark: nodes emptied where many workloads have a single replica that no budget lets go.

``python -m benchmarks.surges [--nodes 30,100] [--singles 0.4] [--utilisations 0.5,0.65] [--seeds 1,2,3]
[--deadline D]`` draws clusters of Deployments, a share of which has one replica under ``minAvailable: 1``, and plans
each three times with the whole cycle, its checker included: by evictions alone; by surge where the policy has a rule
for it; and by evictions where nothing protects the single replicas, of which only the bound counts. Exit code 1 if the
checker refuses a plan, or less than 95 % of that bound is reached over all clusters.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.machine import MonotonicClock, describe_machine
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import OwnerReference, Pod, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY, PODS, Resources, resources
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import ObjectiveResult, Plan
from rescheduler.policy.fields.move_by import MoveRule
from rescheduler.policy.fields.policy import Disruption, Limits, Objective, Permission, Policy, Workloads
from rescheduler.policy.fields.values import parse_positive_duration

GOAL = 0.95
NOW = 1_800_000_000.0
GIBIBYTE = 1024**3
NODE = resources([(CPU, 8000), (MEMORY, 32 * GIBIBYTE), (PODS, 110)])
SIZES = ((250, 1), (250, 1), (500, 1), (500, 2), (1000, 4))
"""Requests of pods: millicores and gibibytes."""
HEADER = (
    "nodes",
    "use",
    "seed",
    "singles",
    "evictions alone",
    "by surge",
    "bound",
    "of the bound",
    "surges",
    "seconds",
)


class Drawn(NamedTuple):
    """A cluster, and the same with nothing that protects single replicas."""

    cluster: Cluster
    unprotected: Cluster
    singles: int


class Making(NamedTuple):
    """What is drawn: nodes, how full they are, and which share of the workloads has one replica."""

    nodes: int
    utilisation: float
    singles: float
    seed: int


def draw(making: Making) -> Drawn:
    """One cluster; pods go to nodes at random, as they do where nodes came and went."""
    chance = random.Random(making.seed)
    nodes = [_node(number) for number in range(making.nodes)]
    free = {node.name: [8000, 32] for node in nodes}
    wanted = making.utilisation * 8000 * making.nodes
    workloads: list[Workload] = []
    pods: list[Pod] = []
    budgets: list[DisruptionBudget] = []
    singles = 0
    used = 0.0
    while used < wanted:
        is_single = chance.random() < making.singles
        singles += is_single
        cpu, memory = chance.choice(SIZES)
        places = _places(free, cpu, memory, 1 if is_single else chance.randint(2, 4), chance)
        if not places:
            break
        used += cpu * len(places)
        name = f"app-{len(workloads) // 2}"
        workloads += _owners(name, len(places))
        pods += _pods(name, places, _spec(cpu, memory))
        budgets.append(_budget(name, len(places)))
    about: dict[str, Any] = {"taken_at": NOW, "source": "drawn", "network_policies": ()}
    made = Cluster(
        tuple(nodes), tuple(sorted(pods, key=lambda pod: pod.name)), tuple(workloads), tuple(budgets), **about
    )
    others = tuple(budget for budget in budgets if budget.expected_pods > 1)
    return Drawn(made, Cluster(made.nodes, made.pods, made.workloads, others, **about), singles)


def _places(free: dict[str, list[int]], cpu: int, memory: int, replicas: int, chance: random.Random) -> list[str]:
    """Nodes with room for each replica, taken; fewer where there is no more room."""
    found = []
    for _ in range(replicas):
        open_to = [name for name, (cores, room) in free.items() if cores >= cpu and room >= memory]
        if open_to:
            name = chance.choice(open_to)
            free[name][0] -= cpu
            free[name][1] -= memory
            found.append(name)
    return found


def _node(number: int) -> Node:
    name = f"n{number:04}"
    return Node(name, uid=name, allocatable=NODE, capacity=NODE, labels={"kubernetes.io/hostname": name})


def _spec(cpu: int, memory: int) -> PodSpec:
    asked: Resources = resources([(CPU, cpu), (MEMORY, memory * GIBIBYTE)])
    return PodSpec(requests=asked, scored_requests=asked)


def _owners(name: str, replicas: int) -> list[Workload]:
    counts = {"desired_replicas": replicas, "ready_replicas": replicas, "updated_replicas": replicas}
    top = Workload(
        "Deployment", "shop", name, f"d-{name}", selector=_selector(name), current_replicas=replicas, **counts
    )
    owner = OwnerReference("Deployment", name, top.uid)
    hashed = LabelSelector((*_selector(name).requirements, Requirement(TEMPLATE_HASH, "In", ("h1",))))
    middle = Workload(
        "ReplicaSet", "shop", f"{name}-h1", f"r-{name}", owner, hashed, current_replicas=replicas, **counts
    )
    return [top, middle]


def _pods(name: str, places: Sequence[str], spec: PodSpec) -> Iterator[Pod]:
    labels, owners = {"app": name, TEMPLATE_HASH: "h1"}, (OwnerReference("ReplicaSet", f"{name}-h1", f"r-{name}"),)
    for number, node in enumerate(places):
        called = f"{name}-h1-{number}"
        times = {"created_at": NOW - 86400, "started_at": NOW - 86400, "ready_at": NOW - 86400}
        yield Pod("shop", called, called, spec, labels=labels, node_name=node, owners=owners, **times)


def _budget(name: str, replicas: int) -> DisruptionBudget:
    """Of a single replica ``minAvailable: 1``, of others one less than all."""
    least = max(1, replicas - 1)
    return DisruptionBudget(
        "shop", name, name, _selector(name), replicas - least, replicas, least, expected_pods=replicas
    )


def _selector(name: str) -> LabelSelector:
    return LabelSelector((Requirement("app", "In", (name,)),))


def planned(cluster: Cluster, deadline_seconds: float, **disruption: Any) -> tuple[Plan, ObjectiveResult]:
    """One plan of the whole cycle, and what EmptyNodes reached in it."""
    policy = Policy(
        objectives=(Objective(name="EmptyNodes"),),
        limits=Limits(max_evictions=1_000_000, deadline=deadline_seconds),
        disruption=Disruption(**disruption),
    )
    plan = make_plan(cluster, policy, CycleOptions(MonotonicClock()))
    return plan, plan.objectives[0]


class Row(NamedTuple):
    """What one cluster gave."""

    alone: float
    surging: float
    bound: float
    surges: int
    seconds: float
    is_refused: bool


def measure(drawn: Drawn, deadline_seconds: float) -> Row:
    """The three plans of one cluster."""
    _, alone = planned(drawn.cluster, deadline_seconds)
    began = time.perf_counter()
    plan, surging = planned(drawn.cluster, deadline_seconds, move_by=(MoveRule(method=MoveMethod.SURGE),))
    seconds = time.perf_counter() - began
    allowing = {"single_replicas": Permission.ALLOW, "workloads": Workloads(max_unavailable="99%")}
    _, free = planned(drawn.unprotected, deadline_seconds, **allowing)
    surges = sum(move.method is MoveMethod.SURGE for move in plan.moves)
    is_refused = any("checker" in text for text in plan.warnings)
    return Row(alone.value or 0, surging.value or 0, free.bound or 0, surges, seconds, is_refused)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    options = _parser().parse_args(arguments)
    print(f"# {describe_machine()}")
    print(" | ".join(HEADER))
    rows = []
    for nodes in options.nodes:
        for utilisation in options.utilisations:
            for seed in options.seeds:
                drawn = draw(Making(nodes, utilisation, options.singles, seed))
                row = measure(drawn, options.deadline)
                rows.append(row)
                share = f"{row.surging / row.bound:.1%}" if row.bound else "-"
                told = (nodes, utilisation, seed, drawn.singles, f"{row.alone:g}", f"{row.surging:g}", f"{row.bound:g}")
                print(" | ".join(map(str, (*told, share, row.surges, f"{row.seconds:.1f}"))), flush=True)
    reached = sum(row.surging for row in rows) / max(1.0, sum(row.bound for row in rows))
    refused = sum(row.is_refused for row in rows)
    print(f"# by surge {reached:.1%} of the bound; {refused} plans refused by the checker")
    return int(reached < GOAL or refused > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.surges", description=__doc__)
    parser.add_argument("--nodes", type=lambda text: [int(part) for part in text.split(",")], default=[30, 100])
    parser.add_argument("--singles", type=float, default=0.4)
    parser.add_argument(
        "--utilisations", type=lambda text: [float(part) for part in text.split(",")], default=[0.5, 0.65]
    )
    parser.add_argument("--seeds", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2, 3])
    parser.add_argument("--deadline", type=parse_positive_duration, default=10.0)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
