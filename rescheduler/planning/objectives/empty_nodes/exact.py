"""The whole question as one model, for clusters small enough, solved and put in order until that is proven best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.planning.objectives.empty_nodes.least_evictions import WholePrices, whole_prices
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution, keeps_limits, solution_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.room_model.attempts import HELP_SHARE, Attempt, Attempts, Refuted
from rescheduler.planning.room_model.decoding import decode, encode
from rescheduler.planning.room_model.general import General
from rescheduler.planning.room_model.instance import Instance
from rescheduler.planning.solvers.emptied_nodes_model import EmptiedNodes
from rescheduler.planning.solvers.lexicographic_solver import LexicographicSolver
from rescheduler.planning.solvers.room_model import RoomModel
from rescheduler.planning.waves.sequencing import Sequencing, possible_part, sequence

# Models of the whole question of emptying nodes: most value, then fewest evictions, then least harm and price.

_HARM = 1000  # above the price of any move


class Known(NamedTuple):
    """What is proven before: no plan reaches more than ``most``, in whole prices, and none that does is shorter."""

    most: int
    fewest: int


class EmptyingAttempts(Attempts):
    """Builds and solves such models of one instance. ``value_bound``: of the last one, in whole prices."""

    def __init__(
        self,
        situation: EmptyingSituation,
        instance: Instance,
        deadline: Deadline,
        seed: int,
        prices: WholePrices,
        cuts: list[tuple[list[int], list[int]]],
        known: Known | None = None,
    ) -> None:
        """``instance`` is of the whole cluster; ``cuts``: (values, positions) that must not come again."""
        super().__init__(situation.problem, instance, deadline, seed, cuts)
        self.situation = situation
        self.value_bound: int | None = None
        self._known = known
        local = {node: number for number, node in enumerate(instance.nodes)}
        chosen = np.flatnonzero(situation.could_be_emptied | situation.is_empty).tolist()
        self._worth = {local[node]: int(prices.price[node]) for node in chosen}
        self._in_use = [local[node] for node in chosen if not situation.is_empty[node]]
        self._worth_before = int(prices.price[situation.is_empty].sum())
        self._harmful = frozenset(situation.harmful.tolist())

    def can_only_be_cheaper(self, best: WaveSchedule | None) -> bool:  # noqa: ARG002 - nobody is helped here
        """A plan may always empty more."""
        return False

    def solve(self, layers: int, best: WaveSchedule | None, floor: int) -> Attempt | Refuted | None:  # noqa: ARG002
        """The best plan of the model with so many layers (0: the end state only); None if nothing came of it."""
        self.value_bound = None
        room = self._model(layers)
        emptied = self._emptied(room)
        for values, relevant in self.cuts:
            room.forbid(values, relevant)
        if self._known is not None:
            room.model.add(emptied.value <= self._known.most + self._worth_before)
        solver = self._solver(room, emptied, best, layers)
        value = solver.run(
            emptied.value,
            maximize=True,
            deadline=self.deadline.part(0.6),
            deterministic_seconds=self._seconds * HELP_SHARE * self.effort,
        )
        if value.value is None:
            return None
        if value.bound is not None:
            self.value_bound = value.bound - self._worth_before
        cost = emptied.cost([self._cost(number) for number in range(len(self.instance.groups))])
        if self._known is not None and value.value - self._worth_before >= self._known.most:
            room.model.add(room.evictions >= self._known.fewest)
        fewest = self._minimise(solver, room.evictions, cost)
        assert solver.solution is not None
        values = solver.solution[: len(room.variables)]
        decoded = decode(self.instance, room.counts(values))
        return Attempt(
            decoded,
            values,
            (value.value - self._worth_before,),
            len(decoded.draft.moves),
            value.is_proven,
            fewest.bound or 0,
            value.is_proven and fewest.is_proven,
        )

    def _solver(
        self, room: RoomModel, emptied: EmptiedNodes, best: WaveSchedule | None, layers: int
    ) -> LexicographicSolver:
        """A solver that begins with the best plan so far."""
        size, literals = len(room.variables), list(emptied.is_empty.values())
        solver = LexicographicSolver(
            room.model,
            [*room.variables, *literals],
            self.seed,
            lambda values: [*room.hint(values[:size]), *zip(literals, values[size:], strict=True)],
        )
        counts = None if best is None else encode(self.instance, best, layers)
        if counts is not None:
            values = room.values(counts)
            solver.hint([*room.hint(values), *zip(literals, emptied.values(values), strict=True)])
        return solver

    def _emptied(self, room: RoomModel) -> EmptiedNodes:
        emptied = EmptiedNodes(room, self._worth)
        emptied.limit_emptied(self._in_use, self.situation.most_nodes)
        limits = self.situation.limits
        usual = int(limits.of_node.max(initial=0))
        for node in np.flatnonzero(limits.of_node < usual).tolist():
            emptied.limit_departures(node, int(limits.of_node[node]))
        for name, most in (limits.of_namespace or {}).items():
            emptied.limit_namespace(name, most)
        return emptied

    def _cost(self, group: int) -> int:
        pod = self.instance.groups[group].pods[0]
        return _HARM * (pod in self._harmful) + self.instance.groups[group].price


class ExactSearch(General):
    """Solves, puts in order and cuts off as the search for room does; ``solution`` is the best so far.

    ``most``: no plan reaches more, in whole prices (None: not known); ``fewest``: none that reaches it takes fewer
    evictions.
    """

    def __init__(
        self,
        situation: EmptyingSituation,
        instance: Instance,
        deadline: Deadline,
        seed: int,
        solution: Solution,
        known: Known | None = None,
    ) -> None:
        """``instance``: of the whole cluster; ``solution``: what to begin with; ``known``: what is proven already."""
        super().__init__(situation.problem, instance, deadline, seed, solution.schedule)
        self.situation = situation
        self.solution = solution
        self.prices = whole_prices(situation.price)
        self.most: int | None = None if known is None else known.most
        self.fewest = 0 if known is None else known.fewest
        self._emptying = EmptyingAttempts(situation, instance, deadline, seed, self.prices, self._cuts, known)
        self._attempts = self._emptying

    @property
    def bound(self) -> float | None:
        """No plan reaches more; in real prices, None if that is not known."""
        return None if self.most is None else self.prices.real(self.most)

    def _is_general(self) -> bool:
        """Whether what is proven of the present model holds for every plan."""
        return self._is_complete and (self._layers == 0 or self._layers >= self._most_moves())

    def _learn(self, attempt: Attempt) -> None:
        bound = self._emptying.value_bound
        if bound is not None and self._is_general() and (self.most is None or bound < self.most):
            self.most, self.fewest = bound, 0
        if not self._is_complete or not attempt.is_help_proven:
            return
        if attempt.help[0] == self.most:
            least = attempt.evictions_bound
            if not self._is_general():  # a plan of e moves fits in e layers
                least = min(least, self._layers + 1)
            self.fewest = max(self.fewest, least)

    def _salvage(self, draft: Draft) -> None:
        part = possible_part(self.problem, draft)
        schedule = sequence(self.problem, part, self.deadline).schedule if part.moves else None
        if schedule is not None:
            self._offer(schedule)

    def _offer(self, schedule: WaveSchedule) -> bool:
        if not keeps_limits(self.situation, schedule):
            return False
        found = solution_of(self.situation, schedule)
        is_better = found.is_better_than(self.solution)
        if is_better:
            self.solution, self.best = found, schedule
        return is_better

    def _react(self, attempt: Attempt, found: Sequencing) -> bool:
        """As for room; a plan that was cut off though its pods could be named otherwise ends all proofs."""
        before = len(self._cuts)
        goes_on = super()._react(attempt, found)
        if len(self._cuts) > before and not attempt.decoded.is_unique:
            self._is_complete = False
        return goes_on

    def _is_finished(self) -> bool:
        value = round(self.solution.value * self.prices.scale)
        return self.most is not None and value >= self.most and self.solution.evictions <= self.fewest
