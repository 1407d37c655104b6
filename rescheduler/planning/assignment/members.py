"""Chooses and describes the members of a problem: where each may go, the room there, and whom it must not meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.planning.assignment.assignment_problem import AssignmentCosts, AssignmentProblem, MemberConflict
from rescheduler.planning.problem.amounts import fits, scale_for
from rescheduler.planning.problem.pod_relations import Conflict as Repelled
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits

FEW_MOVABLE = 30
"""Where no more pods than this may move all of them are members, so that making room is part of the problem."""
MOST_MEMBERS = 150
MOST_PLACES = 2500
LARGEST_CASE = 60_000
Places = list[tuple[int, ...]]
"""For each member the nodes where it may end."""


class Members:
    """Some movable pods of a problem, by position; all other movable ones are left out of the cluster."""

    def __init__(self, problem: Problem, rows: IntArray) -> None:
        """``rows``: ascending."""
        self.problem = problem
        self.rows = rows
        self.pods: IntArray = problem.movable[rows].astype(np.int64)
        self.position = {pod: position for position, pod in enumerate(self.pods.tolist())}
        self.homes = problem.origin[rows]
        room = problem.free.copy()
        np.add.at(room.T, problem.origin, problem.held.T)  # without any movable pod
        self.room: IntArray = room
        self.is_left_out: BoolArray = np.zeros(problem.columns.pod_count, dtype=np.bool_)
        self.is_left_out[problem.movable] = True
        self.is_left_out[self.pods] = False
        self.is_member: BoolArray = np.zeros(problem.columns.pod_count, dtype=np.bool_)
        self.is_member[self.pods] = True

    def among(self, pods: IntArray) -> tuple[int, ...]:
        """Positions of the members among some pods."""
        return tuple(self.position[pod] for pod in pods[self.is_member[pods]].tolist())

    def standing(self, pods: IntArray) -> IntArray:
        """Pods that are neither members nor left out."""
        return pods[~self.is_member[pods] & ~self.is_left_out[pods]]

    def nodes_of(self, position: int) -> tuple[int, ...]:
        """Nodes where a member may end: its home, and those that let it in once every movable pod has left."""
        problem, pod = self.problem, int(self.pods[position])
        is_open = problem.static_mask(pod)[1] & fits(problem.request_of(pod), self.room)
        for repelled in problem.entanglement.conflicts(pod) if problem.is_entangled(pod) else ():
            standing = self.standing(repelled.pods[repelled.pods != pod])
            is_open = is_open & ~self._near(repelled, standing)
        home = int(self.homes[position])
        return (home, *(node for node in np.flatnonzero(is_open).tolist() if node != home))

    def conflicts(self) -> tuple[MemberConflict, ...]:
        """Members that repel each other by required anti-affinity or host ports."""
        found: dict[tuple[int, int, str | None], MemberConflict] = {}
        for position, pod in enumerate(self.pods.tolist()):
            for repelled in self.problem.entanglement.conflicts(pod) if self.problem.is_entangled(pod) else ():
                codes = self.codes(repelled.topology_key)
                for other in self.among(repelled.pods[repelled.pods != pod]):
                    found.setdefault((position, other, repelled.topology_key), MemberConflict(position, other, codes))
        return tuple(found.values())

    def codes(self, topology_key: str | None) -> IndexArray:
        """Domain of each node; None: each node is one."""
        if topology_key is None:
            return np.arange(self.problem.node_count, dtype=np.int32)
        return self.problem.columns.domains.of(topology_key)[0]

    def _near(self, repelled: Repelled, standing: IntArray) -> BoolArray:
        codes = self.codes(repelled.topology_key)
        sites = self.problem.start.node_of[standing]
        met = codes[sites[sites != NOWHERE]]
        near: BoolArray = np.isin(codes, met[met != NOWHERE])
        return near


def affordable_members(problem: Problem, rows: IntArray) -> tuple[Members, Places] | None:
    """These movable pods as members, with where each may go; None where that is too much for an exact model."""
    if len(rows) > MOST_MEMBERS:
        return None
    members = Members(problem, rows)
    places = [members.nodes_of(position) for position in range(len(rows))]
    return None if sum(map(len, places)) > MOST_PLACES else (members, places)


def assignment_of(
    members: Members, nodes: Sequence[tuple[int, ...]], limits: RemainingLimits, costs: AssignmentCosts
) -> AssignmentProblem | None:
    """The problem with amounts in units of the solver, rounded so that no plan is lost; None where it is too large."""
    problem, rows = members.problem, members.rows
    used = np.array(sorted({node for some in nodes for node in some}), dtype=np.int64)
    asked = np.flatnonzero(problem.requests[:, rows].any(axis=1))
    request, held = problem.requests[np.ix_(asked, rows)], problem.held[np.ix_(asked, rows)]
    room = members.room[np.ix_(asked, used)]
    scale = scale_for(np.column_stack([request, held]), room)
    offered = scale.down(room) if scale.is_exact else scale.up(room)
    pods = problem.columns.cluster.pods
    assignment = AssignmentProblem(
        rows=tuple(rows.tolist()),
        homes=tuple(members.homes.tolist()),
        nodes=tuple(nodes),
        request=tuple(map(tuple, scale.down(request).T.tolist())),
        held=tuple(map(tuple, scale.down(held).T.tolist())),
        room=dict(zip(used.tolist(), map(tuple, offered.T.tolist()), strict=True)),
        fees=tuple(problem.prices(rows).tolist()),
        namespaces=tuple(pods[pod].namespace for pod in members.pods.tolist()),
        limits=limits,
        conflicts=members.conflicts(),
        costs=costs,
    )
    return assignment if assignment.size <= LARGEST_CASE else None
