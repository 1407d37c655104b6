"""Clusters and an earlier objective for the tests of Defragment, and answers that checker and recount agree with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rescheduler.checker.recounts.fitting_shapes import shapes_that_fit
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.defragment.wanted_shapes import WeightedShape
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.search.objective_state import ObjectiveState
from tests.builders import cluster, node, pod
from tests.unit.planning.asked import plan_defragment
from tests.unit.planning.objectives.defragment.questions import plan_of, question, violations


def answered(made: Cluster, *shapes: WeightedShape, **fields: Any) -> tuple[PlanRequest, ObjectivePlan]:
    """A question and its answer, which the independent checker and recount agree with."""
    asked = question(made, **fields)
    answer = plan_defragment(asked, shapes)
    assert violations(asked, answer) == []
    closed = [node.name for number, node in enumerate(made.nodes) if asked.placement.free()[0, number] < -(2**40)]
    assert shapes_that_fit(made, plan_of(asked, answer), shapes, closed) == pytest.approx(answer.value)
    assert answer.bound is not None
    assert answer.bound >= answer.value - 1e-6
    return asked, answer


def scattered(*extra: Node) -> Cluster:
    """Three nodes of 4 cores with one core in use on each."""
    pods = [pod(f"web-{n}", cpu="1", node=f"n{n}") for n in range(3)]
    return cluster(*(node(f"n{n}") for n in range(3)), *extra, *pods)


def larger() -> Cluster:
    """Too many pods for the exact model: 24 nodes of 8 cores, each with pods of 1 and 2 cores."""
    nodes = [node(f"n{n:02d}", cpu="8") for n in range(24)]
    pods = [
        pod(f"w{n % 5}-{n:03d}", cpu="1" if n % 3 else "2", memory="1Gi", node=f"n{n % 24:02d}") for n in range(24 * 4)
    ]
    return cluster(*nodes, *pods)


class Deserted(ObjectiveState):
    """An earlier objective that wants as few pods as possible on one node."""

    def __init__(self, made: Cluster, node_name: str) -> None:
        self._width = len(made.nodes)
        self._shunned = next(number for number, item in enumerate(made.nodes) if item.name == node_name)
        running = [item for item in made.pods if item.node_name is not None]  # all of them may move
        self._there = {row for row, item in enumerate(running) if item.node_name == node_name}
        self.cost = float(len(self._there))

    def change(self, row: int) -> FloatArray:
        """One more, or one fewer."""
        found = np.full(self._width, -1.0 if row in self._there else 0.0)
        found[self._shunned] += 1.0
        return found

    def promising(self) -> IntArray:
        """Those who are there."""
        return np.array(sorted(self._there), dtype=np.int64)

    def move(self, row: int, node: int) -> None:
        """Count anew."""
        self._there = self._there | {row} if node == self._shunned else self._there - {row}
        self.cost = float(len(self._there))
