"""Volcano's binpack: the more a node would be filled, the better."""

from __future__ import annotations

from rescheduler.model.objects.pod import Pod
from rescheduler.scheduling.scores.bin_packing import BinPacking
from tests.builders import cluster, node, pod
from tests.unit.scheduling.asking import points

GPU = "example.com/gpu"
NODES = (
    node("a", "4", "8Gi", extended={GPU: "4"}),
    node("b", "8", "8Gi", extended={GPU: "2"}),
    node("c", "8", "8Gi"),
)


def scored(plugin: BinPacking, *pods: Pod) -> list[int]:
    """Scores of pod x on three nodes."""
    return points(plugin, cluster(*NODES, *pods))


def test_share_used_with_the_pod() -> None:
    """The mean of used cpu and memory, pods there included, in percent and truncated."""
    running = pod("q", "3", "1Gi", node="b")
    assert scored(BinPacking(), pod("x", "2", "2Gi"), running) == [37, 50, 25]


def test_only_what_the_pod_asks_for() -> None:
    """Resources without a request leave the mean; a node that lacks a resource scores 0 for it."""
    packs = BinPacking((("cpu", 1), ("memory", 1), (GPU, 3)))
    assert scored(packs, pod("x", "0", "0", extended={GPU: "1"})) == [25, 50, 0]
    assert scored(packs, pod("x", "1", "0", extended={GPU: "1"})) == [25, 40, 3]


def test_an_overfull_resource() -> None:
    """A resource that would be overfull counts 0 and keeps its weight."""
    assert scored(BinPacking((("cpu", 1), ("memory", 3))), pod("x", "6", "4Gi")) == [37, 56, 56]


def test_nothing_asked_for() -> None:
    """A pod without any of the resources scores 0 everywhere."""
    assert scored(BinPacking(((GPU, 1),)), pod("x")) == [0, 0, 0]
