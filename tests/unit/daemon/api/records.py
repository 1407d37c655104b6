"""Builders of what a load watcher knows, and a source and a clock that tests set by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rescheduler.daemon.load_watcher.record import Record
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import Statistics, Usage, UsageWindows
from rescheduler.usage.collecting.collected import Collected
from rescheduler.usage.collecting.provider_health import ProviderHealth
from rescheduler.usage.rings import PodUse
from tests.builders import NOW, node, pod

TRUSTED = Trust(TrustState.TRUSTED)
NAN = float("nan")
TWO_NODES: Mapping[str, Mapping[str, float]] = {
    "n1": {"average": 20.0, "deviation": 5.0},
    "n2": {"average": 60.5, "deviation": 0.0},
}


def statistics(rows: Sequence[Mapping[str, float]]) -> Statistics:
    """One row a node: average, deviation, latest and so on in percent; what is left out is unknown."""
    names = ("average", "deviation", "latest", "maximum", "minimum", "p50", "p90", "p95", "p99", "count")
    return Statistics(**{name: np.array([row.get(name, NAN) for row in rows], dtype=float) for name in names})


def usage(
    rows: Sequence[Mapping[str, float]],
    trusts: Sequence[Trust],
    *,
    end: float | Sequence[float] = NOW,
    seconds: float = 900.0,
    **assessment: Any,
) -> Usage:
    """One window in which cpu and memory are the same; nodes are valid where their load is true and measured."""
    ends = np.broadcast_to(np.asarray(end, dtype=float), (len(rows),)).copy()
    is_true = np.array([trust.is_true for trust in trusts], dtype=bool)
    return Usage(
        {CPU: statistics(rows), MEMORY: statistics(rows)},
        ends,
        np.full(len(rows), seconds),
        ~np.isnan(ends) & is_true,
        assessment=Assessment(tuple(trusts), **assessment),
    )


def collected(
    nodes: Mapping[str, Mapping[str, float]] = TWO_NODES,
    *,
    windows: Sequence[float] | Mapping[float, Mapping[str, Any]] = (300.0, 600.0, 900.0),
    trust: Mapping[str, Trust] | None = None,
    end: float | Sequence[float] = NOW,
    at: float = NOW,
    assessment: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Collected:
    """A tick after which the nodes have the same load in every window, but for what ``windows`` says of one."""
    rows = list(nodes.values())
    states = [(trust or {}).get(name, TRUSTED) for name in nodes]
    own: Mapping[float, Mapping[str, Any]] = (
        windows if isinstance(windows, Mapping) else {seconds: {} for seconds in windows}
    )
    plain = {"rows": rows, "trusts": states, "end": end, **(assessment or {})}
    kept = {seconds: usage(**{**plain, "seconds": seconds, **changes}) for seconds, changes in own.items()}
    given = {
        "source": "Prometheus",
        "ticks": 7,
        "measured_at": np.broadcast_to(np.asarray(end, dtype=float), (len(rows),)).copy(),
        "providers": (ProviderHealth("Prometheus", answered_at=at, is_used=True),),
        **fields,
    }
    return Collected(at, nodes=tuple(node(name) for name in nodes), windows=UsageWindows(kept), **given)


def record(nodes: Mapping[str, Mapping[str, float]] = TWO_NODES, **fields: Any) -> Record:
    """The same as the server looks at it."""
    return Record(collected(nodes, **fields))


def pods_using(*rows: tuple[str, str | None, float, float], windows: Sequence[float] = (900.0,)) -> dict[str, Any]:
    """``pods`` and ``pod_use`` of a tick: name, node, millicores and bytes of each pod."""
    pods: tuple[Pod, ...] = tuple(pod(name, node=where) for name, where, _, _ in rows)
    amounts = {CPU: np.array([row[2] for row in rows]), MEMORY: np.array([row[3] for row in rows])}
    use = PodUse(amounts, np.full(len(rows), NOW), np.ones(len(rows), dtype=np.int64))
    return {"pods": pods, "pod_use": dict.fromkeys(windows, use)}


@dataclass
class SetSource:
    """A watcher that knows what a test says."""

    collected: Collected = field(default_factory=lambda: Collected(0.0))
