"""Generated samples for the watcher benchmark: nodes and pods whose load wanders, with gaps and lags."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.resources import resources
from rescheduler.model.usage.samples import NODE_METRICS, POD_METRICS, NodeSamples, PodKey, PodSamples

NOW = 1_800_000_000.0
GAPS = 0.005
"""Share of samples that are missing."""
CHURN = 200
"""Pods that are other ones in each tick."""


def nodes_named(count: int) -> list[Node]:
    """Nodes of the ticks."""
    nothing = resources(())
    return [Node(name=f"node-{at}", uid=f"uid-{at}", allocatable=nothing, capacity=nothing) for at in range(count)]


def pods_named(count: int) -> list[Pod]:
    """Pods of the ticks."""
    spec = PodSpec()
    return [Pod(key.namespace, key.name, f"uid-{at}", spec=spec) for at, key in enumerate(_keys(count))]


def node_ticks(nodes: int, ticks: int, interval: float, seed: int) -> Iterator[NodeSamples]:
    """One at a time, ``interval`` apart."""
    random = np.random.default_rng(seed)
    names, uids = tuple(f"node-{at}" for at in range(nodes)), tuple(f"uid-{at}" for at in range(nodes))
    load = random.random((len(NODE_METRICS), nodes))
    for number in range(ticks):
        load = np.clip(load + random.normal(0, 0.02, load.shape), 0, 1)
        shown = np.where(random.random(load.shape) < GAPS, np.nan, load)
        values = {metric: shown[[at]] for at, metric in enumerate(NODE_METRICS)}
        time = NOW + interval * number
        yield NodeSamples(names, np.array([time]), values, time - 10 * random.random((1, nodes)), uids)


def pod_ticks(pods: int, ticks: int, interval: float, seed: int) -> Iterator[PodSamples]:
    """One at a time, ``interval`` apart, each with some pods that no other has."""
    random = np.random.default_rng(seed)
    keys = _keys(pods)
    for number in range(ticks):
        others = tuple(PodKey("churn", f"job-{number}-{at}") for at in range(min(CHURN, pods)))
        load = random.random((len(POD_METRICS), pods)) * np.array([[2000.0], [4e9]])
        values = dict(zip(POD_METRICS, load, strict=True))
        measured_at = NOW + interval * number - 10 * random.random(pods)
        yield PodSamples((*keys[: pods - len(others)], *others), values, measured_at)


def _keys(pods: int) -> tuple[PodKey, ...]:
    return tuple(PodKey(f"namespace-{at % 300}", f"deployment-{at // 30}-7f5c9d8b6-{at}") for at in range(pods))
