"""What all providers share once they have columns: capacities, and the samples that columns make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.series_join import Series, joined, latest
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NODE_METRICS, MetricsSample, NodeSamples
from rescheduler.model.usage.usage import FloatArray


def capacities(nodes: Sequence[Node], resource: str) -> FloatArray:
    """Cores or bytes of each node, float64[N]: its capacity, else its allocatable; NaN where neither is known."""
    amounts = [dict(node.capacity).get(resource) or dict(node.allocatable).get(resource) or nan for node in nodes]
    return np.array(amounts, dtype=float) / (1000.0 if resource == CPU else 1.0)


def samples_of(
    nodes: Sequence[Node],
    times: FloatArray,
    values: Mapping[str, FloatArray],
    measured: Mapping[str, FloatArray],
    unusable: Mapping[str, str],
) -> NodeSamples:
    """Samples of columns float64[T, N] by metric; a metric that is left out is unknown.

    A value without a time is dropped, and so are all of the nodes that are ``unusable``. ``measured_at`` goes by cpu
    and memory; where neither is known, by the other metrics.
    """
    unknown = np.full((len(times), len(nodes)), nan)
    is_refused = np.array([node.name in unusable for node in nodes], dtype=bool)
    kept: dict[str, FloatArray] = {}
    at: dict[str, FloatArray] = {}
    for metric in NODE_METRICS:
        found, when = values.get(metric, unknown), measured.get(metric, unknown)
        is_known = np.isfinite(found) & np.isfinite(when) & ~is_refused
        kept[metric], at[metric] = np.where(is_known, found, nan), np.where(is_known, when, nan)
    needed = np.fmin(at[CPU], at[MEMORY])
    others = np.fmin.reduce(list(at.values()))
    names, uids = tuple(node.name for node in nodes), tuple(node.uid for node in nodes)
    return NodeSamples(names, times, kept, np.where(np.isnan(needed), others, needed), uids)


# Samples from single values of named nodes, as APIs without history give them.


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
