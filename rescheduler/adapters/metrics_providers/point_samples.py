"""Samples from single values of named nodes, as APIs without history give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rescheduler.adapters.metrics_providers.hosts import Hosts
from rescheduler.adapters.metrics_providers.node_columns import samples_of
from rescheduler.adapters.metrics_providers.series_join import Series, joined, latest
from rescheduler.model.node import Node
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.samples import MetricsSample
from rescheduler.model.usage import FloatArray


class NodePoint(NamedTuple):
    """One value of one host: a fraction of capacity. ``problem``: why it could not be read (the value is NaN then)."""

    metric: str
    host: str
    value: float
    at: float
    problem: str = ""


def sample_of_points(nodes: Sequence[Node], points: Sequence[NodePoint], now: float) -> MetricsSample:
    """The points of these nodes; other hosts are passed over, and a node with contradicting points is unusable."""
    hosts = Hosts(nodes, label="host")
    values: dict[str, FloatArray] = {}
    measured: dict[str, FloatArray] = {}
    unusable: dict[str, str] = {}
    unknown: dict[str, None] = {}
    for metric in (CPU, MEMORY):
        found = [point for point in points if point.metric == metric]
        series = [Series({"host": one.host}, np.array([one.value]), one.problem) for one in found]
        times = latest([Series({"host": one.host}, np.array([one.at])) for one in found], hosts, 1, len(nodes))
        result = joined(series, hosts, 1, len(nodes))
        values[metric] = result.values
        if times is not None:
            measured[metric] = times
        unknown |= dict.fromkeys(result.unknown)
        for at, problem in result.problems.items():
            unusable.setdefault(nodes[at].name, f"{metric}: {problem}")
    samples = samples_of(nodes, np.array([now]), values, measured, unusable)
    return MetricsSample(samples, None, unusable, tuple(_strangers(nodes, list(unknown), samples.measured_at)))


def _strangers(nodes: Sequence[Node], unknown: Sequence[str], measured_at: FloatArray) -> list[str]:
    """A warning where the source knows hosts, but none of the nodes."""
    if not unknown or not nodes or not np.isnan(measured_at).all():
        return []
    more = ", ..." if len(unknown) > 3 else ""
    return [f"none of its hosts ({', '.join(unknown[:3])}{more}) is a node of this cluster (such as {nodes[0].name})"]
