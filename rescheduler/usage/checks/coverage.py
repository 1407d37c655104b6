"""Whoever sees only part of a cluster must not balance it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU


def coverage_freeze(nodes: Sequence[Node], is_valid: BoolArray, wanted: float) -> str:
    """Why too little is known, "" if enough: of nodes, and of their allocatable cpu.

    ``is_valid``: nodes with valid samples, bool[N]. Virtual and unusable nodes do not count.
    """
    counts = np.fromiter((not node.is_virtual and node.problem is None for node in nodes), np.bool_, count=len(nodes))
    cpu = np.array([dict(node.allocatable).get(CPU, 0) for node in nodes], dtype=np.float64)
    if not counts.any():
        return "there are no nodes to judge"
    of_nodes = float(is_valid[counts].mean())
    total = float(cpu[counts].sum())
    of_cpu = float(cpu[counts & is_valid].sum()) / total if total > 0 else of_nodes
    if min(of_nodes, of_cpu) >= wanted:
        return ""
    number = int(is_valid[counts].sum())
    return (
        f"only {number} of {int(counts.sum())} nodes, with {100 * of_cpu:.0f} % of the allocatable cpu, have valid "
        f"samples; wanted {100 * wanted:.0f} %"
    )


def has_failed(nodes: Sequence[Node], is_valid: BoolArray) -> bool:
    """Whether more than half of the schedulable nodes have no valid samples: then requests stand in for use."""
    counts = np.fromiter((node.is_ready and not node.is_unschedulable for node in nodes), np.bool_, count=len(nodes))
    counts = counts if counts.any() else np.ones_like(counts)
    return bool(2 * (~is_valid[counts]).sum() > counts.sum())
