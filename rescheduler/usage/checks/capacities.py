"""What each node offers, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.node import Node
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.usage import FloatArray


def capacities(nodes: Sequence[Node]) -> FloatArray:
    """Millicores and bytes, float64[2, N]; allocatable where a node lists no capacity, 0 where it lists neither."""
    rows = [dict(node.capacity or node.allocatable) for node in nodes]
    return np.array([[row.get(metric, 0) for row in rows] for metric in (CPU, MEMORY)], dtype=np.float64)
