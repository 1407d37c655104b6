"""CsvUse: measured use from a CSV file that something else appends to."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.extension_points import MetricsError, MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NODE_METRICS, MetricsSample, NodeSamples
from rescheduler.policy.fields.metrics_access import FileName
from rescheduler.policy.fields.policy_model import PolicyModel

OLDEST_SECONDS = 60.0


class CsvUseArgs(PolicyModel):
    """A CSV file with a line for each sample: seconds since the epoch, node, use of cpu and memory (0 to 1)."""

    file: FileName
    """The file; a relative one is relative to the policy's own folder."""


class CsvUse(MetricsProvider):
    """The newest line of each node, and lines of the past as history."""

    name = "CsvUse"
    arguments = CsvUseArgs

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def made(cls, arguments: CsvUseArgs, context: ProviderContext) -> Self:
        """Reads nothing yet."""
        return cls(context.folder / arguments.file)

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:  # noqa: ARG002
        """Use of nodes alone: the file knows nothing of pods."""
        return MetricsSample(self._at(np.array([now]), nodes, OLDEST_SECONDS))

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """At each time the newest line of the step before it."""
        return self._at(np.arange(start, end, step_seconds), nodes, step_seconds)

    def _at(self, times: np.ndarray, nodes: Sequence[Node], oldest: float) -> NodeSamples:
        """What is not known is NaN, never 0."""
        shape = (len(times), len(nodes))
        values = {metric: np.full(shape, np.nan) for metric in NODE_METRICS}
        measured_at = np.full(shape, np.nan)
        columns = {node.name: column for column, node in enumerate(nodes)}
        for at, name, cpu, memory in sorted(self._lines()):
            if name in columns:
                rows = (times >= at) & (times < at + oldest), columns[name]
                values[CPU][rows], values[MEMORY][rows], measured_at[rows] = cpu, memory, at
        return NodeSamples(tuple(columns), times, values, measured_at)

    def _lines(self) -> list[tuple[float, str, float, float]]:
        try:
            with self._file.open(newline="") as lines:
                return [(float(at), name, float(cpu), float(memory)) for at, name, cpu, memory in csv.reader(lines)]
        except (OSError, ValueError) as error:
            raise MetricsError(f"CsvUse at {self._file}: {error}") from error
