"""What happens to a cluster hour by hour, by a seed: services that follow the day, batches, pods as large as a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi, sin
from random import Random
from typing import Final, NamedTuple

HOURS_OF_A_DAY: Final = 24
NODE_CPUS: Final = (4, 4, 4, 8, 8)
SERVICE_SHARE: Final = 0.5
"""Of all cpu: what services ask for in the mean of a day."""
SERVICE_MILLICORES: Final = (250, 500, 500, 1000, 1500, 2000)
BATCH_MILLICORES: Final = (1000, 2000, 3000)
WHOLE_NODE_MILLICORES: Final = 7500
NODES_A_BATCH, NODES_A_WHOLE_NODE = 50, 200
"""For so many nodes one comes in an hour, in the mean."""
GUARDED_SHARE: Final = 0.33


class WorkloadShape(NamedTuple):
    """A Deployment: what each of its pods asks for, and whether a budget lets only one of them go at a time."""

    millicores: int
    is_guarded: bool = False


@dataclass(frozen=True)
class ClusterHistory:
    """``nodes``: cpus by name; ``steps``: how many pods of each workload are wanted; one not named is not there."""

    nodes: Mapping[str, int]
    workloads: Mapping[str, WorkloadShape]
    steps: tuple[Mapping[str, int], ...]


def random_history(seed: int, nodes: int, hours: int, every: int = 1) -> ClusterHistory:
    """The same for the same numbers. ``every``: so many hours are one step, of which the first is taken."""
    chance = Random(f"{seed} {nodes} {hours}")
    cpus = {f"node-{number}": NODE_CPUS[number % len(NODE_CPUS)] for number in range(nodes)}
    workloads: dict[str, WorkloadShape] = {}
    wanted: list[dict[str, int]] = [{} for _ in range(hours)]
    _add_services(chance, 1000 * SERVICE_SHARE * sum(cpus.values()), workloads, wanted)
    for hour in range(hours):
        for number in range(_how_many(chance, nodes / NODES_A_BATCH)):
            name = f"batch-{hour}-{number}"
            workloads[name] = WorkloadShape(chance.choice(BATCH_MILLICORES))
            _stays(wanted, name, chance.randint(2, 5), hour, chance.randint(2, 9))
        for number in range(_how_many(chance, nodes / NODES_A_WHOLE_NODE)):
            name = f"large-{hour}-{number}"
            workloads[name] = WorkloadShape(WHOLE_NODE_MILLICORES)
            _stays(wanted, name, chance.randint(1, 2), hour, chance.randint(4, 12))
    return ClusterHistory(cpus, workloads, tuple(wanted[::every]))


def _add_services(
    chance: Random, millicores: float, workloads: dict[str, WorkloadShape], wanted: list[dict[str, int]]
) -> None:
    """Half of them have half as many pods more at one time of the day, and half as many less twelve hours later."""
    while millicores > 0:
        name = f"service-{len(workloads)}"
        shape = WorkloadShape(chance.choice(SERVICE_MILLICORES), chance.random() < GUARDED_SHARE)
        base, swing, shift = chance.randint(3, 12), chance.choice((0.0, 0.5)), chance.randrange(4)
        workloads[name] = shape
        millicores -= shape.millicores * base
        for hour, there in enumerate(wanted):
            there[name] = max(1, round(base * (1 + swing * sin(2 * pi * (hour + shift) / HOURS_OF_A_DAY))))


def _how_many(chance: Random, mean: float) -> int:
    """Of many chances, each as likely as any."""
    return sum(chance.random() < mean / 20 for _ in range(20))


def _stays(wanted: list[dict[str, int]], name: str, replicas: int, first: int, hours: int) -> None:
    for there in wanted[first : first + hours]:
        there[name] = replicas
