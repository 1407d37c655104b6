"""Empties many nodes at once: nobody arrives on any of them, and each pod goes to the group of nodes found for it."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.empty_nodes.draining.drain_search import DrainSearch
from rescheduler.planning.objectives.empty_nodes.draining.emptying_targets import EmptyingTargets
from rescheduler.planning.objectives.empty_nodes.draining.seatable import Seatable

_NARROW_ROUNDS = 20
_MOST_VAIN_ROUNDS = 150
_GAIN = 0.99


def narrowed(seatable: Seatable, targets: EmptyingTargets) -> tuple[Seatable, BoolArray]:
    """The same pods, each open only to the group that it is to go to; and the nodes that each class may use besides."""
    goal = targets.goal[seatable.rows]
    pairs, class_of = np.unique(np.column_stack((seatable.class_of, goal)), axis=0, return_inverse=True)
    whole = seatable.open_to[pairs[:, 0]]
    narrow = whole & (targets.group_of[None, :] == pairs[:, 1:])
    return Seatable(seatable.rows, class_of.reshape(-1).astype(np.int64), narrow, seatable.apart), whole


class TogetherSearch(DrainSearch):
    """Takes the nodes in turn again and again, so that what one of them leaves behind finds room by and by."""

    def empty(self, nodes: IntArray, whole: BoolArray) -> None:
        """Empty ``nodes``; after some rounds pods may use all of ``whole`` (bool[C, N]), whatever their goal was."""
        state = self.state
        self._go_faster()
        state.is_shunned[nodes] = True
        left = [node for node in nodes.tolist() if not self.deadline.is_over() and state.seat_others(node) is not None]
        receivers = self._receivers(state.is_shunned)
        least, vain = np.inf, 0
        for number in range(1, len(nodes) * _MOST_VAIN_ROUNDS):
            left.sort(key=lambda node: (state.load(node), node))
            left = [node for node in left if self.deadline.is_over() or not self._attempt(node, receivers)]
            if number == _NARROW_ROUNDS:
                state.open_nodes(whole)
            rest = sum(state.load(node) for node in left)
            least, vain = (rest, 0) if rest < _GAIN * least else (least, vain + 1)
            if not left or vain > _MOST_VAIN_ROUNDS or self.deadline.is_over():
                break
        state.open_nodes(whole)
        state.is_shunned[:] = False
