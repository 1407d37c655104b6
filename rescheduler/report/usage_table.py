"""Measured load as tables: bars on a terminal, plain figures elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.resources import MEMORY, format_amount
from rescheduler.model.trust import Trust, TrustState
from rescheduler.report.bars import BarStyle
from rescheduler.report.cells import cell, plural, table
from rescheduler.report.usage_rows import NodeUsage, NodeUsageList, PodUsage, PodUsageList, ResourceUsage

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


def _node_row(row: NodeUsage, style: BarStyle | None, *, wide: bool) -> list[object]:
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
