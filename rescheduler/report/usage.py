"""Measured load of nodes and pods as rows: for tables, and as documents for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

import msgspec
import numpy as np
from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY, format_amount
from rescheduler.model.plan.plan import PodReference, reference_to
from rescheduler.model.usage.samples import DISK, NETWORK
from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.model.usage.usage import FloatArray, Usage
from rescheduler.report.cells import cell, plural, table
from rescheduler.report.plan.bars import BarStyle


@dataclass(frozen=True, eq=False)
class UsageView:
    """Load over one window, aligned with ``nodes`` and ``pods``, as of ``now``.

    ``source``: where it is from, in words; ``pod_measured_at``: float64[P], None where that is not known.
    """

    nodes: Sequence[Node]
    pods: Sequence[Pod]
    usage: Usage
    now: float
    window: str
    source: str
    pod_measured_at: FloatArray | None = None
    warnings: tuple[str, ...] = field(default=())


class ResourceUsage(msgspec.Struct, omit_defaults=True):
    """Percent of the node's capacity over the window; what is not known is left out."""

    average: float | None = None
    deviation: float | None = None
    latest: float | None = None
    maximum: float | None = None
    p95: float | None = None


class NodeUsageRow(msgspec.Struct, rename="camel"):
    """One node; ``trust``: the state of its load, "" where nobody assessed it; ``ageSeconds``: of the newest sample."""

    node: str
    cpu: ResourceUsage
    memory: ResourceUsage
    network_bytes_per_second: float | None
    disk_busy_percent: float | None
    trust: str
    reason: str
    age_seconds: float | None


class PodUsage(msgspec.Struct, rename="camel"):
    """One pod: millicores, bytes, and both in percent of the node's capacity; ``trust`` is its node's."""

    pod: PodReference
    node: str | None
    cpu_millicores: float | None
    memory_bytes: float | None
    cpu_percent: float | None
    memory_percent: float | None
    trust: str
    age_seconds: float | None


class NodeUsageList(msgspec.Struct, rename={"api_version": "apiVersion", "falls_back": "fallsBack"}):
    """Load of all nodes; ``freeze``: why nothing is moved by it now."""

    window: str
    source: str
    freeze: str
    falls_back: bool
    warnings: tuple[str, ...]
    nodes: tuple[NodeUsageRow, ...]
    api_version: str = "rescheduler/v1alpha1"
    kind: str = "NodeUsageList"


class PodUsageList(msgspec.Struct, rename={"api_version": "apiVersion"}):
    """Load of all pods that run somewhere."""

    window: str
    source: str
    warnings: tuple[str, ...]
    pods: tuple[PodUsage, ...]
    api_version: str = "rescheduler/v1alpha1"
    kind: str = "PodUsageList"


def node_usage(view: UsageView) -> NodeUsageList:
    """Every node, the one with the highest average cpu first, those without any last."""
    usage, trusts = view.usage, _trusts(view)
    resources = {name: _resource_rows(usage, name) for name in (CPU, MEMORY)}
    ages = np.maximum(view.now - usage.window_end, 0.0)
    network, disk = (_column(usage, name, "average") for name in (NETWORK, DISK))
    rows = [
        NodeUsageRow(
            node.name,
            resources[CPU][at],
            resources[MEMORY][at],
            _known(network[at]),
            _known(disk[at]),
            trusts[at].state.value if trusts else "",
            trusts[at].reason if trusts else "",
            _known(ages[at]),
        )
        for at, node in enumerate(view.nodes)
    ]
    rows.sort(key=lambda row: (-_highest(row.cpu), row.node))
    assessment = usage.assessment
    return NodeUsageList(
        window=view.window,
        source=view.source,
        freeze=assessment.freeze if assessment is not None else "",
        falls_back=assessment.falls_back if assessment is not None else False,
        warnings=view.warnings,
        nodes=tuple(rows),
    )


def pod_usage(view: UsageView) -> PodUsageList:
    """Every pod that runs on a node, the one with the highest cpu first, those without any last."""
    place = {node.name: at for at, node in enumerate(view.nodes)}
    trusts = _trusts(view)
    unknown = np.full(len(view.pods), np.nan)
    cpu, memory = (view.usage.pod_use.get(name, unknown) for name in (CPU, MEMORY))
    ages = unknown if view.pod_measured_at is None else np.maximum(view.now - view.pod_measured_at, 0.0)
    rows = [
        PodUsage(
            reference_to(pod),
            pod.node_name,
            _known(cpu[at]),
            _known(memory[at]),
            _share(view.nodes, place, pod, CPU, cpu[at]),
            _share(view.nodes, place, pod, MEMORY, memory[at]),
            trusts[place[pod.node_name]].state.value if trusts and pod.node_name in place else "",
            _known(ages[at]),
        )
        for at, pod in enumerate(view.pods)
        if pod.node_name is not None and not pod.is_finished
    ]
    rows.sort(key=lambda row: (row.cpu_millicores is None, -(row.cpu_millicores or 0.0), row.pod.key))
    return PodUsageList(window=view.window, source=view.source, warnings=view.warnings, pods=tuple(rows))


def _resource_rows(usage: Usage, resource: str) -> list[ResourceUsage]:
    names = ("average", "deviation", "latest", "maximum", "p95")
    columns = [_column(usage, resource, name) for name in names]
    return [
        ResourceUsage(**{name: _known(column[at]) for name, column in zip(names, columns, strict=True)})
        for at in range(usage.node_count)
    ]


def _column(usage: Usage, resource: str, statistic: str) -> FloatArray:
    found = usage.statistics.get(resource)
    values: FloatArray = np.full(usage.node_count, np.nan) if found is None else getattr(found, statistic)
    return values


def _trusts(view: UsageView) -> Sequence[Trust]:
    return view.usage.assessment.nodes if view.usage.assessment is not None else ()


def _share(nodes: Sequence[Node], place: Mapping[str, int], pod: Pod, resource: str, amount: float) -> float | None:
    at = place.get(pod.node_name or "")
    if at is None:
        return None
    offered = dict(nodes[at].capacity or nodes[at].allocatable).get(resource, 0)
    return _known(100.0 * amount / offered) if offered else None


def _highest(found: ResourceUsage) -> float:
    value = found.average if found.average is not None else found.latest
    return -1.0 if value is None else value


def _known(value: float) -> float | None:
    return round(float(value), 3) if isfinite(value) else None


# Measured load as tables: bars on a terminal, plain figures elsewhere.

_BAR = 12


def node_usage_table(
    found: NodeUsageList, *, style: BarStyle | None = None, wide: bool = False
) -> Iterator[RenderableType]:
    """A line for each node; ``style``: with bars, None without; ``wide``: with deviation, p95, network and disk."""
    yield cell(f"load of {plural(len(found.nodes), 'node')} over {found.window}, from {found.source}", "bold")
    if found.falls_back:
        yield cell("too few nodes have load that is believed: requests stand in for it", "red")
    elif found.freeze:
        yield cell(f"nothing is moved by load now: {found.freeze}", "red")
    more = ["CPU STD", "CPU P95", "MEM STD", "MEM P95", "NETWORK", "DISK"] if wide else []
    headings = ["NODE", "CPU", "MEMORY", *more, "AGE", "TRUST", "WHY"]
    rows = (_node_row(row, style, wide=wide) for row in found.nodes)
    yield table(headings, rows, right=["AGE", *more] if style is not None else ["CPU", "MEMORY", "AGE", *more])


def pod_usage_table(found: PodUsageList, *, style: BarStyle | None = None) -> Iterator[RenderableType]:
    """A line for each pod; bars show the share of its node."""
    yield cell(f"load of {plural(len(found.pods), 'pod')} over {found.window}, from {found.source}", "bold")
    headings = ["POD", "NODE", "CPU", "MEMORY", "AGE", "TRUST"]
    right = ["AGE"] if style is not None else ["CPU", "MEMORY", "AGE"]
    yield table(headings, (_pod_row(row, style) for row in found.pods), right=right)


def _node_row(row: NodeUsageRow, style: BarStyle | None, *, wide: bool) -> list[object]:
    values = [_measured(_main(found), _percent(_main(found)), style) for found in (row.cpu, row.memory)]
    more: list[object] = []
    if wide:
        more = [_percent(value) for value in (row.cpu.deviation, row.cpu.p95, row.memory.deviation, row.memory.p95)]
        network = row.network_bytes_per_second
        more += [
            "-" if network is None else f"{format_amount(MEMORY, round(network))}/s",
            _percent(row.disk_busy_percent),
        ]
    return [row.node, *values, *more, _age(row.age_seconds), _trust(row.trust), row.reason]


def _pod_row(row: PodUsage, style: BarStyle | None) -> list[object]:
    cpu = "-" if row.cpu_millicores is None else f"{row.cpu_millicores:.0f}m"
    memory = "-" if row.memory_bytes is None else f"{row.memory_bytes / 2**20:.0f}Mi"
    return [
        row.pod.key,
        row.node or "-",
        _measured(row.cpu_percent, cpu, style),
        _measured(row.memory_percent, memory, style),
        _age(row.age_seconds),
        _trust(row.trust),
    ]


def _main(found: ResourceUsage) -> float | None:
    return found.average if found.average is not None else found.latest


def _measured(percent: float | None, figure: str, style: BarStyle | None) -> Text:
    if style is None or percent is None:
        return cell(figure)
    full, empty = ("#", ".") if style.is_ascii else ("█", "░")
    filled = min(_BAR, int(percent / 100 * _BAR))
    colour = "green" if percent < 70 else "yellow" if percent < 90 else "red"
    return Text(full * filled + empty * (_BAR - filled), style=colour).append(f" {figure:>6}", style="default")


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}%"


def _age(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return (
        f"{seconds:.0f}s" if seconds < 600 else f"{seconds / 60:.0f}m" if seconds < 36000 else f"{seconds / 3600:.0f}h"
    )


def _trust(state: str) -> Text:
    if not state:
        return cell("-")
    return cell(state, "green" if Trust(TrustState(state)).is_usable else "red")
