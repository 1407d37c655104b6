"""Which pods leave and which arrive on each node: a linear programme whose columns are made as they are asked for.

Hard pods that leave must arrive somewhere, in room that is free or is made for them. The programme's prices say what
room of each size is worth; at any prices the cheapest patterns of all nodes together bound the evictions.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when they are first named

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.make_room.patterns.arriving_classes import ArrivingClasses
from rescheduler.planning.objectives.make_room.patterns.node_states import NodeStates
from rescheduler.planning.objectives.make_room.patterns.packing_worth import PackingWorth
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.ranking import HelpVector
from rescheduler.planning.solvers.highs import Linear

MOST_ROUNDS = 80
MOST_NEW = 400
MOST_NEW_OF_NODE = 3
MOST_CHOSEN_FROM = 3000
NOT_HELPED, NOT_SEATED = 8.0, 2.5  # what a pending pod, and a hard one, costs that has no place
_STEP = 2.0**-12  # prices are whole numbers of it, so that sums of them are exact
_NEAR, _NEAR_SHARE = 0.2, 0.015  # how far the programme may be from its optimum at the end; for a plan a share of it
_SECONDS_PER_STATE = 1e-6


class Pattern(NamedTuple):
    """``gain``: arriving less leaving pods by class; ``node``: position in the classes' nodes; ``rows``: who leaves."""

    node: int
    cost: int
    gain: tuple[int, ...]
    arriving: tuple[int, ...]
    rows: tuple[int, ...]


class _Group(NamedTuple):
    """States of nodes that are open to the same classes, bool[C]."""

    states: IntArray
    open_to: BoolArray


class NodePatterns:
    """The programme of one problem; ``patterns`` so far, ``bound`` proven so far, ``prices`` and ``rents`` at last.

    ``value``: of the relaxed programme over these patterns.
    """

    def __init__(
        self, problem: Problem, classes: ArrivingClasses, states: NodeStates, for_help: HelpVector, *, is_bound: bool
    ) -> None:
        """``for_help``: pending pods of each priority that must be helped."""
        self._classes, self._states, self._is_bound = classes, states, is_bound
        scarce, waiting = classes.scarce, len(classes.members)
        largest = classes.asked[:waiting, scarce].max(axis=0)
        alike, group = np.unique(classes.open_to, axis=1, return_inverse=True)
        of_state = group.reshape(-1)[states.node]
        self._groups = [
            _Group(np.flatnonzero(of_state == number), alike[:, number]) for number in range(alike.shape[1])
        ]
        self._packing = [
            PackingWorth(classes.asked[:, scarce], states.room[some][:, scarce], largest, is_bound=is_bound)
            for some, _ in self._groups
        ]
        self._of_state = of_state
        self._position = np.zeros(len(of_state), dtype=np.int64)
        for some, _ in self._groups:
            self._position[some] = np.arange(len(some))
        levels = problem.pending_groups.levels
        self._level = [levels.index(problem.pending_groups.priority(pods[0])) for pods in classes.members]
        self._for_help = for_help
        self._is_priced = self._packing[0].has_weight
        self._leaving = states.leaving.astype(np.float64)
        self.patterns: list[Pattern] = []
        self._number: dict[tuple[int, tuple[int, ...], tuple[int, ...]], int] = {}
        self._gains = np.zeros((len(classes.asked), MOST_NEW))
        self.bound = 0.0
        self.value = np.inf
        self.prices = np.zeros(len(classes.asked))
        self.rents = np.zeros(len(classes.nodes))

    def solve(self, deadline: Deadline, enough: float = np.inf) -> None:
        """Make patterns until none is missing, time is over or ``enough`` is proven."""
        for _ in range(MOST_ROUNDS):
            if deadline.is_over() or not self._reprice(deadline):
                return
            reduced = self._reduced(deadline)
            is_near = self.value - self.bound < self._near()
            if self.bound >= enough or is_near or not self._add(reduced):
                return

    def _near(self) -> float:
        return _NEAR if self._is_bound else min(1.0, _NEAR_SHARE * self.value)

    def _reprice(self, deadline: Deadline) -> bool:
        """Solve the programme over the patterns so far; whether that was done in time."""
        patterns, count = self.patterns, len(self.patterns)
        kinds, nodes, waiting = len(self.prices), len(self.rents), len(self._classes.members)
        helped = np.eye(kinds, waiting)
        gains = np.hstack([-self._gains[:, :count], -np.eye(kinds), helped])  # patterns, what is missing, who is helped
        one_each = scipy.sparse.csr_array(
            (np.ones(count), ([pattern.node for pattern in patterns], np.arange(count))),
            shape=(nodes, count + kinds + waiting),
        )
        levels = np.zeros((len(self._for_help), count + kinds + waiting))
        levels[self._level, count + kinds + np.arange(waiting)] = -1.0
        most = np.concatenate([np.full(count + kinds, np.inf), [len(pods) for pods in self._classes.members]])
        missing = np.where(np.arange(kinds) < waiting, NOT_HELPED, NOT_SEATED) * self._is_priced
        answer = Linear(
            cost=np.concatenate([[pattern.cost for pattern in patterns], missing, np.zeros(waiting)]),
            at_most=(
                scipy.sparse.vstack([scipy.sparse.csr_array(gains), one_each, scipy.sparse.csr_array(levels)]).tocsr(),
                np.concatenate([np.zeros(kinds), np.ones(nodes), -np.array(self._for_help, dtype=np.float64)]),
            ),
            exactly=None,
            bounds=np.column_stack([np.zeros(count + kinds + waiting), most]),
        ).solved(deadline)
        if answer.status != 0:
            return False
        duals = -np.asarray(answer.ineqlin.marginals)
        self.value = float(answer.fun)
        self.prices = np.maximum(0.0, np.rint(duals[:kinds] / _STEP) * _STEP) * self._is_priced
        self.rents = np.maximum(0.0, duals[kinds : kinds + nodes])
        return True

    def _reduced(self, deadline: Deadline) -> FloatArray:
        """What each state's best pattern costs at the present prices, float64[S]; notes the bound that they prove."""
        worth = np.zeros(len(self._of_state))
        for (some, open_to), packing in zip(self._groups, self._packing, strict=True):
            worth[some] = packing.best(self.prices * open_to)
        reduced = self._states.cost + self._leaving @ self.prices - worth
        deadline.work(_SECONDS_PER_STATE * len(reduced))
        best = np.zeros(len(self.rents))
        np.minimum.at(best, self._states.node, reduced)
        self.bound = max(self.bound, self._help_is_worth() + float(best.sum()))
        return reduced + self.rents[self._states.node]

    def _help_is_worth(self) -> float:
        """What the help that is asked for is worth at least: of each priority the pods with the lowest prices."""
        total = 0.0
        for level, number in enumerate(self._for_help):
            prices = [
                float(self.prices[kind])
                for kind, pods in enumerate(self._classes.members)
                if self._level[kind] == level
                for _ in pods
            ]
            total += sum(sorted(prices)[:number])
        return total

    def _add(self, reduced: FloatArray) -> bool:
        """Keep the patterns that pay most; whether there were new ones."""
        seen, new = Counter[int](), 0
        for state in np.argsort(reduced, kind="stable").tolist():
            if reduced[state] > -1e-7 or new >= MOST_NEW:
                break
            node = int(self._states.node[state])
            if seen[node] >= MOST_NEW_OF_NODE:
                continue
            seen[node] += 1
            pattern = self._pattern(state, node)
            key = (node, pattern.gain, pattern.rows)
            known = self._number.get(key)
            if known is not None and self.patterns[known].cost > pattern.cost:
                self.patterns[known] = pattern
                new += 1
            elif known is None and (self._is_bound or self._is_true(state, pattern)):
                self._keep(key, pattern)
                new += 1
        return new > 0

    def _keep(self, key: tuple[int, tuple[int, ...], tuple[int, ...]], pattern: Pattern) -> None:
        number = self._number[key] = len(self.patterns)
        if number == self._gains.shape[1]:
            self._gains = np.hstack([self._gains, np.zeros_like(self._gains)])
        self._gains[:, number] = pattern.gain
        self.patterns.append(pattern)

    def _pattern(self, state: int, node: int) -> Pattern:
        arriving = self._packing[self._of_state[state]].packed(int(self._position[state]))
        gain = arriving - self._states.leaving[state]
        rows = self._states.rows[state]
        return Pattern(node, int(self._states.cost[state]), tuple(gain.tolist()), tuple(arriving.tolist()), rows)

    def _is_true(self, state: int, pattern: Pattern) -> bool:
        """Whether there is room for a pattern of a plan in every resource."""
        demand: IntArray = np.array(pattern.arriving, dtype=np.int64) @ self._classes.asked
        return bool(((demand <= self._states.room[state]) | (demand == 0)).all())


def cheap_enough(found: NodePatterns, most: int) -> list[Pattern]:
    """Patterns that a plan of at most ``most`` evictions could use: what they lose is no more than is left.

    Of too many those that lose least.
    """
    patterns = found.patterns
    gains = np.array([pattern.gain for pattern in patterns], dtype=np.float64).reshape(-1, len(found.prices))
    cost = np.array([pattern.cost for pattern in patterns], dtype=np.float64)
    rent = found.rents[np.array([pattern.node for pattern in patterns], dtype=np.int64)]
    lost = cost - gains @ found.prices + rent
    order = np.argsort(lost, kind="stable")[:MOST_CHOSEN_FROM]
    return [patterns[number] for number in order.tolist() if lost[number] <= most - found.value + 1e-6]
