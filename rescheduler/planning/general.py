"""Any-depth search: the whole question over some nodes as one model, solved, put in order, and cut where no order is.

First only the end state counts. If its best plan has no order in which every pod arrives before others depart, the
model gets layers; if filters other than room refuse it, that plan is cut off and the model is solved again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.decoding import Decoded, decode, encode, encode_draft
from rescheduler.planning.draft import Draft, Schedule
from rescheduler.planning.instance import Instance
from rescheduler.planning.problem import Problem
from rescheduler.planning.proof_state import HelpVector, Proven
from rescheduler.planning.ranking import help_stages, help_vector, helped_by, rank
from rescheduler.planning.sequencing import MOST_EVENTS_TO_PERMUTE, Sequencing, any_order, possible_part, sequence
from rescheduler.planning.solvers.layered_room_model import LayeredRoomModel
from rescheduler.planning.solvers.lexicographic import Expression, LexicographicSolver
from rescheduler.planning.solvers.room_model import RoomModel
from rescheduler.planning.trimming import trim

MOST_LAYERS = 24
MOST_CUTS = 400
# Deterministic seconds of each stage of one model, as shares of the deadline; each takes two to four real ones.
HELP_SHARE, EVICTIONS_SHARE, PRICE_SHARE = 0.22, 0.12, 0.02


@dataclass(frozen=True)
class Attempt:
    """One solved model: its plan, and what the solver proved about all plans of that model."""

    decoded: Decoded
    values: list[int]
    help: HelpVector
    evictions: int
    is_help_proven: bool
    evictions_bound: int


class General:
    """One search. ``best`` is the best schedule so far; ``proven`` holds for every allowed order of moves."""

    def __init__(
        self, problem: Problem, instance: Instance, deadline: Deadline, seed: int, best: Schedule | None = None
    ) -> None:
        """``best``: a schedule to begin with."""
        self.problem = problem
        self.instance = instance
        self.deadline = deadline
        self.seed = seed
        self.best = best
        self.proven = Proven()
        self._layers = 0
        self._cuts: list[tuple[list[int], list[int]]] = []
        self._is_complete = instance.covers_all and instance.is_exact

    def run(self) -> None:
        """Search until the best schedule is proven best, or time is over."""
        while not self.deadline.is_over():
            attempt = self._solve()
            if attempt is None:
                return
            found = self._order(attempt)
            self._learn(attempt)
            if found.schedule is not None:
                self._offer(found.schedule)
                if self._is_finished() or not self._can_learn_more(attempt):
                    return
                self._layers = min(MOST_LAYERS, self._most_moves(), max(2, 2 * self._layers))
                continue
            self._salvage(attempt.decoded.draft)
            if not self._react(attempt, found):
                return

    def _solve(self) -> Attempt | None:
        model = self._model()
        for values, relevant in self._cuts:
            model.forbid(values, relevant)
        solver = LexicographicSolver(model.model, model.variables, self.seed, model.hint)
        if self.best is not None:
            counts = encode(self.instance, self.best, self._layers)
            if counts is not None:
                solver.hint(model.hint(model.values(counts)))
        seconds = max(0.5, self.deadline.seconds)
        is_help_proven = True
        for weights in help_stages(self.problem):
            stage = solver.run(
                model.weighted_help(weights),
                maximize=True,
                deadline=self.deadline.part(0.5),
                deterministic_seconds=seconds * HELP_SHARE,
            )
            is_help_proven &= stage.is_proven and stage.value is not None
            if stage.value is None:
                return None
        self._hint_trimmed(model, solver)
        evictions = self._minimise(solver, model.evictions, model.price)
        assert solver.solution is not None
        decoded = decode(self.instance, model.counts(solver.solution))
        helped = help_vector(self.problem, decoded.draft.places)
        return Attempt(decoded, solver.solution, helped, len(decoded.draft.moves), is_help_proven, evictions)

    def _minimise(self, solver: LexicographicSolver, evictions: Expression, price: Expression) -> int:
        """Fewest evictions, then the lowest price; what is proven of evictions."""
        seconds = max(0.5, self.deadline.seconds)
        fewest = solver.run(
            evictions,
            maximize=False,
            deadline=self.deadline.part(0.6),
            deterministic_seconds=seconds * EVICTIONS_SHARE,
        )
        solver.run(price, maximize=False, deadline=self.deadline.part(0.5), deterministic_seconds=seconds * PRICE_SHARE)
        return fewest.bound or 0

    def _hint_trimmed(self, model: RoomModel, solver: LexicographicSolver) -> None:
        """Begin to minimise from the solution without its needless moves."""
        if self._layers or solver.solution is None:
            return
        draft = trim(self.problem, decode(self.instance, model.counts(solver.solution)).draft)
        counts = encode_draft(self.instance, draft)
        if counts is not None:
            solver.hint(model.hint(model.values(counts)))

    def _model(self) -> RoomModel:
        limits = self.problem.limits
        if self._layers:
            return LayeredRoomModel(self.instance, limits, self._layers)
        return RoomModel(self.instance, limits)

    def _order(self, attempt: Attempt) -> Sequencing:
        return sequence(self.problem, attempt.decoded.draft, self.deadline, hint=attempt.decoded.order)

    def _learn(self, attempt: Attempt) -> None:
        """Turn what the solver proved of its model into what holds for every plan."""
        if not self._is_complete or not attempt.is_help_proven:
            return
        is_all = self._layers == 0 or self._layers >= self._most_moves()
        if is_all and attempt.help != self.proven.most_help:
            self.proven = Proven(attempt.help, 0, attempt.help)
        if attempt.help == self.proven.for_help:
            bound = attempt.evictions_bound
            if not is_all:  # a plan of e moves fits in e layers
                bound = min(bound, self._layers + 1)
            self.proven = replace(self.proven, least_evictions=max(bound, self.proven.least_evictions))

    def _salvage(self, draft: Draft) -> None:
        """Keep what of a draft without an order can be done, less the moves that nobody needs then."""
        part = possible_part(self.problem, draft)
        if part.places and (self.best is None or len(part.places) >= len(self.best.places)):
            for smaller in (trim(self.problem, part), part):
                schedule = sequence(self.problem, smaller, self.deadline).schedule
                if schedule is not None:
                    self._offer(schedule)
                    return

    def _offer(self, schedule: Schedule) -> None:
        if self.best is None or rank(self.problem, schedule) > rank(self.problem, self.best):
            self.best = schedule

    def _is_finished(self) -> bool:
        return self.best is not None and self.proven.is_best(helped_by(self.problem, self.best), self.best.evictions)

    def _can_learn_more(self, attempt: Attempt) -> bool:
        """Whether more layers could still better the plan or its proof."""
        return attempt.is_help_proven and 0 < self._layers < min(MOST_LAYERS, self._most_moves())

    def _most_moves(self) -> int:
        most = sum(len(group.pods) for group in self.instance.groups)
        limit = self.problem.limits.max_evictions
        return most if limit is None else min(most, limit)

    def _react(self, attempt: Attempt, found: Sequencing) -> bool:
        """After a plan without an order: cut it off, or ask for an order in the model; False if neither helps."""
        is_tangled = any(map(self.problem.is_entangled, (*attempt.decoded.draft.moves, *attempt.decoded.draft.places)))
        if len(self._cuts) >= MOST_CUTS:
            return False
        if is_tangled and self._is_refused_by_filters(attempt.decoded.draft):
            self._cuts.append((attempt.values, self._tangled_positions()))
            return True
        if self._layers == 0:
            self._layers = min(2, self._most_moves())
            return self._layers > 0
        if not is_tangled:
            return False
        self._is_complete &= found.is_impossible and attempt.decoded.is_unique
        self._cuts.append((attempt.values, list(range(len(self.instance.groups) + self.instance.size))))
        return True

    def _is_refused_by_filters(self, draft: Draft) -> bool:
        """Whether the filters other than room allow no order of the moves and arrivals that bear on each other."""
        groups, kinds = self._tangle
        pods = {pod for number in groups for pod in self.instance.groups[number].pods}
        pods |= {pod for demand in self.instance.demands if demand.kind in kinds for pod in demand.pods}
        part = Draft(
            {pod: node for pod, node in draft.moves.items() if pod in pods},
            {pod: node for pod, node in draft.places.items() if pod in pods},
        )
        if len(part.moves) + len(part.places) > MOST_EVENTS_TO_PERMUTE:
            return False
        order, was_complete = any_order(Arrivals(self.problem, ignores_room=True), part, self.deadline)
        return order is None and was_complete

    @cached_property
    def _tangle(self) -> tuple[frozenset[int], frozenset[int]]:
        """Groups and kinds of pods that watch others or are watched."""
        kinds = {n for n, kind in enumerate(self.instance.kinds) if self.problem.is_entangled(kind.pod)}
        groups = {n for n, group in enumerate(self.instance.groups) if group.kind in kinds}
        for number in tuple(kinds):
            groups.update(self.instance.kinds[number].watched_groups)
            kinds.update(self.instance.kinds[number].watched_kinds)
        kinds.update(self.instance.groups[number].kind for number in groups)
        return frozenset(groups), frozenset(kinds)

    def _tangled_positions(self) -> list[int]:
        """Positions, among groups and then (kind, node) pairs, of the counts that filters other than room look at."""
        groups, kinds = self._tangle
        pairs = [number for number, kind in enumerate(self.instance.kinds) for _ in kind.nodes]
        offset = len(self.instance.groups)
        return [*sorted(groups), *(offset + position for position, kind in enumerate(pairs) if kind in kinds)]
