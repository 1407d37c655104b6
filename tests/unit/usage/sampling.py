"""Ticks of samples for tests, and the plain computation that windows must agree with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, nan, sqrt

import numpy as np

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NODE_METRICS, NodeSamples
from tests.builders import NOW, node

START = NOW


def tick(
    time: float,
    cpu: Mapping[str, float],
    *,
    at: Mapping[str, float] | float | None = None,
    memory: Mapping[str, float] | None = None,
    uids: Mapping[str, str] | None = None,
) -> NodeSamples:
    """One tick: cpu (and memory) by node; ``at``: the source's own times, for one or all nodes, else ``time``."""
    nodes = tuple(cpu)
    times = at if isinstance(at, Mapping) else dict.fromkeys(nodes, time if at is None else at)
    rows = {CPU: cpu, MEMORY: memory or {}}
    return NodeSamples(
        nodes,
        np.array([time]),
        {metric: np.array([[rows.get(metric, {}).get(name, nan) for name in nodes]]) for metric in NODE_METRICS},
        np.array([[times.get(name, nan) for name in nodes]]),
        tuple(uids[name] for name in nodes) if uids is not None else (),
    )


def old_nodes(*names: str) -> list[Node]:
    """Nodes that were created long ago."""
    return [node(name) for name in names]


def plain_statistics(samples: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Statistics of (measured at, value) pairs, as a textbook gives them; NaN where there are none."""
    names = ("average", "deviation", "latest", "minimum", "maximum", "p50", "p90", "p95", "p99", "measured_at")
    if not samples:
        return {**dict.fromkeys(names, nan), "count": 0}
    values = sorted(value for _, value in samples)
    average = sum(values) / len(values)
    rank = {f"p{p}": values[max(0, ceil(p * len(values) / 100) - 1)] for p in (50, 90, 95, 99)}
    return {
        "average": average,
        "deviation": sqrt(sum((value - average) ** 2 for value in values) / len(values)),
        "latest": max(samples)[1],
        "minimum": values[0],
        "maximum": values[-1],
        "measured_at": max(samples)[0],
        "count": len(values),
        **rank,
    }
