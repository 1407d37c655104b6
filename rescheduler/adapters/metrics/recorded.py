"""A recording of load: the JSON that GET /watcher returns, or a list of such answers as history."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from math import nan
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import numpy as np

from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.node_columns import NodePoint, sample_of_points, samples_of
from rescheduler.adapters.metrics.samples.range_times import range_times
from rescheduler.extension_points import MetricsError, MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.printable import printable
from rescheduler.model.usage.load_report import LoadReport, LoadReportError, read_load_report
from rescheduler.model.usage.samples import MetricsSample, NodeSamples
from rescheduler.model.usage.usage_readings import Reading, statistics_of
from rescheduler.policy.fields.metrics_access import FileName
from rescheduler.policy.fields.policy_model import PolicyModel

MOST_BYTES: Final = 64 * 2**20
_MOST_REPORTS: Final = 10_000


class RecordedArguments(PolicyModel):
    """A file in the JSON that GET /watcher returns, or a list of such answers, oldest first; read anew when changed."""

    file: FileName
    """The file; a relative one is relative to the policy's own folder."""


class RecordedProvider(MetricsProvider):
    """Averages (or the latest values) of each recorded window, at the window's end; read anew when the file changes."""

    name = "Recorded"
    arguments = RecordedArguments

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: tuple[tuple[int, ...], Sequence[LoadReport], bool] | None = None

    @classmethod
    def made(cls, arguments: RecordedArguments, context: ProviderContext) -> Self:
        """Of its file."""
        return cls(context.folder / arguments.file)

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:  # noqa: ARG002
        """As MetricsProvider: the newest answer not after ``now``; where all are later, the newest of all."""
        reports, _ = self._reports()
        due = [report for report in reports if report.window_end <= now] or reports
        return sample_of_points(nodes, _points(due[-1]), now)

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """As MetricsProvider; at each time the newest answer of the step before it. None for a single answer."""
        reports, is_list = self._reports()
        try:
            times = range_times(start, end, step_seconds)
        except ValueError as error:
            raise self._error(str(error)) from None
        if not is_list or not len(times) or not nodes:
            return None
        hosts, shape = Hosts(nodes), (len(times), len(nodes))
        step = float(times[1] - times[0]) if len(times) > 1 else step_seconds
        values, measured = (
            {m: np.full(shape, nan) for m in (CPU, MEMORY)},
            {m: np.full(shape, nan) for m in (CPU, MEMORY)},
        )
        for report in reports:
            row = int(np.ceil((report.window_end - times[0]) / step))
            for point in _points(report) if 0 <= row < len(times) else ():
                found = hosts.of_host(point.host)
                if len(found) == 1:
                    values[point.metric][row, found[0]], measured[point.metric][row, found[0]] = point.value, point.at
        return samples_of(nodes, times, values, measured, {})

    def _reports(self) -> tuple[Sequence[LoadReport], bool]:
        """The recorded answers, oldest first, at least one; and whether they stand in a list."""
        state, content = self._content()
        if content is not None:
            try:
                document = msgspec.json.decode(content)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise self._error(f"no JSON: {printable(str(error), 200)}") from None
            self._kept = (state, self._read(document), isinstance(document, list))
        if self._kept is None:
            raise self._error("cannot be read")
        return self._kept[1], self._kept[2]

    def _read(self, document: Any) -> Sequence[LoadReport]:
        documents = document if isinstance(document, list) else [document]
        if not 0 < len(documents) <= _MOST_REPORTS:
            raise self._error(f"found {len(documents)} answers, wanted 1 to {_MOST_REPORTS}")
        reports = []
        for at, one in enumerate(documents):
            try:
                reports.append(read_load_report(one))
            except LoadReportError as error:
                place = f"[{at}]: " if isinstance(document, list) else ""
                raise self._error(f"{place}{error}") from None
        return sorted(reports, key=lambda report: report.window_end)

    def _content(self) -> tuple[tuple[int, ...], bytes | None]:
        """The file's state and, where it has changed, its bytes."""
        try:
            found = self._file.stat()
            state = (found.st_mtime_ns, found.st_size, found.st_ino)
            if self._kept is not None and self._kept[0] == state:
                return state, None
            if not stat.S_ISREG(found.st_mode):
                raise self._error("no file")
            with self._file.open("rb") as stream:
                content = stream.read(MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            raise self._error(f"cannot be read: {getattr(error, 'strerror', None) or 'no usable name'}") from None
        if len(content) > MOST_BYTES:
            raise self._error(f"longer than {MOST_BYTES // 2**20} MiB")
        return state, content

    def _error(self, text: str) -> MetricsError:
        return MetricsError(f"{self.name} at {printable(os.fspath(self._file), 300)}: {text}")


def _points(report: LoadReport) -> list[NodePoint]:
    return [
        NodePoint(resource, host, value / 100.0, report.window_end)
        for resource in (CPU, MEMORY)
        for host, readings in report.nodes.items()
        if (value := _value(readings, resource)) is not None
    ]


def _value(readings: Sequence[Reading], resource: str) -> float | None:
    """Percent: the latest value, as a sample is; else the average of the window."""
    found = statistics_of(readings, resource)
    return found.get("latest", found.get("average"))
