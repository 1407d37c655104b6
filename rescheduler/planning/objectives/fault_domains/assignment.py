"""The question of repairing violations as an assignment problem for the exact solver."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.planning.assignment.assignment_problem import AffinityCost, AssignmentProblem, Costs, SpreadCost
from rescheduler.planning.assignment.members import FEW_MOVABLE, Members, affordable_members, assignment_of
from rescheduler.planning.assignment.pairs import add_pairs
from rescheduler.planning.objectives.fault_domains.affinity_violations import AffinityViolations
from rescheduler.planning.objectives.fault_domains.anti_affinity_violations import AntiAffinityViolations
from rescheduler.planning.objectives.fault_domains.misplaced import Misplaced
from rescheduler.planning.objectives.fault_domains.part import ViolationCounter
from rescheduler.planning.objectives.fault_domains.spread_violations import SpreadViolations
from rescheduler.planning.objectives.fault_domains.state import ViolationsState
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits


def assignment_for(problem: Problem, state: ViolationsState, limits: RemainingLimits) -> AssignmentProblem | None:
    """All movable pods, or those that matter to a violated part, the others left out; None where that is too much.

    Where pods are left out, parts that are not violated now are too: they only add to the cost.
    """
    rows = np.arange(len(problem.movable))
    parts: Sequence[ViolationCounter] = state.parts
    if len(rows) > FEW_MOVABLE:
        parts = [part for part in parts if part.cost]
        rows = np.flatnonzero(_concerned(problem, parts)[problem.movable])
    found = affordable_members(problem, rows)
    if found is None:
        return None
    members, nodes = found
    costs = Costs()
    for part in parts:
        _add(costs, members, nodes, part)
    return assignment_of(members, nodes, limits, costs)


def _concerned(problem: Problem, parts: Sequence[ViolationCounter]) -> BoolArray:
    is_concerned = np.zeros(problem.columns.pod_count, dtype=np.bool_)
    for part in parts:
        pods = part.concerns()
        is_concerned[part.blame().pods if pods is None else pods] = True
    return is_concerned


def _add(costs: Costs, members: Members, nodes: list[tuple[int, ...]], part: ViolationCounter) -> None:
    if isinstance(part, Misplaced):
        _add_misplaced(costs, members, nodes, part)
    elif isinstance(part, AntiAffinityViolations):
        add_pairs(costs, members, nodes, part.conflicts.conflicts, part.conflicts.codes)
    elif isinstance(part, AffinityViolations):
        _add_needs(costs, members, part)
    elif isinstance(part, SpreadViolations):
        standing = members.standing(part.pods)
        costs.evennesses.append(
            SpreadCost(
                part.codes,
                members.among(part.pods),
                _tally(members, standing, part.codes, len(part.counts)),
                part.is_domain,
                part.max_skew,
                part.is_from_zero,
            )
        )


def _add_misplaced(costs: Costs, members: Members, nodes: list[tuple[int, ...]], part: Misplaced) -> None:
    costs.constant += len(members.standing(part.blame().pods))
    for position, pod in enumerate(members.pods.tolist()):
        barred = part.is_barred(pod)
        for node in nodes[position]:
            costs.charge(position, node, int(barred[node]))


def _add_needs(costs: Costs, members: Members, part: AffinityViolations) -> None:
    standing = members.standing(part.partners)
    partners = members.among(part.partners)
    codes = tuple(part.codes)
    tallies = [_tally(members, standing, code, int(code.max(initial=0)) + 1) for code in codes]
    keyed = members.problem.start.node_of[standing]
    has_standing = bool(part.has_some_key[keyed].any())
    for pod in part.holders.tolist():
        if members.is_left_out[pod]:
            continue
        holder = members.position.get(pod, NOWHERE)
        node = int(members.problem.start.node_of[pod])
        own = [tally.copy() for tally in tallies]
        others_standing = has_standing
        if holder == NOWHERE and (standing == pod).any():  # nobody is company for itself
            for code, tally in zip(codes, own, strict=True):
                if code[node] != NOWHERE:
                    tally[code[node]] -= 1
            others = standing[standing != pod]
            others_standing = bool(part.has_some_key[members.problem.start.node_of[others]].any())
        costs.needs.append(
            AffinityCost(
                holder=holder,
                node=node,
                codes=codes,
                standing=tuple(own),
                partners=tuple(partner for partner in partners if partner != holder),
                has_standing=others_standing,
                is_free_alone=part.own.is_its_own_attractor,
            )
        )


def _tally(members: Members, pods: IntArray, codes: IndexArray, width: int) -> IntArray:
    nodes = members.problem.start.node_of[pods]
    domains = codes[nodes[nodes != NOWHERE]]
    return np.bincount(domains[domains != NOWHERE], minlength=width).astype(np.int64)
