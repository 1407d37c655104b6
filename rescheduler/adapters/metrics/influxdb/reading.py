"""From InfluxDB's series to readings of nodes and pods."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from rescheduler.adapters.metrics.influxdb.influxdb_arguments import InfluxCounters, InfluxField, InfluxPods
from rescheduler.adapters.metrics.influxdb.series import Answer, InfluxSeries, SeriesSelection
from rescheduler.adapters.metrics.samples.node_readings import NodeReadings, PodReadings, number
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, PodKey, PodSamples

_NANOCORES_PER_MILLICORE = 1e6
_MILLISECONDS_PER_SECOND = 1e3


def share_selection(field: InfluxField, host_tag: str) -> SeriesSelection:
    """A share of the node, by host."""
    return SeriesSelection(field.measurement, (field.field,), (host_tag,), field.tags)


def counter_selection(counters: InfluxCounters, host_tag: str) -> SeriesSelection:
    """Rates of counters, by host and device."""
    group = (host_tag, counters.device_tag)
    return SeriesSelection(
        counters.measurement, counters.fields, group, {}, (counters.device_tag, counters.exclude), is_counter=True
    )


def add_shares(
    readings: NodeReadings, metric: str, field: InfluxField, host_tag: str, series: Iterable[InfluxSeries]
) -> None:
    """Readings of a share, as fractions. Of several series of one host at one time the last counts."""
    factor = 0.01 if field.unit == "Percent" else 1.0
    for one in series:
        host = one.tags.get(host_tag, "")
        for at, found in one.points if host else ():
            value = number(found, factor)
            readings.add(metric, host, at, 1.0 - value if field.is_idle else value)


def add_rates(readings: NodeReadings, metric: str, host_tag: str, series: Iterable[InfluxSeries], step: float) -> None:
    """Readings of rates: bytes of all devices together; of disks the share of time that the busiest one worked.

    ``step``: points within so many seconds belong together; they count as old as the oldest.
    """
    newest: dict[tuple[str, int], dict[tuple[str, ...], tuple[float, float]]] = {}
    for one in series:
        host = one.tags.get(host_tag, "")
        for at, raw in one.points if host else ():
            devices = newest.setdefault((host, round(at / step)), {})
            device = tuple(one.tags.values())
            if device not in devices or devices[device][0] < at:
                devices[device] = (at, number(raw))
    for (host, _), devices in newest.items():
        rates = [value for _, value in devices.values()]
        value = float(np.max(rates)) / _MILLISECONDS_PER_SECOND if metric == DISK else sum(rates)
        readings.add(metric, host, min(at for at, _ in devices.values()), value)


def read_pods(names: InfluxPods, ask: Callable[[SeriesSelection], Answer]) -> PodSamples:
    """The newest sample of every pod. Raises MetricsError."""
    readings = PodReadings()
    group = (names.namespace_tag, names.pod_tag, names.container_tag)
    fields = ((CPU, names.cpu_nanocores, 1 / _NANOCORES_PER_MILLICORE), (MEMORY, names.memory_bytes, 1.0))
    for metric, field, factor in fields:
        for one in ask(SeriesSelection(names.measurement, (field,), group)).series:
            namespace, pod, container = (one.tags.get(tag, "") for tag in group)
            for at, found in one.points:
                readings.add(metric, PodKey(namespace, pod), at, number(found, factor), container=container)
    return readings.samples()
