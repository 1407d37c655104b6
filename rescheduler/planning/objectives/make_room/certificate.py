"""A certificate that can prove: however all movable pods were rearranged, not all pending pods would fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rescheduler.model.objects.resources import format_amount
from rescheduler.planning.objectives.make_room.flow_programme import NOISE, FlowProgramme, requests_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.solvers.loading import may_use_programmes


@dataclass(frozen=True)
class Certificate:
    """``at_most``: ceiling, as solved, of the pending pods that any rearrangement helps; ``facts`` for users."""

    at_most: float
    facts: dict[str, Any]

    @property
    def helpable(self) -> int:
        """The ceiling as a whole number."""
        return int(np.floor(self.at_most + NOISE))


def certify(problem: Problem, deadline: Deadline) -> Certificate | None:
    """Solve the programme; None if it could not be solved in time."""
    if not may_use_programmes(deadline):
        return None
    programme = FlowProgramme(problem)
    solution = programme.most_helped(deadline)
    if solution is None:
        return None
    at_most, binding = solution
    return Certificate(at_most, _facts(problem, at_most, binding, programme))


def exhausted(problem: Problem, helped: int) -> dict[str, Any]:
    """The certificate of a search that ruled out every plan that helps more."""
    return {
        "kind": "ExhaustiveSearch",
        "meaning": "no allowed order of moves within the limits helps more pending pods",
        "atMost": helped,
        "wanted": len(problem.pending),
        "nodes": problem.node_count,
        "movablePods": len(problem.movable),
    }


def _facts(
    problem: Problem, at_most: float, binding: dict[tuple[int, int], float], programme: FlowProgramme
) -> dict[str, Any]:
    names, rows = problem.columns.resources, programme.rows
    asked = requests_of(problem, problem.pending).sum(axis=0)
    free = np.maximum(problem.free, 0).sum(axis=1)
    return {
        "kind": "LinearProgramme",
        "meaning": "no rearrangement of the movable pods, in any order and of any size, helps more pending pods",
        "atMost": round(max(0.0, at_most), 4),
        "wanted": len(problem.pending),
        "nodes": problem.node_count,
        "movablePods": len(problem.movable),
        "asked": {names[row]: format_amount(names[row], int(asked[row])) for row in rows if asked[row]},
        "free": {names[row]: format_amount(names[row], int(free[row])) for row in rows if asked[row]},
        "scarce": [
            {"resource": names[rows[row]], "nodes": int(programme.groups.sizes[group]), "weight": round(weight, 6)}
            for (group, row), weight in sorted(binding.items(), key=lambda item: -item[1])
        ],
    }
