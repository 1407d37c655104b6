"""Answers of GET /watcher as bytes, encoded once for each record rather than for each request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from rescheduler.daemon.load_watcher.load_document import (
    LoadData,
    LoadDocument,
    LoadOf,
    LoadWindow,
    Metric,
    plain_number,
)
from rescheduler.daemon.load_watcher.record import Record
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.load_report import WINDOWS, served_window
from rescheduler.model.usage.samples import DISK, NETWORK
from rescheduler.model.usage.usage import FloatArray, Usage
from rescheduler.policy.fields.values import format_duration, parse_duration
from rescheduler.usage.collecting.collected import Collected

# Load of pods in the document, an extension that other clients pass over.

_TYPES: Final = {CPU: "CPU", MEMORY: "Memory"}


def pod_loads(collected: Collected, window: float, nodes: Collection[str]) -> dict[str, LoadOf]:
    """Average load of the pods on these nodes, by ``NAMESPACE/NAME``, in percent of the node's capacity."""
    use = collected.pod_use.get(window)
    if use is None:
        return {}
    rollup = format_duration(window)
    columns = [(name, _percent(collected, name, values).tolist()) for name, values in use.average.items()]
    found: dict[str, LoadOf] = {}
    for place, pod in enumerate(collected.pods):
        if pod.node_name in nodes:
            own = [
                Metric(name, _TYPES[name], "AVG", rollup, plain_number(values[place]))
                for name, values in columns
                if 0 <= values[place] < np.inf
            ]
            if own:
                found[pod.key] = LoadOf(own)
    return found


def _percent(collected: Collected, resource: str, amounts: FloatArray) -> FloatArray:
    """Millicores or bytes of each pod, as percent of its node's capacity; NaN where that is not known."""
    capacity = {node.name: dict(node.capacity or node.allocatable).get(resource, 0) for node in collected.nodes}
    offered = np.array([capacity.get(pod.node_name or "", 0) for pod in collected.pods], dtype=np.float64)
    return 100.0 * amounts / np.where(offered > 0, offered, np.nan)


# What a load watcher tells others: nodes that are believed, over one window, in percent.

SOURCES: Final = {"MetricsServer": "KubernetesMetricsServer"}
"""Providers that the original watcher calls otherwise."""
TYPES: Final = {CPU: "CPU", MEMORY: "Memory", NETWORK: "Bandwidth", DISK: "Storage"}
_STATISTICS: Final = {
    "latest": "Latest", "maximum": "MAX", "minimum": "MIN", "p50": "P50", "p90": "P90", "p95": "P95", "p99": "P99",
    "average": "AVG", "deviation": "STD",
}  # fmt: skip
"""Operators, in their order: stock clients take the last AVG or Latest, so the average comes after the latest."""


class StatisticValues(NamedTuple):
    """One statistic of one resource for every node, as the document names it; float64[N]."""

    type: str
    operator: str
    name: str
    rollup: str
    values: FloatArray


def window_of(record: Record, asked: float | None) -> float | None:
    """The window to answer with, in seconds: the one asked for, by default 15m, else 10m, else 5m; None: none.

    Where a policy keeps other windows only, the default is the longest of them up to 15m, else the shortest.
    """
    kept = {format_duration(seconds): seconds for seconds in record.windows}
    text = WINDOWS[0] if asked is None else format_duration(asked)
    if text in WINDOWS:
        found = served_window(kept, text)
        if found is not None:
            return kept[found]
    if asked is not None:
        return kept.get(text)
    shorter = [seconds for seconds in kept.values() if seconds <= parse_duration(WINDOWS[0])]
    return max(shorter) if shorter else min(kept.values(), default=None)


def compose(
    record: Record, window: float, *, node: str | None = None, has_pods: bool = False, has_all: bool = False
) -> LoadDocument | None:
    """The document over one of the record's filled windows, of all nodes or of one; None if none is believed.

    ``has_pods`` adds pods; ``has_all`` adds every statistic and resource that is kept.
    """
    usage, rollup = record.windows[window], format_duration(window)
    shown, end = record.told(usage, node)
    values = _all_values(usage, rollup) if has_all else _upstream_values(usage, rollup)
    loads = _node_loads(record.nodes, values, shown)
    if not loads:
        return None
    found = record.collected
    return LoadDocument(
        timestamp=int(found.at),
        window=LoadWindow(rollup, int(end) - int(window), int(end)),
        source=SOURCES.get(found.source, found.source),
        data=LoadData(loads, pod_loads(found, window, loads)) if has_pods else LoadData(loads),
    )


def _node_loads(nodes: Sequence[str], values: Iterator[StatisticValues], shown: BoolArray) -> dict[str, LoadOf]:
    places = np.flatnonzero(shown)
    metrics: list[list[Metric]] = [[] for _ in places]
    for type_, operator, name, rollup, column in values:
        for own, value in zip(metrics, column[places].tolist(), strict=True):
            if 0 <= value < np.inf:
                own.append(Metric(name, type_, operator, rollup, plain_number(value)))
    return {nodes[place]: LoadOf(own) for place, own in zip(places.tolist(), metrics, strict=True) if own}


def _upstream_values(usage: Usage, rollup: str) -> Iterator[StatisticValues]:
    """Average and deviation of cpu and memory; the latest value only where there is no average."""
    for resource in (CPU, MEMORY):
        found = usage.statistics.get(resource)
        if found is not None:
            latest = np.where(np.isfinite(found.average), np.nan, found.latest)
            for operator, values in (("Latest", latest), ("AVG", found.average), ("STD", found.deviation)):
                yield _named(resource, operator, rollup, values)


def _all_values(usage: Usage, rollup: str) -> Iterator[StatisticValues]:
    for resource, found in usage.statistics.items():
        for statistic, operator in _STATISTICS.items():
            yield _named(resource, operator, rollup, getattr(found, statistic))


def _named(resource: str, operator: str, rollup: str, values: FloatArray) -> StatisticValues:
    """The latest value is of no window, and the original leaves its name empty too."""
    type_ = TYPES.get(resource, resource)
    if operator == "Latest":
        return StatisticValues(type_, operator, "", "", values)
    return StatisticValues(type_, operator, resource, rollup, values)


class Form(NamedTuple):
    """What a client asks for: a window in seconds (None: the default), pods, every statistic."""

    window: float | None = None
    has_pods: bool = False
    has_all: bool = False

    @property
    def is_prepared(self) -> bool:
        """Whether this is what most clients ask for."""
        return self == Form()


class LoadAnswers:
    """Keeps the encoded documents of the newest record; used by the server's and the watcher's threads at once."""

    def __init__(self) -> None:
        self._kept: tuple[Record | None, dict[Form, bytes | None]] = (None, {})
        self._encoder = msgspec.json.Encoder()

    def prepare(self, record: Record | None) -> None:
        """Encode what most clients ask for, so that none of them waits for it."""
        if record is not None:
            self.of_all(record, Form())

    def of_all(self, record: Record, form: Form) -> bytes | None:
        """The document of all nodes; None if no node is believed over this window."""
        window = window_of(record, form.window)
        if window is None:
            return None
        if self._kept[0] is not record:
            self._kept = (record, {})
        answers, key = self._kept[1], form._replace(window=window)
        if key not in answers:
            answers[key] = self._encoded(record, key, window, None)
        return answers[key]

    def of_node(self, record: Record, form: Form, node: str) -> bytes | None:
        """The document of one node; None if it is not believed."""
        window = window_of(record, form.window)
        return None if window is None else self._encoded(record, form, window, node)

    def _encoded(self, record: Record, form: Form, window: float, node: str | None) -> bytes | None:
        document = compose(record, window, node=node, has_pods=form.has_pods, has_all=form.has_all)
        return None if document is None else self._encoder.encode(document)
