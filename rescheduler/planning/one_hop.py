"""Plans in which every evicted pod moves once into room that is free today: covers, a master, and prices.

Covers say what it costs each node to take some of the pods that wait, the master chooses nodes, best fit finds new
places for the evicted pods. Where it cannot, covers without such pods are added and the master may use fewer of them.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns import NOWHERE, BoolArray, IntArray
from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.covers import CostOf, Covers
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Draft, Schedule
from rescheduler.planning.placeability import placeable_rows
from rescheduler.planning.problem import Problem
from rescheduler.planning.ranking import rank
from rescheduler.planning.sequencing import sequence
from rescheduler.planning.solvers.master import AtMost, Column, solve_master
from rescheduler.planning.waiting import Waiting
from rescheduler.planning.zero_moves import tightest

EVICTION_COST = 1000
DEAREST_FACTOR = 64.0
STEPS_PER_COVER = 300
EXTRA = 2
MOST_ROUNDS = 40

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Replacement:
    """New places of evicted pods, and the rows that found none."""

    moves: dict[int, int]
    failed: tuple[int, ...]


class OneHop:
    """One search over plans without chains, for the pods of ``waiting`` that fit nowhere."""

    def __init__(self, problem: Problem, waiting: Waiting, deadline: Deadline, seed: int) -> None:
        """Look up who could be evicted and find a place."""
        self.problem = problem
        self.waiting = waiting
        self.deadline = deadline
        self.seed = seed
        self.best: Schedule | None = None
        self._room = waiting.room
        placeable = placeable_rows(problem, self._room)
        self._covers = Covers(problem.held, problem.origin, problem.node_count, placeable)
        self._pool: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Column] = {}
        self._limits: dict[bytes, tuple[BoolArray, int]] = {}
        self._most = min(
            (cap for cap in (problem.limits.max_evictions, problem.limits.max_evictions_per_node) if cap is not None),
            default=10**6,
        )

    def run(self) -> None:
        """Offer more ways out and bar what failed, until all evicted pods find a place or nothing new comes up."""
        factor = np.ones(len(self.problem.movable))
        tried: set[tuple[int, ...]] = set()
        for _ in range(MOST_ROUNDS):
            if self.deadline.is_over():
                return
            self._add_columns(factor)
            columns = list(self._pool.values())
            answer = solve_master(
                columns,
                self.waiting.counts,
                self.waiting.stages,
                self.deadline.part(0.5),
                self.seed,
                at_most=self._bars(columns),
            )
            if answer is None:
                return
            chosen = [columns[number] for number in answer.chosen]
            rows = tuple(sorted(row for column in chosen for row in column.rows))
            replacement = self._replace(chosen)
            if not replacement.failed:
                self._offer(chosen, replacement)
                return
            self._offer(*self._replace_in_turn(chosen))
            if rows in tried:
                return
            tried.add(rows)
            self._bar(rows, replacement.failed, factor)

    def _add_columns(self, factor: FloatArray) -> None:
        """Cheapest columns at the present prices, kept at their true cost."""

        def cost_of(rows: IntArray) -> IntArray:
            return np.rint((EVICTION_COST + self.problem.prices(rows)) * factor[rows]).astype(np.int64)

        keep = 2 * len(self.waiting.pods)
        for multiset in self.waiting.multisets:
            usable = self.waiting.open_now(multiset)
            deficit = self.waiting.deficit(multiset)
            for column in cheapest_columns(self._covers, multiset, deficit, usable, cost_of, keep, self._most):
                rows = np.array(column.rows, dtype=np.int64)
                cost = int((EVICTION_COST + self.problem.prices(rows)).sum())
                self._pool[column.node, multiset, column.rows] = replace(column, cost=cost)

    def _bar(self, rows: tuple[int, ...], failed: tuple[int, ...], factor: FloatArray) -> None:
        """Of pods as large as one that found no place, fewer may be evicted together; they become dearer, too."""
        requests = self.problem.requests
        for request in np.unique(requests[:, list(failed)], axis=1).T:
            larger = (requests >= request[:, None]).all(axis=0)
            self._limits[request.tobytes()] = (larger, int(larger[list(rows)].sum()) - 1)
            factor[larger] = np.minimum(DEAREST_FACTOR, factor[larger] * 1.5)

    def _bars(self, columns: list[Column]) -> list[AtMost]:
        return [
            AtMost(tuple(int(larger[list(column.rows)].sum()) for column in columns), limit)
            for larger, limit in self._limits.values()
        ]

    def _replace(self, chosen: list[Column]) -> Replacement:
        """Best fit, largest first, into room that is free before anybody leaves."""
        state = self.waiting.state.copy()
        for pod, node in self.waiting.assign(chosen).items():
            state.placement.assume(pod, node)
        return self._best_fit(state, [row for column in chosen for row in column.rows])

    def _replace_in_turn(self, chosen: list[Column]) -> tuple[list[Column], Replacement]:
        """As many columns as can be, the cheapest first, each with new places for all pods that it evicts."""
        state = self.waiting.state.copy()
        kept: list[Column] = []
        moves: dict[int, int] = {}
        for column in sorted(chosen, key=lambda item: (item.cost / sum(item.counts), item.node)):
            trial = state.copy()
            places = self.waiting.assign([*kept, column])
            for pod, node in places.items():
                if trial.placement.node_of[pod] == NOWHERE:
                    trial.placement.assume(pod, node)
            replacement = self._best_fit(trial, list(column.rows))
            if not replacement.failed:
                kept.append(column)
                moves.update(replacement.moves)
                state = trial
        return kept, Replacement(moves, ())

    def _best_fit(self, state: Arrivals, rows: list[int]) -> Replacement:
        scale = np.maximum(1, self.problem.columns.allocatable.max(axis=1, initial=1))
        size = (self.problem.requests[:, rows] / scale[:, None]).max(axis=0) if rows else np.zeros(0)
        moves: dict[int, int] = {}
        failed = []
        for position in np.argsort(-size, kind="stable").tolist():
            row = rows[position]
            pod = int(self.problem.movable[row])
            nodes = np.flatnonzero(state.open_nodes(pod))
            nodes = nodes[nodes != self.problem.origin[row]]
            if len(nodes):
                node = tightest(state.placement.free(), self.problem.request_of(pod), nodes)
                state.placement.move(pod, node)
                moves[pod] = node
            else:
                failed.append(row)
        return Replacement(moves, tuple(failed))

    def _offer(self, kept: list[Column], replacement: Replacement) -> None:
        """Keep a plan if it is the best so far."""
        places = {**self.waiting.placed, **self.waiting.assign(kept)}
        limit = self.problem.limits.max_evictions
        if limit is not None and len(replacement.moves) > limit:
            return
        schedule = sequence(self.problem, Draft(replacement.moves, places), self.deadline).schedule
        if schedule is not None and (self.best is None or rank(self.problem, schedule) > rank(self.problem, self.best)):
            self.best = schedule


def cheapest_columns(
    covers: Covers, multiset: tuple[int, ...], deficit: IntArray, usable: BoolArray, cost_of: CostOf, keep: int, most: int
) -> list[Column]:
    """Columns of about the ``keep`` nodes that take a multiset of waiting pods most cheaply."""
    least = covers.least(deficit)
    nodes = np.flatnonzero(usable & (least <= most))
    nodes = nodes[np.argsort(least[nodes], kind="stable")]
    found: list[Column] = []
    sizes: list[int] = []
    for node in nodes.tolist():
        if len(found) >= keep and (sizes[keep - 1] < least[node] or len(found) >= EXTRA * keep):
            break
        cover = covers.cheapest(node, deficit[:, node], cost_of, most, STEPS_PER_COVER)
        if cover is not None:
            found.append(Column(node, multiset, cover.cost, cover.rows))
            insort(sizes, len(cover.rows))
    found.sort(key=lambda column: (column.cost, column.node))
    return found[:keep]
