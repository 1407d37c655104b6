"""What the objective FaultDomains thinks of a placement: violations of spread and affinity among placed pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.fault_domains.affinity_violations import companies_of
from rescheduler.planning.objectives.fault_domains.anti_affinity_violations import repulsions_of
from rescheduler.planning.objectives.fault_domains.misplaced import Misplaced
from rescheduler.planning.objectives.fault_domains.part import ViolationCounter
from rescheduler.planning.objectives.fault_domains.spread_violations import skews_of
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState


class ViolationsState(ObjectiveState):
    """The sum of all parts; begins at the start of the problem. Terminating pods count for nothing."""

    def __init__(self, problem: Problem, parts: Sequence[ViolationCounter] | None = None) -> None:
        """Count the violations; ``parts``: of these sorts alone, at the start of the problem (None: of all)."""
        self._movable = problem.movable
        self._nodes = problem.node_count
        self._pods = problem.columns.pod_count
        self.parts: tuple[ViolationCounter, ...] = tuple(_every_part(problem) if parts is None else parts)
        self.cost = float(sum(part.cost for part in self.parts))
        self._index()

    def change(self, row: int) -> FloatArray:
        """See ObjectiveState."""
        pod = int(self._movable[row])
        change = np.zeros(self._nodes)
        for part in self.parts_of(pod):
            change += part.change(pod)
        return change

    def promising(self) -> IntArray:
        """Pods that take part in violations, those in most of them first; then those that could mend others'."""
        blamed = np.zeros(self._pods, dtype=np.int64)
        is_blamed = np.zeros(self._pods, dtype=np.bool_)
        for part in self.parts:
            if part.cost:
                pods, amounts = part.blame()
                blamed[pods] += amounts
                is_blamed[pods] = True
        rows = np.flatnonzero(is_blamed[self._movable])
        return rows[np.argsort(-blamed[self._movable[rows]], kind="stable")]

    def hopes(self) -> FloatArray:
        """At most by how much the cost falls if one pod moves, float64[M]."""
        hopes = np.zeros(self._pods, dtype=np.int64)
        for part in self.parts:
            if part.cost:
                pods, amounts = part.hopes()
                hopes[pods] += amounts
        return hopes[self._movable].astype(np.float64)

    def move(self, row: int, node: int) -> None:
        """See ObjectiveState."""
        pod = int(self._movable[row])
        for part in self.parts_of(pod):
            self.cost -= part.cost
            part.move(pod, node)
            self.cost += part.cost

    def copy(self) -> ViolationsState:
        """An independent copy, much cheaper than counting anew."""
        other = copy(self)
        other.parts = tuple(part.copy() for part in self.parts)
        return other

    def parts_of(self, pod: int) -> list[ViolationCounter]:
        """Parts to which a pod's place matters."""
        first, last = np.searchsorted(self._concerned, (pod, pod + 1)).tolist()
        return [self.parts[number] for number in (*self._always, *self._concerning[first:last].tolist())]

    def _index(self) -> None:
        """Sort pods by the parts that they concern; parts that any pod may concern are always looked at."""
        known = [(number, part.concerns()) for number, part in enumerate(self.parts)]
        self._always = tuple(number for number, pods in known if pods is None)
        pods = [np.zeros(0, dtype=np.int64), *(some for _, some in known if some is not None)]
        numbers = np.repeat([number for number, some in known if some is not None], [len(some) for some in pods[1:]])
        concerned = np.concatenate(pods)
        order = np.argsort(concerned, kind="stable")
        self._concerned: IntArray = concerned[order]
        self._concerning: IntArray = numbers.astype(np.int64)[order]


def standing_pods(problem: Problem) -> BoolArray:
    """Pods that count, bool[P]: on a node, and not on their way out."""
    found: BoolArray = (problem.start.node_of != NOWHERE) & ~problem.columns.is_terminating
    return found


def _every_part(problem: Problem) -> Iterator[ViolationCounter]:
    columns, node_of, standing = problem.columns, problem.start.node_of, standing_pods(problem)
    yield Misplaced(columns, node_of, standing)
    yield from repulsions_of(columns, node_of, standing)
    yield from companies_of(columns, node_of, standing)
    yield from skews_of(columns, node_of, np.flatnonzero(standing))
