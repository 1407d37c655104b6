"""Builders of evidence, samples and providers for the tests of the analyser and the collector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NODE_METRICS, MetricsSample, NodeSamples, PodKey, PodSamples
from rescheduler.model.usage.usage import FloatArray
from rescheduler.policy.fields.usage import UsageTrust
from rescheduler.usage.checks.evidence import Evidence
from tests.builders import NOW, node

INTERVAL = 15.0
LENGTH = 20
nan = float("nan")


def nodes(count: int = 5, **fields: Any) -> tuple[Node, ...]:
    """Old nodes n0, n1, ..."""
    return tuple(node(f"n{number}", **fields) for number in range(count))


def lively(count: int = 5, length: int = LENGTH, seed: int = 0) -> FloatArray:
    """Values between 30 % and 50 % that differ everywhere, float64[T, N]."""
    return np.random.default_rng(seed).uniform(0.3, 0.5, (length, count))


def samples(
    cpu: FloatArray,
    memory: FloatArray | None = None,
    *,
    times: FloatArray | None = None,
    measured_at: FloatArray | None = None,
) -> NodeSamples:
    """Samples of nodes n0, n1, ..., one every 15 s, the last of them now; memory lively where not given."""
    length, count = cpu.shape
    times = NOW + INTERVAL * np.arange(1 - length, 1) if times is None else times
    at = np.repeat(times[:, None], count, axis=1) if measured_at is None else measured_at
    values = {CPU: cpu, MEMORY: lively(count, length, seed=1) if memory is None else memory}
    return NodeSamples(tuple(f"n{number}" for number in range(count)), times, values, at)


def evidence(given: NodeSamples | None = None, **fields: Any) -> Evidence:
    """Five old nodes with lively samples of five minutes, and the default policy."""
    given = samples(lively()) if given is None else given
    found = fields.pop("nodes", nodes(len(given.nodes)))
    defaults: dict[str, Any] = {
        "now": NOW,
        "interval": INTERVAL,
        "trust": UsageTrust(),
        "exists_since": np.full(len(found), NOW - 86400),
    }
    return Evidence(nodes=found, samples=given, **{**defaults, **fields})


def answer(
    cpu: Sequence[float], now: float, *, memory: Sequence[float] | None = None, age: float = 0.0, **fields: Any
) -> MetricsSample:
    """One answer about n0, n1, ...; what has no value has no time either."""
    width = len(cpu)
    values = {metric: np.full((1, width), nan) for metric in NODE_METRICS}
    values[CPU] = np.array([cpu], dtype=float)
    values[MEMORY] = np.array([memory if memory is not None else [found / 2 for found in cpu]], dtype=float)
    at = np.where(np.isnan(values[CPU]) & np.isnan(values[MEMORY]), nan, now - age)
    return MetricsSample(NodeSamples(tuple(f"n{at}" for at in range(width)), np.array([now]), values, at), **fields)


def moving(cpu: Sequence[float], now: float, **fields: Any) -> MetricsSample:
    """An answer near these values that moves a little with the time, as real nodes do."""
    moved = [value * (1 + 0.001 * float(np.sin(now / 7 + number))) for number, value in enumerate(cpu)]
    return answer(moved, now, **fields)


class FakeProvider:
    """Says what it is told to; ``script`` is asked with the time, and may raise.

    ``kept``: a script of its history too; without, it keeps none.
    """

    def __init__(self, script: Any, name: str = "Prometheus", kept: Any = None) -> None:
        self.name = name
        self.script = script
        self.kept = kept
        self.asked: list[tuple[float, bool]] = []
        self.histories: list[tuple[float, float]] = []

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """One answer."""
        self.asked.append((now, with_pods))
        found: MetricsSample = self.script(now)
        return found

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """What its script says at each step."""
        self.histories.append((start, end))
        if self.kept is None:
            return None
        times = np.arange(start, end, step_seconds)
        rows = [self.kept(float(time)).nodes for time in times]
        values = {metric: np.concatenate([row.values[metric] for row in rows]) for metric in NODE_METRICS}
        return NodeSamples(rows[0].nodes, times, values, np.concatenate([row.measured_at for row in rows]))


def steady(now: float, count: int = 5) -> MetricsSample:
    """A healthy answer: values that move a little, differ from node to node, and depend on the time alone."""
    cpu = [0.4 + 0.02 * number + 0.01 * float(np.sin(now / 7 + number)) for number in range(count)]
    return answer(cpu, now)


def failing(now: float) -> MetricsSample:
    """A provider that is down."""
    raise MetricsError("Prometheus at http://127.0.0.1:9090: connection refused")


def pod_samples(cpu: dict[tuple[str, str], float], now: float) -> PodSamples:
    """Millicores by pod; memory 64 MiB each."""
    width = len(cpu)
    values = {CPU: np.array(list(cpu.values()), dtype=float), MEMORY: np.full(width, 64 * 2.0**20)}
    return PodSamples(tuple(PodKey(*key) for key in cpu), values, np.full(width, now))
