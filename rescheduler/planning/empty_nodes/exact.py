"""The whole question as one model, for clusters small enough: most value, then fewest evictions, then least harm."""

from __future__ import annotations

import numpy as np

from rescheduler.planning.deadline import Deadline
from rescheduler.planning.decoding import decode, encode
from rescheduler.planning.draft import Draft, Schedule
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.empty_nodes.solution import Solution, keeps_limits, solution_of
from rescheduler.planning.empty_nodes.whole_prices import whole_prices
from rescheduler.planning.general import HELP_SHARE, Attempt, General
from rescheduler.planning.instance import Instance
from rescheduler.planning.sequencing import Sequencing, possible_part, sequence
from rescheduler.planning.solvers.emptied_nodes_model import EmptiedNodes
from rescheduler.planning.solvers.lexicographic import LexicographicSolver
from rescheduler.planning.solvers.room_model import RoomModel

_HARM = 1000  # above the price of any move


class ExactSearch(General):
    """Solves, puts in order and cuts off as the search for room does; ``solution`` is the best so far.

    ``most``: no plan reaches more, in whole prices (None: not known); ``fewest``: none that reaches it takes fewer
    evictions.
    """

    def __init__(
        self, situation: Situation, instance: Instance, deadline: Deadline, seed: int, solution: Solution
    ) -> None:
        """``instance`` is of the whole cluster; ``solution`` is what to begin with."""
        super().__init__(situation.problem, instance, deadline, seed, solution.schedule)
        self.situation = situation
        self.solution = solution
        self.prices = whole_prices(situation.price)
        self.most: int | None = None
        self.fewest = 0
        local = {node: number for number, node in enumerate(instance.nodes)}
        chosen = np.flatnonzero(situation.could_be_emptied | situation.is_empty).tolist()
        self._worth = {local[node]: int(self.prices.price[node]) for node in chosen}
        self._harmful = frozenset(situation.harmful.tolist())
        self._worth_before = int(self.prices.price[situation.is_empty].sum())

    @property
    def bound(self) -> float | None:
        """No plan reaches more; in real prices, None if that is not known."""
        return None if self.most is None else self.prices.real(self.most)

    def _solve(self) -> Attempt | None:
        room = self._model()
        emptied = self._emptied(room)
        for values, relevant in self._cuts:
            room.forbid(values, relevant)
        size = len(room.variables)
        literals = list(emptied.is_empty.values())
        solver = LexicographicSolver(
            room.model,
            [*room.variables, *literals],
            self.seed,
            lambda values: [*room.hint(values[:size]), *zip(literals, values[size:], strict=True)],
        )
        self._hint(room, emptied, solver)
        seconds = max(0.5, self.deadline.seconds)
        value = solver.run(
            emptied.value, maximize=True, deadline=self.deadline.part(0.6), deterministic_seconds=seconds * HELP_SHARE
        )
        if value.value is None:
            return None
        if value.bound is not None and self._is_general():
            self._note_bound(value.bound - self._worth_before)
        cost = emptied.cost([self._cost(number) for number in range(len(self.instance.groups))])
        evictions = self._minimise(solver, room.evictions, cost)
        assert solver.solution is not None
        values = solver.solution[:size]
        decoded = decode(self.instance, room.counts(values))
        return Attempt(
            decoded,
            values,
            (value.value - self._worth_before,),
            len(decoded.draft.moves),
            value.is_proven,
            evictions,
        )

    def _emptied(self, room: RoomModel) -> EmptiedNodes:
        emptied = EmptiedNodes(room, self._worth)
        limits = self.situation.limits
        usual = int(limits.of_node.max(initial=0))
        for node in np.flatnonzero(limits.of_node < usual).tolist():
            emptied.limit_departures(node, int(limits.of_node[node]))
        for name, most in (limits.of_namespace or {}).items():
            emptied.limit_namespace(name, most)
        return emptied

    def _hint(self, room: RoomModel, emptied: EmptiedNodes, solver: LexicographicSolver) -> None:
        counts = encode(self.instance, self.solution.schedule, self._layers)
        if counts is not None:
            values = room.values(counts)
            literals = zip(emptied.is_empty.values(), emptied.values(values), strict=True)
            solver.hint([*room.hint(values), *literals])

    def _cost(self, group: int) -> int:
        pod = self.instance.groups[group].pods[0]
        return _HARM * (pod in self._harmful) + self.instance.groups[group].price

    def _is_general(self) -> bool:
        """Whether what is proven of the present model holds for every plan."""
        return self._is_complete and (self._layers == 0 or self._layers >= self._most_moves())

    def _note_bound(self, bound: int) -> None:
        if self.most is None or bound < self.most:
            self.most, self.fewest = bound, 0

    def _learn(self, attempt: Attempt) -> None:
        if not self._is_complete or not attempt.is_help_proven:
            return
        if self._is_general() or attempt.help[0] == self.most:
            bound = attempt.evictions_bound
            if not self._is_general():  # a plan of e moves fits in e layers
                bound = min(bound, self._layers + 1)
            if attempt.help[0] == self.most:
                self.fewest = max(self.fewest, bound)

    def _salvage(self, draft: Draft) -> None:
        part = possible_part(self.problem, draft)
        schedule = sequence(self.problem, part, self.deadline).schedule if part.moves else None
        if schedule is not None:
            self._offer(schedule)

    def _offer(self, schedule: Schedule) -> None:
        if not keeps_limits(self.situation, schedule):
            return
        found = solution_of(self.situation, schedule)
        if found.is_better_than(self.solution):
            self.solution = found

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
