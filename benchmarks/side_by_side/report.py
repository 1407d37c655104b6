"""The comparison for people and as a result file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.side_by_side.cycles import Cycle, Outcome
from benchmarks.side_by_side.goals import Goal, goals
from benchmarks.side_by_side.rows import Row, row, summed
from benchmarks.side_by_side.scenarios import Scenario
from benchmarks.side_by_side.table import table


class Comparison:
    """All that was done on one kind of cluster."""

    def __init__(self, scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
        self.scenario = scenario
        self.outcomes = outcomes
        self.rows = [row(outcome) for outcome in outcomes]
        self.sums = _sums(self.rows)
        self.goals = goals(scenario.name, self.sums)
        self.load = os.getloadavg()[-1]  # wall times on a busy machine say little

    def told(self) -> str:
        """Table of each cluster, table of their sums, and each goal with what was found."""
        name = self.scenario.name
        title = f"{name}: {self.scenario.title} (load average of the last 15 minutes: {self.load:.1f})"
        parts = [title, table(name, self.rows), table(name, self.sums)]
        parts.append("\n".join(map(_told, self.goals)))
        return "\n\n".join(parts)

    def as_data(self) -> dict[str, Any]:
        """For a result file; each row with its cycles."""
        outcomes = zip(self.rows, self.outcomes, strict=True)
        return {
            "title": self.scenario.title,
            "loadAverage": round(self.load, 2),
            "rows": [
                {**one.as_data(), "lostNodes": outcome.lost_nodes, "each": list(map(_cycle, outcome.cycles))}
                for one, outcome in outcomes
            ],
            "sums": [one.as_data() for one in self.sums],
            "goals": [goal._asdict() for goal in self.goals],
        }


def result(versions: dict[str, str], comparisons: Sequence[Comparison], seconds: float) -> dict[str, Any]:
    """The result file: ``value`` counts goals that were reached, of ``bound``."""
    goals_ = [goal for comparison in comparisons for goal in comparison.goals]
    return {
        "instance": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "machine": describe_machine(),
        "seconds": round(seconds, 1),
        "peakMegabytes": _peak(comparisons),
        "value": sum(goal.is_reached for goal in goals_),
        "bound": len(goals_),
        "result": {comparison.scenario.name: comparison.as_data() for comparison in comparisons},
    }


def _peak(comparisons: Sequence[Comparison]) -> float | None:
    """Most memory that ours took."""
    return max((one.peak_megabytes for each in comparisons for one in each.sums if one.is_ours), default=None)


def _sums(rows: Sequence[Row]) -> list[Row]:
    """One row for each contender, in the order in which they came."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for one in rows:
        groups.setdefault((one.program, one.contender, one.scheduler), []).append(one)
    return [summed(group) for group in groups.values()]


def _told(goal: Goal) -> str:
    return f"- {'reached' if goal.is_reached else 'MISSED'}: {goal.what}: {goal.found}"


def _cycle(cycle: Cycle) -> dict[str, Any]:
    return {
        "wallSeconds": cycle.footprint.wall_seconds,
        "cpuSeconds": cycle.footprint.cpu_seconds,
        "peakMegabytes": cycle.footprint.peak_megabytes,
        "exitCode": cycle.footprint.code,
        "planningSeconds": cycle.planning_seconds,
        "sent": cycle.sent,
        "evicted": cycle.accepted,
        "refusedByBudget": cycle.refused,
        "returned": cycle.returned,
        "message": cycle.message,
    }
