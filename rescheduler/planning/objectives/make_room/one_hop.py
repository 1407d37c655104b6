"""Plans in which every evicted pod moves into room that is free or becomes free at once: covers and a master.

Covers say what it costs each node to take some of the pods that wait, the master chooses nodes, best fit finds new
places for the evicted pods. Where it cannot, covers without such pods are added and the master may use fewer of them.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.make_room.replacement import Replacement, assume_all, chain, replace_rows
from rescheduler.planning.objectives.make_room.waiting import WaitingForReplacements
from rescheduler.planning.problem.covers import Cover, Covers
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.problem import EVICTION_COST, Problem
from rescheduler.planning.room_model.ranking import Proven, helped_by, rank
from rescheduler.planning.solvers.master import AtMost, Column, Conditions, solve_master
from rescheduler.planning.waves.arrivals import Arrivals
from rescheduler.planning.waves.replay import violated_limits
from rescheduler.planning.waves.sequencing import sequence

# Room of one size, on the nodes that pods of one kind may use, of which there is not enough.


class Scarcity(NamedTuple):
    """``mask_number`` names the nodes (see Problem.masks), ``size`` the amounts by resource row."""

    mask_number: int
    size: tuple[int, ...]


def at_least_as_hard(problem: Problem, scarcity: Scarcity) -> BoolArray:
    """Movable pods, bool[M], that ask for at least that much and may be on no other nodes."""
    size = np.array(scarcity.size, dtype=np.int64)
    return np.asarray((problem.requests >= size[:, None]).all(axis=0) & is_confined(problem, scarcity.mask_number))


def is_confined(problem: Problem, mask_number: int) -> BoolArray:
    """Movable pods, bool[M], that may arrive on no nodes but those of a mask."""
    mask = problem.masks[mask_number]
    numbers = problem.mask_numbers
    inside = np.array([not (other & ~mask).any() for other in problem.masks], dtype=np.bool_)
    return np.asarray(inside[numbers] & mask[problem.origin])


DEAREST_FACTOR = 64.0
STEPS_PER_COVER = 300
MOST_ROUNDS = 40
MOST_FAILURES = 14
FAILURES_TO_SALVAGE = 3
MOST_EXTRA = 8
MOST_OTHERS = 8
NOISE_OF_PRICES = 0.25
Multiset = tuple[int, ...]
FloatArray = npt.NDArray[np.float64]


@dataclass
class Ranked:
    """Nodes that may take a multiset, cheapest bound first, with what is lacking there and the covers known so far."""

    nodes: IntArray
    least: IntArray
    deficit: IntArray
    covers: dict[int, Cover | None]


class OneHop:
    """One search over plans without chains, for the pods of ``waiting``; ``best`` is the best one so far."""

    def __init__(self, problem: Problem, waiting: WaitingForReplacements, best: WaveSchedule, seed: int) -> None:
        """``best``: a plan to begin with. Only pods that would find a place are evicted."""
        self.problem = problem
        self.waiting = waiting
        self.best = best
        self.seed = seed
        self.deadline: Deadline
        self._failures = 0
        self._ceiling: int | None = None
        self._covers = Covers(problem.held, problem.origin, problem.node_count, waiting.placeable)
        self._factor: FloatArray = np.ones(len(problem.movable))
        self._pool: dict[tuple[int, Multiset, tuple[int, ...]], Column] = {}
        self._bars: dict[Scarcity, tuple[BoolArray, int]] = {}
        left = problem.remaining
        self._most = min(left.in_all, int(left.of_node.max(initial=0)), 10**6)
        self._ranked: dict[Multiset, Ranked] = {}

    def run(
        self, proven: Proven, deadline: Deadline, rounds: int = MOST_ROUNDS, most_helped: int | None = None
    ) -> None:
        """Choose, replace, bar what failed; after a success ask for fewer evictions, until ``proven`` says enough.

        May be called again to go on. ``most_helped``: a proven ceiling of the number of helped pods.
        """
        self.deadline = deadline
        self._ceiling = most_helped
        for _ in range(rounds):
            if self.deadline.is_over() or self._failures > MOST_FAILURES:
                return
            if proven.is_best(helped_by(self.problem, self.best), self.best.evictions):
                return
            self._add_columns()
            chosen = self._choose()
            if chosen is None:
                return
            state = self.waiting.state.copy()
            assume_all(state, self.waiting.assign(chosen))
            replacement = replace_rows(self.problem, state, [row for column in chosen for row in column.rows])
            if not replacement.failed:
                before = self.best
                self._offer(chosen, replacement)
                if self.best is before:
                    return
                continue
            self._failures += 1
            if not self._chain(chosen, replacement, state) and self._failures <= FAILURES_TO_SALVAGE:
                self._offer(*self._in_turn(self._salvageable(chosen)))
            self._bar([row for column in chosen for row in column.rows], replacement.failed)

    def begin_again(self, number: int) -> None:
        """Forget what failed, and look for covers at slightly other prices; ``number`` tells one time from another."""
        random = np.random.default_rng((self.seed, number))
        self._failures = 0
        self._bars.clear()
        self._factor = np.exp(random.normal(0.0, NOISE_OF_PRICES, len(self._factor)))
        for ranked in self._ranked.values():
            ranked.covers.clear()

    def _choose(self) -> list[Column] | None:
        """Columns that help most and then cost least; if they help no more than the best plan, they cost less."""
        columns = list(self._pool.values())
        at_most = [
            AtMost(tuple(int(larger[list(column.rows)].sum()) for column in columns), limit)
            for larger, limit in self._bars.values()
        ]
        if self._helps_all():
            at_most.append(AtMost(tuple(len(column.rows) for column in columns), self.best.evictions - 1))
        bars = [*at_most, *self._limits(columns)]
        waiting, evictions_per_pod = self.waiting, self.problem.pending_groups.evictions_per_pod
        answer = solve_master(
            columns,
            waiting.counts,
            waiting.stages,
            self.deadline.part(0.3),
            self.seed,
            Conditions(
                at_most=bars,
                most_helped=self._ceiling,
                together=waiting.together,
                evictions_per_pod=None if evictions_per_pod is None else evictions_per_pod * EVICTION_COST,
            ),
        )
        if answer is None or (
            evictions_per_pod is None and at_most and answer.helped != waiting.counts and self._helps_all()
        ):
            return None
        return [columns[number] for number in answer.chosen]

    def _limits(self, columns: Sequence[Column]) -> list[AtMost]:
        """The limits of the plan that columns together could pass: without them the master asks for too much."""
        left = self.problem.remaining
        spaces = [self._namespaces(column.rows) for column in columns]
        bars = [AtMost(tuple(len(column.rows) for column in columns), left.in_all)]
        if left.of_namespace is not None:
            names = sorted(set[str]().union(*spaces))
            bars += [AtMost(tuple(space[name] for space in spaces), left.of(name)) for name in names]
        return [bar for bar in bars if sum(bar.use) > bar.limit]

    def _is_within_limits(self, rows: Sequence[int]) -> bool:
        """Whether these evictions are no more than are left in all and in each namespace."""
        left = self.problem.remaining
        if len(rows) > left.in_all:
            return False
        return left.of_namespace is None or all(
            count <= left.of(name) for name, count in self._namespaces(rows).items()
        )

    def _namespaces(self, rows: Sequence[int]) -> Counter[str]:
        pods = self.problem.columns.cluster.pods
        return Counter(pods[self.problem.movable[row]].namespace for row in rows)

    def _helps_all(self) -> bool:
        return len(self.best.places) == len(self.problem.pending)

    def _add_columns(self) -> None:
        """Cheapest columns at the present prices, kept at their true cost."""
        for multiset in self.waiting.multisets:
            if self.deadline.is_over():
                return
            for node, cover in self._cheapest(multiset).items():
                rows = np.array(cover.rows, dtype=np.int64)
                cost = int(self.problem.eviction_cost(rows).sum())
                self._pool[node, multiset, cover.rows] = Column(node, multiset, cost, cover.rows)

    def _cheapest(self, multiset: Multiset) -> Mapping[int, Cover]:
        """Covers of about the 2 K nodes that take a multiset most cheaply at the present prices."""
        ranked = self._ranked.get(multiset)
        if ranked is None:
            ranked = self._ranked[multiset] = self._rank(multiset)
        keep = 2 * len(self.waiting.pods)
        found: dict[int, Cover] = {}
        costs: list[int] = []
        for node, least in zip(ranked.nodes.tolist(), ranked.least.tolist(), strict=True):
            if len(costs) >= keep and (costs[keep - 1] // EVICTION_COST <= least or len(costs) >= MOST_EXTRA * keep):
                break
            if node not in ranked.covers:
                most = min(self._most, int(self.problem.remaining.of_node[node]))
                ranked.covers[node] = self._covers.cheapest(
                    node, ranked.deficit[:, node], self._cost, most, STEPS_PER_COVER
                )
            cover = ranked.covers[node]
            if cover is not None:
                found[node] = cover
                insort(costs, cover.cost)
        return found

    def _rank(self, multiset: Multiset) -> Ranked:
        deficit = self.waiting.deficit(multiset)
        least = self._covers.least(deficit)
        nodes = np.flatnonzero(self.waiting.open_now(multiset) & (least <= self._most))
        nodes = nodes[np.argsort(least[nodes], kind="stable")]
        return Ranked(nodes, least[nodes], deficit, {})

    def _cost(self, rows: IntArray) -> IntArray:
        return np.rint(self.problem.eviction_cost(rows) * self._factor[rows]).astype(np.int64)

    def _chain(self, chosen: list[Column], replacement: Replacement, state: Arrivals) -> bool:
        """Try to give those that found no place one by evicting smaller pods elsewhere."""
        covers = self._covers.copy()
        for column in chosen:
            covers.remove(column.node, column.rows)
        moves = chain(self.problem, state, covers, replacement.failed)
        if moves is None or len(replacement.moves) + len(moves) > self.problem.remaining.in_all:
            return False
        self._offer(chosen, Replacement({**replacement.moves, **moves}, ()))
        return True

    def _salvageable(self, chosen: list[Column]) -> list[Column]:
        """The chosen columns; where limits kept the master from choosing more, at last others for those that fail."""
        pool = list(self._pool.values())
        if self._failures < FAILURES_TO_SALVAGE or not self._limits(pool):
            return chosen
        others = sorted(pool, key=lambda item: (item.cost / sum(item.counts), item.node))
        return [*chosen, *others[: MOST_OTHERS * len(chosen)]]

    def _in_turn(self, chosen: list[Column]) -> tuple[list[Column], Replacement]:
        """As many columns as can be, the cheapest first, each with new places for all pods that it evicts."""
        state = self.waiting.state.copy()
        kept: list[Column] = []
        moves: dict[int, int] = {}
        for column in sorted(chosen, key=lambda item: (item.cost / sum(item.counts), item.node)):
            if self.deadline.is_over() or not self._may_stand_beside(column, kept):
                continue
            trial = state.copy()
            assume_all(trial, self.waiting.assign([*kept, column]))
            replacement = replace_rows(self.problem, trial, column.rows)
            lacking = self.waiting.demand(column.counts) > 0  # earlier ones may have gone where this one has its room
            has_room = (trial.placement.free()[lacking, column.node] >= 0).all()
            if has_room and not replacement.failed:
                kept.append(column)
                moves.update(replacement.moves)
                state = trial
        return kept, Replacement(moves, ())

    def _may_stand_beside(self, column: Column, kept: list[Column]) -> bool:
        """Whether a column may stand beside others: another node, a pod that still waits, evictions that are left."""
        left = [most - sum(other.counts[number] for other in kept) for number, most in enumerate(self.waiting.counts)]
        return (
            all(other.node != column.node for other in kept)
            and any(count and room > 0 for count, room in zip(column.counts, left, strict=True))
            and self._is_within_limits([row for other in (*kept, column) for row in other.rows])
        )

    def _offer(self, kept: list[Column], replacement: Replacement) -> None:
        """Keep a plan if it is the best so far."""
        places = {**self.waiting.placed, **self.waiting.assign(kept)}
        if len(replacement.moves) > self.problem.remaining.in_all:
            return
        places = self.problem.pending_groups.whole(places)
        order = tuple(replacement.moves.items())
        self.offer(sequence(self.problem, Draft(replacement.moves, places), self.deadline, hint=order).schedule)

    def offer(self, schedule: WaveSchedule | None) -> None:
        """Keep a plan from elsewhere if it is better than the best so far, and within the limits."""
        if schedule is None or violated_limits(self.problem, schedule):
            return
        if rank(self.problem, schedule) > rank(self.problem, self.best):
            self.best = schedule

    def _bar(self, rows: list[int], failed: tuple[int, ...]) -> None:
        """Of pods as large as one that found no place, fewer may be evicted together; they become dearer, too."""
        dearer = np.zeros(len(self._factor), dtype=np.bool_)
        numbers = self.problem.mask_numbers
        for row in failed:
            size = Scarcity(int(numbers[row]), tuple(self.problem.requests[:, row].tolist()))
            larger = at_least_as_hard(self.problem, size)
            self._bars[size] = (larger, int(larger[rows].sum()) - 1)
            self._factor[larger] = np.minimum(DEAREST_FACTOR, self._factor[larger] * 1.5)
            dearer |= larger
        for ranked in self._ranked.values():  # covers without such pods stay the cheapest
            for node in [n for n, cover in ranked.covers.items() if cover and dearer[list(cover.rows)].any()]:
                del ranked.covers[node]
