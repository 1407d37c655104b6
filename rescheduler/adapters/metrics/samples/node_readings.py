"""Collects what a source says of hosts into samples of the nodes: unknown is NaN, contradictions are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, isfinite, nan
from typing import Final

import numpy as np

from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.adapters.metrics.samples.hosts import Hosts
from rescheduler.adapters.metrics.samples.node_columns import samples_of
from rescheduler.adapters.metrics.samples.range_times import range_times
from rescheduler.adapters.metrics.samples.series_join import TOLERANCE
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.printable import printable
from rescheduler.model.usage.samples import NODE_METRICS, POD_METRICS, NodeSamples, PodKey, PodSamples
from rescheduler.model.usage.usage import FloatArray

LIVE_SECONDS: Final = 120.0
"""Of two series for one node, one that ended so much earlier is a leftover; otherwise both must agree."""
_DECISIVE: Final = (CPU, MEMORY)
_LARGEST_TIME: Final = 1e11
_MOST_NOTES: Final = 20
_NOBODY, _DISPUTED = 0, -1


class NodeReadings:
    """Readings of N nodes at T times; those of hosts that are none of the nodes are left out."""

    def __init__(
        self,
        nodes: Sequence[Node],
        hosts: Hosts,
        times: FloatArray,
        *,
        step_seconds: float | None = None,
        span_seconds: float = 0.0,
    ) -> None:
        """``times``: float64[T], seconds since the epoch, for which samples are wanted.

        With a step, readings go to the time that ends the step in which they were measured; without, T = 1.
        ``span_seconds``: readings stand for so much time after their own.
        """
        self._nodes = nodes
        self._hosts = hosts
        self._times = times
        self._step = step_seconds
        self._span = span_seconds
        shape = (len(times), len(nodes))
        self._values = {metric: np.full(shape, np.nan) for metric in NODE_METRICS}
        self._measured = {metric: np.full(shape, np.nan) for metric in NODE_METRICS}
        self._sources = {metric: np.full(shape, _NOBODY, dtype=np.int32) for metric in NODE_METRICS}
        self._host_ids: dict[str, int] = {}
        self._strangers: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        self.unusable: dict[str, str] = {}
        """Nodes by name that have no sample because of what was found, with that."""

    def add(self, metric: str, host: str, at: float, value: float, *, series: str = "") -> None:
        """One reading, measured at ``at``; not finite for something that was there and is no number.

        ``series``: tells apart what different sources of one host say; those that say different things are refused.
        """
        slot = self._slot(at)
        if slot is None:
            return
        places = self._hosts.of_host(host)
        if len(places) == 1:
            self._add_at(metric, (slot, places[0]), f"{host} ({series})" if series else host, at, value)
        elif places:
            names = " or ".join(self._nodes[place].name for place in places[:3])
            for place in places:
                self._refuse(metric, (slot, place), f"the host {printable(host, 80)} may be {names}")
        elif len(self._strangers) < 1000:
            self._strangers[host] = None

    def add_points(self, metric: str, host: str, points: Iterable[tuple[float, float]], *, series: str = "") -> None:
        """Points (time, value) of one series; of a single sample only the newest counts."""
        found = list(points)
        if self._step is None:
            found = [max(found, key=lambda point: point[0])] if found else []
        for at, value in found:
            self.add(metric, host, at, value, series=series)

    def note(self, text: str) -> None:
        """Keep a warning; a flood of them is cut."""
        if len(self._notes) < _MOST_NOTES:
            self._notes[text] = None

    def samples(self) -> NodeSamples:
        """All that was collected. Nodes that are unusable have no values at all.

        ``measured_at`` goes by cpu and memory; where neither is known, by the other metrics.
        """
        return samples_of(self._nodes, self._times, self._values, self._measured, self.unusable)

    def warnings(self) -> tuple[str, ...]:
        """What the operator should know: metrics that were left out, and hosts of which none is a node."""
        found = list(self._notes)
        if self._nodes and self._strangers and not self._host_ids:
            shown = ", ".join(printable(host, 80) for host in list(self._strangers)[:3])
            found.append(
                f"none of its hosts ({shown}{', ...' if len(self._strangers) > 3 else ''}) is a node of this cluster "
                f"(such as {self._nodes[0].name}); check how the source names its hosts, or set hostPattern"
            )
        return tuple(found)

    def _slot(self, at: float) -> int | None:
        if self._step is None:
            return 0
        if not isfinite(at):
            return None
        slot = ceil((at + self._span - float(self._times[0])) / self._step - 1e-6)
        return slot if 0 <= slot < len(self._times) else None

    def _add_at(self, metric: str, place: tuple[int, int], host: str, at: float, value: float) -> None:
        source = self._host_ids.setdefault(host, len(self._host_ids) + 1)
        before, sources = self._measured[metric][place], self._sources[metric]
        if sources[place] == _DISPUTED or before > at + LIVE_SECONDS:
            return
        is_rival = sources[place] not in (_NOBODY, source) and before >= at - LIVE_SECONDS
        if is_rival and not _agree(float(self._values[metric][place]), value):
            self._refuse(metric, place, self._contradiction(metric, place, host, value))
        elif not isfinite(value) or not 0 < at < _LARGEST_TIME:
            self._refuse(metric, place, f"{metric} of {printable(host, 80)} is no usable number, or has no usable time")
        elif not before > at:
            self._values[metric][place], self._measured[metric][place], sources[place] = value, at, source

    def _refuse(self, metric: str, place: tuple[int, int], reason: str) -> None:
        self._values[metric][place] = self._measured[metric][place] = np.nan
        self._sources[metric][place] = _DISPUTED
        if self._step is not None:
            return
        if metric in _DECISIVE:
            self.unusable.setdefault(self._nodes[place[1]].name, reason)
        else:
            self.note(f"{self._nodes[place[1]].name}: {reason}")

    def _contradiction(self, metric: str, place: tuple[int, int], host: str, value: float) -> str:
        first = list(self._host_ids)[int(self._sources[metric][place]) - 1]
        return (
            f"two series for {metric} disagree: {printable(first, 80)} says {self._values[metric][place]:.4g}, "
            f"{printable(host, 80)} says {value:.4g}"
        )


def history_times(http: HttpSession, start: float, end: float, step_seconds: float) -> tuple[FloatArray, float]:
    """The times of a history, and the step in whole seconds. Raises MetricsError for too many of them."""
    try:
        return range_times(start, end, step_seconds), max(1.0, float(round(step_seconds)))
    except ValueError as error:
        raise http.error(f"its history cannot be asked for: {error}") from None


def number(found: object, factor: float = 1.0) -> float:
    """A finite number as JSON gives it, times a factor; NaN for anything else."""
    if not isinstance(found, int | float) or isinstance(found, bool):
        return nan
    try:
        value = float(found) * factor
    except OverflowError:
        return nan
    return value if isfinite(value) else nan


def _agree(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE * max(1.0, abs(one), abs(other))


# Collects what a source says of containers into one sample of each pod.

_Parts = dict[str, tuple[float, float]]
MOST_PODS: Final = 300_000


class PodReadings:
    """Readings by pod and container; a pod's use is the sum over its containers."""

    def __init__(self) -> None:
        self._parts: dict[PodKey, dict[str, _Parts]] = {}

    def add(self, metric: str, pod: PodKey, at: float, value: float, *, container: str = "") -> None:
        """One reading, measured at ``at``; NaN for something that was there and is no number."""
        if not pod.namespace or not pod.name or (pod not in self._parts and len(self._parts) >= MOST_PODS):
            return
        parts = self._parts.setdefault(pod, {}).setdefault(metric, {})
        before = parts.get(container)
        if before is None or before[0] < at:
            parts[container] = (at, value)

    def samples(self) -> PodSamples:
        """One sample of every pod that was named, in the order of their names."""
        pods = tuple(sorted(self._parts))
        sums = {metric: [_total(self._parts[pod].get(metric, {})) for pod in pods] for metric in POD_METRICS}
        shaped = {metric: np.array(found, dtype=np.float64).reshape(len(pods), 2) for metric, found in sums.items()}
        measured = np.fmin.reduce([array[:, 0] for array in shaped.values()])
        return PodSamples(pods, {metric: array[:, 1] for metric, array in shaped.items()}, measured)


def _total(parts: _Parts) -> tuple[float, float]:
    """The oldest time and the sum of containers that still report; NaN where none does."""
    if not parts:
        return float("nan"), float("nan")
    newest = max(at for at, _ in parts.values())
    live = [(at, value) for at, value in parts.values() if at >= newest - LIVE_SECONDS]
    return min(at for at, _ in live), sum(value for _, value in live)
