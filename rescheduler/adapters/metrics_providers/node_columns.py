"""What all providers share once they have columns: capacities, and the samples that columns make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

import numpy as np

from rescheduler.model.node import Node
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.samples import NODE_METRICS, NodeSamples
from rescheduler.model.usage import FloatArray


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
