"""Which pods on hot nodes may give way, and for which cooler nodes (what Volcano's design calls Preemptable)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.scores.node_usage import NodeUsage, pod_shares
from rescheduler.scheduling.scoring.node_load import capacities, fraction
from rescheduler.scheduling.scoring.shadow_load import weighted_load

MARGIN_PERCENT = 5.0


def cooler_nodes(victim: int, placement: Placement, plugin: NodeUsage, margin: float = MARGIN_PERCENT) -> BoolArray:
    """Nodes that would be cooler with the pod than its own node is now, bool[N]; none for a pod on no node.

    Cooler by more than ``margin`` percentage points of the resource that the pod asks for most, relative to its node.
    """
    columns = placement.columns
    origin = int(placement.node_of[victim])
    if origin == NOWHERE:
        return np.zeros(columns.node_count, dtype=np.bool_)
    row = int(pod_shares(victim, columns)[:, origin].argmax())
    shares = plugin.composites(placement)[row]
    capacity = columns.facts(capacities)[("cpu", "memory")[row]]
    added = fraction(np.full(columns.node_count, plugin.use_of(victim, columns)[row]), capacity)
    found: BoolArray = (capacity > 0) & (shares + added < shares[origin] - margin / 100)
    found[origin] = False
    return found


def hottest_first(pods: Iterable[int], placement: Placement, plugin: NodeUsage) -> list[int]:
    """The pods in the order in which they should give way: those on nodes of higher load first, pending ones last."""
    shares = plugin.composites(placement)
    load = weighted_load(shares[0], shares[1], (plugin.arguments.cpu_weight, plugin.arguments.memory_weight))
    heat = {pod: float(load[placement.node_of[pod]]) if placement.node_of[pod] != NOWHERE else -1.0 for pod in pods}
    return sorted(heat, key=lambda pod: (-heat[pod], pod))
