"""States pairs of pods in conflict among the members of an assignment problem as costs that solvers bound well."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IndexArray, IntArray
from rescheduler.planning.assignment.assignment_problem import AssignmentCosts, CrowdCost, StrifeCost
from rescheduler.planning.assignment.members import Members
from rescheduler.planning.objectives.separate_antagonists.conflicts import ConflictClasses, ConflictCounts


def add_pairs(
    costs: AssignmentCosts,
    members: Members,
    nodes: list[tuple[int, ...]],
    conflicts: ConflictClasses,
    codes: IndexArray,
) -> None:
    """Add 1 for each pair of conflicts within a domain of ``codes``, pods left out of the problem not counted."""
    node_of = members.problem.start.node_of.copy()
    node_of[members.is_member | members.is_left_out] = NOWHERE
    others = ConflictCounts(conflicts, node_of, codes)
    costs.constant += others.pairs
    by_class = {number: members.among(conflicts.pods_of(number)) for number in _classes(members, conflicts)}
    crowd_of = _crowds(conflicts, list(by_class))
    for numbers in sorted(set(crowd_of.values())):
        inside = tuple(sorted(member for number in numbers for member in by_class[number]))
        standing = np.sum([others.standing(conflicts.pods_of(number)) for number in numbers], axis=0)
        costs.crowds.append(CrowdCost(codes, inside, standing))
    for number, some in by_class.items():
        rivals = conflicts.rivals[number].tolist()
        crowd = crowd_of.get(number, ())
        _charge(costs, nodes, some, codes, [others.standing(conflicts.pods_of(r)) for r in rivals if r not in crowd])
        for rival in rivals:
            if rival > number and rival in by_class and rival not in crowd:
                costs.strifes.append(StrifeCost(codes, some, by_class[rival]))


def _classes(members: Members, conflicts: ConflictClasses) -> list[int]:
    numbers = np.unique(conflicts.class_of[members.pods])
    return [int(number) for number in numbers.tolist() if number != NOWHERE]


def _crowds(conflicts: ConflictClasses, numbers: list[int]) -> dict[int, tuple[int, ...]]:
    """Classes whose pods all keep apart from each other, by class; one of no such company is not in it."""
    crowds: list[list[int]] = []
    for number in numbers:
        if not conflicts.keeps_apart(number):
            continue
        rivals = frozenset(conflicts.rivals[number].tolist())
        for crowd in crowds:
            if rivals.issuperset(crowd):
                crowd.append(number)
                break
        else:
            crowds.append([number])
    return {number: tuple(crowd) for crowd in crowds for number in crowd}


def _charge(
    costs: AssignmentCosts,
    nodes: list[tuple[int, ...]],
    members: tuple[int, ...],
    codes: IndexArray,
    standing: list[IntArray],
) -> None:
    """Each of these members meets the pods in conflict that stand in a domain."""
    if not standing:
        return
    met = np.append(np.sum(standing, axis=0), 0)
    for member in members:
        for node in nodes[member]:
            costs.charge(member, node, int(met[codes[node]]))
