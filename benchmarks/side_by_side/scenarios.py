"""What is compared: a kind of cluster, who works on it, and what counts there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.side_by_side import scenes
from benchmarks.side_by_side.contenders import PACKING, Contender, Document, descheduler, rescheduler
from benchmarks.side_by_side.scenes import Scene

MARK = 0.6
"""Fraction of a node above which it is overloaded, where load is spread."""
CLUSTERS = 3
"""Clusters of each kind, drawn from as many seeds."""
LIMITS: Document = {"maxEvictions": 500, "deadline": "5s"}
"""The descheduler has no limit by itself, so ours shall not win or lose by its own."""


@dataclass(frozen=True)
class Scenario:
    """One kind of cluster."""

    name: str
    title: str
    scene: Callable[[int], Scene]
    contenders: tuple[Contender, ...]


def _percent(value: int) -> Document:
    """The same threshold for all that the descheduler always looks at."""
    return {"cpu": value, "memory": value, "pods": value}


def _high(value: int) -> Document:
    return {"thresholds": _percent(value)}


_LOW: Document = {"thresholds": _percent(30), "targetThresholds": _percent(round(100 * MARK))}
_EMPTY: Document = {"objectives": [{"name": "EmptyNodes"}], "limits": LIMITS}
_SPREAD: Document = {
    "objectives": [{"name": "SpreadLoad", "args": {"target": {"cpu": MARK, "memory": MARK}, "statistic": "mean"}}],
    "limits": LIMITS,
}

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            "consolidation", "24 nodes, about 40 % of the CPU asked for", scenes.consolidation,
            (
                descheduler("HighNodeUtilization 50 %", "HighNodeUtilization", _high(50)),
                descheduler("HighNodeUtilization 20 %", "HighNodeUtilization", _high(20)),
                rescheduler("EmptyNodes", _EMPTY),
                descheduler(
                    "HighNodeUtilization 50 %", "HighNodeUtilization", _high(50), PACKING
                ),
                rescheduler("EmptyNodes", _EMPTY, PACKING),
            ),
        ),
        Scenario(
            "spreading", "16 nodes, about 80 % of the CPU asked for, and 8 new ones", scenes.spreading,
            (descheduler("LowNodeUtilization 30/60 %", "LowNodeUtilization", _LOW), rescheduler("SpreadLoad", _SPREAD)),
        ),
        Scenario(
            "pending", "12 nodes with tight budgets, 4 new ones, and pods that need room on the old", scenes.pending,
            (
                descheduler("HighNodeUtilization 50 %", "HighNodeUtilization", _high(50)),
                descheduler("LowNodeUtilization 30/60 %", "LowNodeUtilization", _LOW),
                rescheduler("MakeRoom", {}),
            ),
        ),
    )
}  # fmt: skip
