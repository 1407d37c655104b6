"""Since when each node exists: a node made anew under an old name is another, and starts with nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.objects.node import Node
from rescheduler.model.usage.samples import NodeSamples
from rescheduler.model.usage.usage import FloatArray


class NodeBirths:
    """Remembers nodes between ticks, for those that do not say when they were created."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, float]] | None = None

    def of(self, nodes: Sequence[Node], now: float) -> FloatArray:
        """When each node was created, else first seen, float64[N]; minus infinity for those there from the start."""
        seen = self._seen or {}
        first = -np.inf if self._seen is None else now
        born = {}
        for node in nodes:
            uid, since = seen.get(node.name, (node.uid, first))
            since = since if uid == node.uid else now
            born[node.name] = (node.uid, since if node.created_at is None else node.created_at)
        self._seen = born
        return np.array([born[node.name][1] for node in nodes], dtype=np.float64)


def since_birth(samples: NodeSamples, exists_since: FloatArray) -> NodeSamples:
    """Without what was measured of an earlier node of the same name."""
    with np.errstate(invalid="ignore"):
        is_own = samples.measured_at >= exists_since
    return NodeSamples(
        samples.nodes,
        samples.times,
        {metric: np.where(is_own, values, np.nan) for metric, values in samples.values.items()},
        np.where(is_own, samples.measured_at, np.nan),
        samples.uids,
    )
