"""Which nodes to empty together, and to which group of nodes each pod is best sent so that all find room."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.draining.seatable import Seatable
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.emptying_flow import EmptyingFlow, Flows, Shares

_GRID = 1.1
_SMALLEST = 1e-3
_ENOUGH = 1e-3


class EmptyingTargets(NamedTuple):
    """``emptied``: nodes, ascending; ``group_of``: int64[N]; ``goal``: int64[M], a group for each movable pod."""

    emptied: IntArray
    group_of: IntArray
    goal: IntArray


class TargetFinder:
    """Groups of nodes that are open to the same pods, and streams of pods of like proportions that may go to them."""

    def __init__(self, situation: EmptyingSituation, seatable: Seatable) -> None:
        """Pods that spread over zones count as open to their own zone alone, as the loops seat them."""
        self._situation = situation
        problem = situation.problem
        resources = np.flatnonzero(problem.requests.any(axis=1))
        self._request = problem.requests[resources].T.astype(np.float64)
        capacity = np.maximum(problem.free[resources], 0).T.astype(np.float64)
        np.add.at(capacity, problem.origin, problem.held[resources].T)
        capacity[situation.is_empty] = 0.0  # nobody arrives there
        class_of: IntArray = problem.mask_numbers.copy()
        class_of[seatable.rows] = seatable.class_of
        used, class_of = np.unique(class_of, return_inverse=True)
        class_of = class_of.reshape(-1)
        masks = seatable.open_to[used] & ~situation.is_empty
        self.group_of: IntArray = np.unique(masks.T, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        self._home: IntArray = self.group_of[problem.origin]
        share = self._request / np.maximum(1.0, capacity.sum(axis=0))
        self._size = share.max(axis=1, initial=0.0) + 1e-12
        self._stream = self._streams(class_of, share)
        self._total = np.bincount(self._stream, weights=self._size)
        self._flow = EmptyingFlow(self._flows(capacity, masks, class_of))

    def _streams(self, class_of: IntArray, share: FloatArray) -> IntArray:
        """Number of each movable pod's stream: of one class, and of proportions in one cell of a grid."""
        proportions = np.maximum(share / self._size[:, None], _SMALLEST)
        cell = np.round(np.log(proportions) / np.log(_GRID)).astype(np.int64)
        looks = np.hstack((cell, class_of[:, None]))
        stream: IntArray = np.unique(looks, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        return stream

    def _flows(self, capacity: FloatArray, masks: BoolArray, class_of: IntArray) -> Flows:
        situation, nodes = self._situation, self._situation.candidates
        streams, groups = int(self._stream.max(initial=-1)) + 1, int(self.group_of.max(initial=-1)) + 1
        load = np.zeros((streams, self._request.shape[1]))
        np.add.at(load, self._stream, self._request)
        room = np.zeros((groups, capacity.shape[1]))
        np.add.at(room, self.group_of, capacity)
        at_home = np.zeros((streams, groups))
        np.add.at(at_home, (self._stream, self._home), self._size / self._total[self._stream])
        of_class = np.zeros((len(masks), groups), dtype=np.bool_)
        for number, mask in enumerate(masks):
            of_class[number, self.group_of[mask]] = True
        first = np.unique(self._stream, return_index=True)[1]
        return Flows(
            load=load,
            pods=np.bincount(self._stream, minlength=streams),
            at_home=at_home,
            open_to=of_class[class_of[first]],
            room=room,
            group=self.group_of[nodes],
            capacity=capacity[nodes],
            price=situation.price[nodes],
            pods_on=situation.pods_on[nodes],
            most_nodes=situation.most_nodes,
        )

    def targets(self, spare: float, deadline: Deadline) -> EmptyingTargets | None:
        """What to empty so that a share ``spare`` of all other room stays free; None if that is nothing, or in time."""
        shares = self._flow.solve(spare, deadline)
        if shares is None:
            return None
        number = int(shares.emptied.sum() + _ENOUGH)
        chosen = np.argsort(-shares.emptied, kind="stable")[:number]
        emptied = np.sort(self._situation.candidates[chosen])
        return EmptyingTargets(emptied, self.group_of, self._goals(shares, emptied)) if number else None

    def _goals(self, shares: Shares, emptied: IntArray) -> IntArray:
        """A group for each pod, so that these come out: pods of nodes that are kept stay where they can."""
        origin = self._situation.problem.origin
        goal: IntArray = self._home.copy()
        leaves = np.isin(origin, emptied)
        order = np.lexsort((-self._size, leaves, self._stream))
        left = shares.share * self._total[:, None]
        for row in order.tolist():
            stream, size = int(self._stream[row]), float(self._size[row])
            rest = left[stream]
            if rest[goal[row]] < size / 2:
                goal[row] = int(rest.argmax())
            rest[goal[row]] -= size
        return goal
