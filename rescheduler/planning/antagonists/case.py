"""The question of separating antagonists as a case for the exact solver."""

from __future__ import annotations

import numpy as np

from rescheduler.model.arrays import NOWHERE
from rescheduler.planning.antagonists.antagonists import Antagonists
from rescheduler.planning.problem import Problem
from rescheduler.planning.rearrangement.case import Case, Costs
from rescheduler.planning.rearrangement.members import FEW_MOVABLE, affordable_members, case_of
from rescheduler.planning.rearrangement.pairs import add_pairs
from rescheduler.planning.remaining_limits import RemainingLimits


def case_for(problem: Problem, antagonists: Antagonists, limits: RemainingLimits) -> Case | None:
    """All movable pods, or those with antagonists only, the others left out; None where that is too much."""
    class_of = antagonists.foes.class_of[problem.movable]
    rows = np.arange(len(problem.movable))
    if len(rows) > FEW_MOVABLE:
        rows = rows[class_of != NOWHERE]
    found = affordable_members(problem, rows)
    if found is None:
        return None
    members, nodes = found
    costs = Costs()
    add_pairs(costs, members, nodes, antagonists.foes, members.codes(None))
    return case_of(members, nodes, limits, costs)
