"""Models of the whole question of emptying nodes: most value, then fewest evictions, then least harm and price."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.planning.attempts import HELP_SHARE, Attempt, Attempts, Refuted
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.decoding import decode, encode
from rescheduler.planning.draft import Schedule
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.empty_nodes.whole_prices import WholePrices
from rescheduler.planning.instance import Instance
from rescheduler.planning.solvers.emptied_nodes_model import EmptiedNodes
from rescheduler.planning.solvers.lexicographic import LexicographicSolver
from rescheduler.planning.solvers.room_model import RoomModel

_HARM = 1000  # above the price of any move


class Known(NamedTuple):
    """What is proven before: no plan reaches more than ``most``, in whole prices, and none that does is shorter."""

    most: int
    fewest: int


class EmptyingAttempts(Attempts):
    """Builds and solves such models of one instance. ``value_bound``: of the last one, in whole prices."""

    def __init__(
        self,
        situation: Situation,
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
        self._worth_before = int(prices.price[situation.is_empty].sum())
        self._harmful = frozenset(situation.harmful.tolist())

    def can_only_be_cheaper(self, best: Schedule | None) -> bool:  # noqa: ARG002 - nobody is helped here
        """A plan may always empty more."""
        return False

    def solve(self, layers: int, best: Schedule | None, floor: int) -> Attempt | Refuted | None:  # noqa: ARG002
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
        self, room: RoomModel, emptied: EmptiedNodes, best: Schedule | None, layers: int
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
