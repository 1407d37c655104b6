"""What is said of a plan that separates antagonists."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IndexArray, IntArray
from rescheduler.model.plan.plan import Refusal
from rescheduler.planning.assignment.staying import Staying, because
from rescheduler.planning.objectives.separate_antagonists.antagonists import Antagonists
from rescheduler.planning.objectives.separate_antagonists.conflicts import ConflictCounts
from rescheduler.planning.problem.problem import Problem

MOST_NAMED = 3
MOST_REFUSALS = 100


def counted(number: float, thing: str) -> str:
    """``1 pair``, ``2 pairs``."""
    return f"{number:g} {thing}" + ("" if number == 1 else "s")


class SeparationMessages:
    """Words about one plan; ``before`` counts pairs at its start, ``ends`` is where pods are after it, int32[P]."""

    def __init__(self, problem: Problem, antagonists: Antagonists, before: ConflictCounts, ends: IndexArray) -> None:
        """Nothing is looked up before it is asked for."""
        self._cluster = problem.columns.cluster
        self._starts = problem.start.node_of
        self._antagonists = antagonists
        self._before = before
        self._ends = ends

    def reason(self, pod: int, to_node: int) -> str:  # noqa: ARG002 - asked for every move
        """Why a pod moves: the antagonists that it leaves, or the room that it makes."""
        origin = int(self._starts[pod])
        where = self._cluster.nodes[origin].name
        left = self._foes_on(pod, origin, self._starts)
        if not len(left):
            return f"makes room on {where}"
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        return f"parts from {self._cluster.pods[left[0]].key}{more} on {where} ({self._cause(pod, int(left[0]))})"

    def outcome(self, after: ConflictCounts, evictions: int, staying: Staying) -> tuple[str, tuple[Refusal, ...]]:
        """The message, and a refusal for each pod that keeps a pair together; ``after``: as the plan leaves it."""
        if not self._before.pairs:
            return "no antagonists share a node", ()
        gone = counted(self._before.pairs - after.pairs, "pair")
        text = f"{gone} of antagonists separated by {counted(evictions, 'eviction')}"
        text = text if evictions else "no pair of antagonists could be separated"
        if not after.pairs:
            return text, ()
        pairs = list(islice(self._pairs(after), MOST_REFUSALS))
        refusals = {pod: staying.why(pod) for pod in dict.fromkeys(chain.from_iterable(pairs))}
        told = [self._pair(one, other) for one, other in pairs[:MOST_NAMED]]
        more = after.pairs - len(told)
        rest = [f"and {counted(more, 'more pair')}"] if more > 0 else []
        left = f"{counted(after.pairs, 'pair')} {'stays' if after.pairs == 1 else 'stay'} on one node"
        words = f"{text}; {left}: {'; '.join([*told, *rest])}{because(refusals.values())}"
        return words, tuple(refusals.values())

    def _pairs(self, after: ConflictCounts) -> Iterator[tuple[int, int]]:
        """Each pair that shares a node after the plan, the lower index first."""
        for pod in np.flatnonzero((after.here > 0) & (self._ends != NOWHERE)).tolist():
            for other in self._foes_on(pod, int(self._ends[pod]), self._ends).tolist():
                if other > pod:
                    yield pod, other

    def _foes_on(self, pod: int, node: int, node_of: IndexArray) -> IntArray:
        conflicts = self._antagonists.conflicts
        if conflicts.class_of[pod] == NOWHERE:
            return np.zeros(0, dtype=np.int64)
        here = np.flatnonzero(node_of == node)
        is_in_conflict = conflicts.is_rival(int(conflicts.class_of[pod]))[conflicts.class_of[here]] & (here != pod)
        found: IntArray = here[is_in_conflict]
        return found

    def _pair(self, one: int, other: int) -> str:
        pods, node = self._cluster.pods, self._cluster.nodes[self._ends[one]].name
        return f"{pods[one].key} and {pods[other].key} on {node} ({self._cause(one, other)})"

    def _cause(self, one: int, other: int) -> str:
        class_of = self._antagonists.conflicts.class_of
        return self._antagonists.cause(int(class_of[one]), int(class_of[other]))
