"""The simple rules: node after node is emptied, each pod goes to the first node with room; what any plan must match.

Nodes that receive are not emptied, and nodes that were emptied receive nothing. So no move waits for the room of
another, and waves are needed only for the allowances of groups and for pods that bear on each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution, solution_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.waves.wave_packing import as_far_as_possible
from rescheduler.planning.waves.waves import GroupsOfPods

Moves = list[tuple[int, int]]
_FIRST_LOOK, _WIDER = 128, 8  # nodes looked at at once, and how many times more the next time
_MOST_PACKINGS = 3
_SHARE_OF_SEATS = 0.8  # the rest is for the order of the pods that bear on each other


class SimpleRules:
    """What the rules share of one situation."""

    def __init__(self, situation: EmptyingSituation, groups: GroupsOfPods) -> None:
        """Nothing is worked out yet."""
        self.situation = situation
        self.groups = groups
        self.problem = situation.problem

    def run(self, order: Sequence[int], closed: BoolArray, deadline: Deadline) -> Solution:
        """Empty nodes in this order, as far as time allows; ``closed``: bool[N], nodes that receive nothing."""
        seating = _FirstFit(self, closed)
        seats = deadline.part(_SHARE_OF_SEATS)
        for node in order:
            if seats.is_over():
                break
            seating.try_node(node)
        return solution_of(self.situation, self._in_waves(seating.moves, seating.is_related, deadline))

    def orders(self) -> list[IntArray]:
        """Fewest pods for what a node is worth first; least used first."""
        situation = self.situation
        nodes = situation.candidates
        used = ((situation.start.used / np.maximum(1, situation.columns.allocatable))[:2]).max(axis=0)
        keys = (situation.pods_on[nodes] / situation.price[nodes], used[nodes] / situation.price[nodes])
        return [nodes[np.lexsort((nodes, key))] for key in keys]

    @cached_property
    def kind_of(self) -> tuple[IntArray, IntArray]:
        """Number of each movable pod's kind, int64[M], and a row of each kind: alike are requests and static mask."""
        problem = self.problem
        masks = problem.mask_numbers
        looks = problem.columns.shape_of[problem.movable] * (int(masks.max(initial=0)) + 1) + masks
        _, first, kinds = np.unique(looks, return_index=True, return_inverse=True)
        return kinds.reshape(-1), first

    def _in_waves(self, moves: Moves, is_related: BoolArray, deadline: Deadline) -> WaveSchedule:
        """Waves of all moves; where some of a node's pods find no order, or none in time, the node is left alone.

        But for those of its pods beside which others were given their order in the last packing: without them that
        might be none.
        """
        problem = self.problem
        origin = self.situation.start.node_of
        given_up: set[int] = set()
        related = [move for move in moves if is_related[move[0]]]
        waves: list[Moves] = []
        for _ in range(_MOST_PACKINGS):
            wanted = [move for move in related if int(origin[move[0]]) not in given_up]
            packing, rest = as_far_as_possible(problem, self.groups, wanted, deadline)
            waves = [list(wave) for wave in packing.schedule.waves]
            given_up |= {int(origin[pod]) for pod, _ in rest}
            if not rest or deadline.is_over():
                break
        others = [move for move in moves if not is_related[move[0]] and int(origin[move[0]]) not in given_up]
        self._fill_up(waves, others)
        return WaveSchedule(tuple(tuple(wave) for wave in waves if wave))

    def _fill_up(self, waves: list[Moves], moves: Moves) -> None:
        """Put moves that nobody bears on into the first waves that their groups allow."""
        allowed = self.groups.allowed
        spent: dict[int, Counter[int]] = defaultdict(Counter)
        for number, wave in enumerate(waves):
            for pod, _ in wave:
                for group in self.groups.of(pod):
                    spent[group][number] += 1
        begun: Counter[int] = Counter()
        for pod, node in moves:
            groups = self.groups.of(pod)
            number = max((begun[group] for group in groups), default=0)
            while any(spent[group][number] >= allowed[group] for group in groups):
                number += 1
            for group in groups:
                spent[group][number] += 1
                while len(groups) == 1 and spent[group][begun[group]] >= allowed[group]:
                    begun[group] += 1
            while len(waves) <= number:
                waves.append([])
            waves[number].append((pod, node))


class _FirstFit:
    """Pods on their first node with room. Room only shrinks, so that each kind of pod looks on from where it was.

    ``is_related``: bool[P], pods that bear on those that were looked at, or on whose place others bear; only their
    moves are told to the placement.
    """

    def __init__(self, rules: SimpleRules, closed: BoolArray) -> None:
        """Nothing has moved."""
        self.moves: Moves = []
        self._rules = rules
        self._situation = rules.situation
        self._problem = rules.problem
        self._free = list(rules.problem.free.copy())
        self._open: BoolArray = ~closed
        self._received: BoolArray = np.zeros(rules.situation.node_count, dtype=np.bool_)
        self._left_namespace: Counter[str] = Counter()
        self._placement = rules.situation.start.copy()
        self.is_related: BoolArray = np.zeros(rules.situation.columns.pod_count, dtype=np.bool_)
        self._looked_at: set[int] = set()
        self._goal: dict[int, int] = {}
        kinds, first = rules.kind_of
        self._kind = kinds.tolist()
        self._begin = [0] * len(first)
        self._asked: list[tuple[list[int], list[int], BoolArray] | None] = [None] * len(first)

    def try_node(self, node: int) -> bool:
        """Find a place for every pod of a node; nothing is changed where one has none."""
        if self._received[node] or not self._is_affordable(node):
            return False
        was_open = bool(self._open[node])
        self._open[node] = False
        begun, begins = len(self.moves), list[tuple[int, int]]()
        for row in self._situation.rows_on[node].tolist():
            goal = self._seat(row, begins)
            if goal < 0:
                self._undo(begun, begins)
                self._open[node] = was_open
                return False
            self._send(row, goal)
        self._received[[goal for _, goal in self.moves[begun:]]] = True
        for name, number in self._situation.namespaces_on.items():
            self._left_namespace[name] += int(number[node])
        return True

    def _is_affordable(self, node: int) -> bool:
        limits = self._situation.limits
        if len(self.moves) + int(self._situation.pods_on[node]) > limits.in_all:
            return False
        return all(
            self._left_namespace[name] + int(number[node]) <= limits.of(name)
            for name, number in self._situation.namespaces_on.items()
        )

    def _seat(self, row: int, begins: list[tuple[int, int]]) -> int:
        """The first node that takes a pod; -1 where there is none."""
        kind = self._kind[row]
        asked = self._asked[kind]
        if asked is None:
            request = self._problem.requests[:, row]
            resources = request.nonzero()[0].tolist()
            mask = self._problem.static_mask(int(self._problem.movable[row]))[1]
            asked = self._asked[kind] = (resources, request[resources].tolist(), mask)
        first = self._first(asked, self._begin[kind])
        if first != self._begin[kind]:
            begins.append((kind, self._begin[kind]))
            self._begin[kind] = first if first >= 0 else self._situation.node_count
        pod = int(self._problem.movable[row])
        if first < 0 or not self._problem.is_entangled(pod):
            return first
        self._look_at(pod)
        while first >= 0 and not self._may_join(pod, first):
            first = self._first(asked, first + 1)
        return first

    def _first(self, asked: tuple[list[int], list[int], BoolArray], begin: int) -> int:
        resources, amounts, mask = asked
        count = self._situation.node_count
        if begin < count and self._open[begin] and mask[begin]:
            for resource, amount in zip(resources, amounts, strict=True):
                if self._free[resource].item(begin) < amount:
                    break
            else:
                return begin
        width = _FIRST_LOOK
        while begin < count:
            found = self._free[resources[0]][begin : begin + width] >= amounts[0]
            for resource, amount in zip(resources[1:], amounts[1:], strict=True):
                found &= self._free[resource][begin : begin + width] >= amount
            found &= self._open[begin : begin + width]
            found &= mask[begin : begin + width]
            first = int(found.argmax())
            if found[first]:
                return begin + first
            begin += width
            width *= _WIDER
        return -1

    def _look_at(self, pod: int) -> None:
        """Learn on whom a pod's place depends, and where those are that have moved already."""
        columns = self._situation.columns
        look = int(columns.shape_of[pod]) * len(columns.label_sets) + int(columns.label_set_of[pod])
        if look in self._looked_at and self.is_related[pod]:
            return
        self._looked_at.add(look)
        watched = self._problem.entanglement.watched(pod)
        new = [*watched[~self.is_related[watched]].tolist(), pod]
        for other in new:
            if other in self._goal and not self.is_related[other]:
                self._stand(other, self._goal[other])
        self.is_related[new] = True

    def _may_join(self, pod: int, node: int) -> bool:
        problem = self._problem
        if problem.meetings.knows(pod):
            return problem.meetings.allow(pod, node, self._placement)
        return bool(problem.prediction.feasible(pod, self._placement)[node])

    def _take(self, row: int, node: int, sign: int) -> None:
        asked = self._asked[self._kind[row]]
        assert asked is not None
        for resource, amount in zip(asked[0], asked[1], strict=True):
            self._free[resource][node] -= sign * amount

    def _send(self, row: int, node: int) -> None:
        pod = int(self._problem.movable[row])
        self._take(row, node, 1)
        if self.is_related[pod]:
            self._stand(pod, node)
        self.moves.append((pod, node))
        self._goal[pod] = node

    def _stand(self, pod: int, node: int) -> None:
        self._placement.forget(pod)
        self._placement.assume(pod, node)

    def _undo(self, begun: int, begins: list[tuple[int, int]]) -> None:
        for pod, node in reversed(self.moves[begun:]):
            row = self._problem.row_of_movable[pod]
            self._take(row, node, -1)
            del self._goal[pod]
            if self.is_related[pod]:
                self._stand(pod, int(self._situation.start.node_of[pod]))
        del self.moves[begun:]
        for kind, begin in reversed(begins):
            self._begin[kind] = begin
