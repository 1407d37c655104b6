"""What is measured while the daemon runs: its memory, and the state of the cluster at one moment."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from tests.cluster.cluster import Cluster

PAGE_BYTES: Final = 4096
MEGABYTE: Final = 1e6


class State(NamedTuple):
    """Of a cluster: pods that wait, that run, and nodes with any pod."""

    pending: int
    running: int
    nodes: int
    nodes_in_use: int


class Memory:
    """Samples of a process's resident memory, in megabytes."""

    def __init__(self, pid: int) -> None:
        self._statm = Path(f"/proc/{pid}/statm")
        self.samples: list[float] = []

    def sample(self) -> None:
        """Take one."""
        self.samples.append(int(self._statm.read_text().split()[1]) * PAGE_BYTES / MEGABYTE)

    @property
    def growth(self) -> float:
        """How many times the third quarter's median the last quarter's is; the first half is for warming up."""
        quarter = max(1, len(self.samples) // 4)
        return median(self.samples[-quarter:]) / median(self.samples[-2 * quarter : -quarter] or self.samples)


def state_of(cluster: Cluster) -> State:
    """The cluster now."""
    pods = cluster.api.list("pods", "default")
    hosts = {pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}
    running = sum(pod["status"].get("phase") == "Running" for pod in pods)
    pending = sum(not pod["spec"].get("nodeName") for pod in pods)
    return State(pending, running, len(cluster.api.list("nodes")), len(hosts))
