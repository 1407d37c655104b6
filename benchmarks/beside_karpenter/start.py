"""Where both contenders begin: machines bought for more pods than there are now, by a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

FAMILIES: Final = {"c": 2, "s": 4, "m": 8}
"""GiB of memory for each CPU of a machine of Karpenter's test cloud."""
CPUS: Final = (2, 4, 8)
ZONES: Final = ("test-zone-a", "test-zone-b", "test-zone-c")
SIZES: Final = ((300, 256), (600, 1024), (900, 512), (1500, 2048))
"""Millicores and MiB of a pod of each workload."""
WORKLOADS: Final = 8
KEPT_MILLICORES, KEPT_MIB = 100, 10
"""What a machine keeps for its kubelet."""
LEAST_FULL, MOST_FULL = 0.05, 0.7


@dataclass(frozen=True)
class BoughtMachine:
    """A machine of the test cloud."""

    family: str
    cpus: int
    zone: str

    @property
    def instance_type(self) -> str:
        """As Karpenter's price list names it."""
        return f"{self.family}-{self.cpus}x-amd64-linux"

    @property
    def room(self) -> tuple[int, int]:
        """Millicores and MiB for pods."""
        return self.cpus * 1000 - KEPT_MILLICORES, self.cpus * FAMILIES[self.family] * 1024 - KEPT_MIB


@dataclass(frozen=True)
class StandingPod:
    """A pod of a workload on a machine, by its number."""

    workload: int
    machine: int

    @property
    def size(self) -> tuple[int, int]:
        """Millicores and MiB."""
        return SIZES[self.workload % len(SIZES)]


@dataclass(frozen=True)
class Start:
    """Machines, and the pods that are left on them."""

    machines: tuple[BoughtMachine, ...]
    pods: tuple[StandingPod, ...]


def random_start(seed: int, machines: int) -> Start:
    """The same for the same seed; no machine is fuller than its room."""
    chance = Random(f"{seed} {machines}")
    bought = tuple(
        BoughtMachine(chance.choice(list(FAMILIES)), chance.choice(CPUS), chance.choice(ZONES)) for _ in range(machines)
    )
    pods: list[StandingPod] = []
    for number, machine in enumerate(bought):
        share = chance.uniform(LEAST_FULL, MOST_FULL)
        room = [int(amount * share) for amount in machine.room]
        for _ in range(2 * machine.cpus):
            pod = StandingPod(chance.randrange(WORKLOADS), number)
            if all(asked <= left for asked, left in zip(pod.size, room, strict=True)):
                room = [left - asked for asked, left in zip(pod.size, room, strict=True)]
                pods.append(pod)
    return Start(bought, tuple(pods))
