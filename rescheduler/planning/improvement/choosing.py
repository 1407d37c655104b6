"""The best single move of one pod: where it helps most, and which of the nodes that are as good."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.model.placement import Placement
from rescheduler.model.usage import FloatArray
from rescheduler.planning.destinations import best_elsewhere
from rescheduler.planning.improvement.board import SAME, Board

NEARLY = 1e-3
"""Nodes whose gain is smaller by at most this share are as good."""


class Step(NamedTuple):
    """A pod, by its row, goes to a node; ``gain``: by how much the cost falls, the price of the move included."""

    row: int
    node: int
    gain: float


class Choice(Protocol):
    """How the destination of a pod is chosen; ``is_bound_to_prediction``: it is for the scheduler alone to choose."""

    is_bound_to_prediction: bool

    def best(self, board: Board, row: int) -> Step | None:
        """The best move of a pod that lowers the cost; None where there is none."""

    def settle(self, board: Board, step: Step) -> Step:
        """The same move to the node that is to be preferred among those as good."""


class Tightest(Choice):
    """With holds any node will do; ties go to the one with the least room left, so that large pods find room later."""

    is_bound_to_prediction = False

    def best(self, board: Board, row: int) -> Step | None:
        """See Choice."""
        nodes = board.open_to(row)
        return best_of(row, board.change(row), nodes) if nodes.any() else None

    def settle(self, board: Board, step: Step) -> Step:
        """See Choice."""
        change = np.where(board.open_to(step.row), board.change(step.row), np.inf)
        near = np.flatnonzero(change <= -step.gain + NEARLY * step.gain + SAME)
        if len(near) <= 1:
            return step
        capacity = np.maximum(1, board.problem.columns.allocatable[:2, near])
        node = int(near[np.argmin((board.free[:2, near] / capacity).min(axis=0))])
        return Step(step.row, node, -float(change[node]))


class Liked(Tightest):
    """Only nodes that the scheduler likes best with the pod's old node closed, and that gain as much as any."""

    def best(self, board: Board, row: int) -> Step | None:
        """See Choice."""
        step = super().best(board, row)
        if step is None:
            return None
        change = board.change(row)
        liked = best_elsewhere(board.problem, board.placement, board.pod(row))
        open_to = board.open_to(row)
        good = [node for node in liked if open_to[node] and change[node] <= -step.gain * (1.0 - NEARLY)]
        return Step(row, good[0], -float(change[good[0]])) if good else None

    def settle(self, board: Board, step: Step) -> Step:  # noqa: ARG002 - there is no choice
        """See Choice."""
        return step


class OnlyPredicted(Choice):
    """Without holds: only where the scheduler sends the pod by itself, its old node being open to it too."""

    is_bound_to_prediction = True

    def best(self, board: Board, row: int) -> Step | None:
        """See Choice."""
        if not (board.change(row)[board.roomy(row)] < -SAME).any():
            return None
        return predicted(board, row, board.placement)

    def settle(self, board: Board, step: Step) -> Step:  # noqa: ARG002 - there is no choice
        """See Choice."""
        return step


def predicted(board: Board, row: int, placement: Placement) -> Step | None:
    """Where the scheduler sends a pod by itself, nothing being held; None where that gains nothing, or is its own node.

    It draws lots between nodes that it likes equally, so that each must be an improvement.
    """
    liked = board.problem.prediction.best_nodes(board.pod(row), placement)
    if not len(liked) or not board.open_to(row)[liked].all():
        return None
    change = board.change(row)[liked]
    if not (change < -SAME).all():
        return None
    return Step(row, int(liked[int(np.argmin(change))]), -float(change.max()))


def best_of(row: int, change: FloatArray, nodes: BoolArray) -> Step | None:
    """The node with the largest gain, the first of equal ones; None where nothing is gained."""
    change = np.where(nodes, change, np.inf)
    node = int(np.argmin(change))
    return Step(row, node, -float(change[node])) if change[node] < -SAME else None
