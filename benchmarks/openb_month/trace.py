"""The trace as published: tasks by when they came, ran and went, and nodes; the month used, and the fleet cut to it."""

from __future__ import annotations

import csv
import io
import lzma
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

NODES_FILE: Final = "openb_node_list_all_node.csv.xz"
TASKS_FILE: Final = "openb_pod_list_default.csv.xz"
WHOLE_GPU: Final = 1000


class OpenNode(NamedTuple):
    """A node; ``gpu_milli``: thousandths of GPUs."""

    name: str
    cpu_milli: int
    memory_mib: int
    gpu_milli: int
    model: str


class OpenTask(NamedTuple):
    """A task with its time in the cluster, in seconds of the trace."""

    name: str
    cpu_milli: int
    memory_mib: int
    gpu_milli: int
    quality: str
    came: int
    went: int

    def seconds_within(self, begin: int, end: int) -> int:
        """How long of a stretch it was there."""
        return max(0, min(self.went, end) - max(self.came, begin))


def read_nodes(folder: Path) -> list[OpenNode]:
    """All nodes, as listed."""
    return [
        OpenNode(row["sn"], int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"]) * WHOLE_GPU, row["model"])
        for row in _rows(folder / NODES_FILE)
    ]


def read_tasks(folder: Path) -> list[OpenTask]:
    """All tasks, those that the trace's own cluster never served too: they ask as long as they are there."""
    return [
        OpenTask(
            row["name"], int(row["cpu_milli"]), int(row["memory_mib"]), int(row["num_gpu"]) * int(row["gpu_milli"]),
            row["qos"], int(float(row["creation_time"])), int(float(row["deletion_time"])),
        )
        for row in _rows(folder / TASKS_FILE)
    ]  # fmt: skip


def last_days(tasks: Sequence[OpenTask], days: int) -> tuple[int, int]:
    """The last so many days in which tasks came, by which nearly all of them do."""
    end = max(task.came for task in tasks)
    return end - days * 86400, end


def mean_gpu_milli(tasks: Sequence[OpenTask], begin: int, end: int) -> float:
    """What is asked for at a time, in the mean."""
    return sum(task.gpu_milli * task.seconds_within(begin, end) for task in tasks) / (end - begin)


def cut_fleet(nodes: Sequence[OpenNode], wanted_gpu_milli: float) -> list[OpenNode]:
    """Every so manieth node of all by kind, so that each kind keeps its share; as many GPUs as are wanted, nearly."""
    ordered = sorted(nodes, key=lambda node: (node.model, node.gpu_milli, node.cpu_milli, node.memory_mib, node.name))
    cuts = (_systematic(ordered, count) for count in range(1, len(ordered) + 1))
    return min(cuts, key=lambda cut: abs(sum(node.gpu_milli for node in cut) - wanted_gpu_milli))


def _systematic(ordered: Sequence[OpenNode], count: int) -> list[OpenNode]:
    return [ordered[(2 * number + 1) * len(ordered) // (2 * count)] for number in range(count)]


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with lzma.open(path) as stream:
        yield from csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8"))
