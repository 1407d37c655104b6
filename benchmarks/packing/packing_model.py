"""CP-SAT model of packing pods by level of priority: how many pods of each kind each node takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage, how_often
from rescheduler.planning.problem.amounts import scale_for
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.lexicographic_solver import LexicographicSolver

_DETERMINISTIC_SHARE = 1.0


class PackingModel:
    """Counts by (kind and level, node): pods alike are interchangeable, which keeps the model small."""

    def __init__(self, drainage: Drainage, levels: Sequence[IntArray], seed: int) -> None:
        """Build the model; amounts are scaled so that what fits here fits in reality."""
        self._drainage = drainage
        self._model = cp_model.CpModel()
        self._pods: list[list[int]] = []
        self._variables: list[cp_model.IntVar] = []
        self._entries: list[tuple[int, int]] = []
        self._of_level: list[list[cp_model.IntVar]] = []
        for level in levels:
            self._of_level.append([])
            kinds = drainage.kind_of[level]
            for kind in np.unique(kinds):
                self._add_group([int(pod) for pod in level[kinds == kind]])
        self._add_rooms()
        self._solver = LexicographicSolver(self._model, self._variables, seed)

    def hint(self, node_of: IntArray) -> None:
        """Suggest places."""
        counts = {
            (group, int(node)): int((node_of[pods] == node).sum())
            for group, pods in enumerate(self._pods)
            for node in set(node_of[pods].tolist())
        }
        values = (counts.get(entry, 0) for entry in self._entries)
        self._solver.hint(zip(self._variables, values, strict=True))

    def raise_level(self, level: int, deadline: Deadline) -> int:
        """Place as many pods of a level as possible, those above kept; the most that can be proven possible."""
        variables = self._of_level[level]
        if not variables:
            return 0
        result = self._solver.run(
            cp_model.LinearExpr.sum(variables),
            maximize=True,
            deadline=deadline,
            deterministic_seconds=deadline.seconds * _DETERMINISTIC_SHARE,
        )
        return sum(len(pods) for pods in self._pods) if result.bound is None else result.bound

    def places(self) -> IntArray | None:
        """Where each pod goes, int64[P]; pods stay at home where their kind stays. None if nothing was found."""
        if self._solver.solution is None:
            return None
        left = {entry: value for entry, value in zip(self._entries, self._solver.solution, strict=True) if value}
        node_of: IntArray = np.full(len(self._drainage.home), NOWHERE, dtype=np.int64)
        for group, pods in enumerate(self._pods):
            for pod in pods:
                home = (group, int(self._drainage.home[pod]))
                if left.get(home, 0):
                    node_of[pod] = home[1]
                    left[home] -= 1
            rest = [node for (owner, node), count in left.items() if owner == group for _ in range(count)]
            unplaced = [pod for pod in pods if node_of[pod] == NOWHERE]
            for pod, node in zip(unplaced, rest, strict=False):
                node_of[pod] = node
        return node_of

    def _add_group(self, pods: list[int]) -> None:
        drainage, group = self._drainage, len(self._pods)
        often = np.minimum(len(pods), how_often(drainage.request[pods[:1]], drainage.capacity)[0])
        often *= drainage.open_to[drainage.class_of[pods[0]]]
        mine = []
        for node in np.flatnonzero(often).tolist():
            mine.append(self._model.new_int_var(0, int(often[node]), ""))
            self._entries.append((group, node))
        self._pods.append(pods)
        self._variables += mine
        self._of_level[-1] += mine
        self._model.add(cp_model.LinearExpr.sum(mine) <= len(pods))

    def _add_rooms(self) -> None:
        drainage = self._drainage
        scale = scale_for(drainage.request.T, drainage.capacity.T)
        request, room = scale.up(drainage.request.T), scale.down(drainage.capacity.T)
        for node in range(drainage.node_count):
            here = [at for at, (_, home) in enumerate(self._entries) if home == node]
            for asked, offered in zip(request, room, strict=True):
                factors = [int(asked[self._pods[self._entries[at][0]][0]]) for at in here]
                if any(factors):
                    total = cp_model.LinearExpr.weighted_sum([self._variables[at] for at in here], factors)
                    self._model.add(total <= int(offered[node]))
