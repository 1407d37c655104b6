"""One model of the whole question, built, solved and read: the step that the any-depth search repeats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.decoding import DecodedDraft, decode, encode, encode_draft
from rescheduler.planning.room_model.instance import Instance
from rescheduler.planning.room_model.ranking import HelpVector, help_stages, help_vector, helped_by
from rescheduler.planning.room_model.trimming import trim
from rescheduler.planning.solvers.layered_room_model import LayeredRoomModel
from rescheduler.planning.solvers.lexicographic_solver import Expression, LexicographicSolver, StageResult
from rescheduler.planning.solvers.room_model import RoomModel

# Deterministic seconds of each stage of one model, as shares of the deadline; each takes two to four real ones.
HELP_SHARE, EVICTIONS_SHARE, PRICE_SHARE = 0.22, 0.12, 0.02
CHEAPER_SHARE = 0.3  # of the one stage there is where everybody is helped already


@dataclass(frozen=True)
class Attempt:
    """One solved model: its plan, and what the solver proved about all plans of that model."""

    decoded: DecodedDraft
    values: list[int]
    help: HelpVector
    evictions: int
    is_help_proven: bool
    evictions_bound: int
    is_proven: bool


@dataclass(frozen=True)
class Refuted:
    """The model has no plan that is better than the one to beat."""


@dataclass
class Attempts:
    """Builds and solves models of one instance. ``cuts``: (values, positions) that must not come again."""

    problem: Problem
    instance: Instance
    deadline: Deadline
    seed: int
    cuts: list[tuple[list[int], list[int]]] = field(default_factory=list)
    effort: float = 1.0

    def solve(self, layers: int, best: WaveSchedule | None, floor: int) -> Attempt | Refuted | None:
        """The best plan of the model with so many layers (0: the end state only); None if nothing came of it.

        Where ``best`` helps everybody, only plans with fewer evictions count. ``floor``: fewer are known to be too few.
        """
        model = self._model(layers)
        for values, relevant in self.cuts:
            model.forbid(values, relevant)
        solver = LexicographicSolver(model.model, model.variables, self.seed, model.hint)
        counts = None if best is None else encode(self.instance, best, layers)
        if counts is not None:
            solver.hint(model.hint(model.values(counts)))
        if self.can_only_be_cheaper(best):
            assert best is not None
            model.help_everybody(floor, best.evictions - 1)
            is_help_proven, share = True, CHEAPER_SHARE
        else:
            helped = self._help(model, solver)
            if helped is None:
                return None
            is_help_proven, share = helped, EVICTIONS_SHARE
            self._hint_trimmed(model, solver, layers)
        return self._read(model, solver, self._minimise(solver, model.evictions, model.price, share), is_help_proven)

    def can_only_be_cheaper(self, best: WaveSchedule | None) -> bool:
        """Whether a plan helps all that it should whatever the evictions."""
        problem = self.problem
        if best is None or problem.pending_groups.evictions_per_pod is not None:
            return False
        return helped_by(problem, best) == help_vector(problem, problem.pending)

    def _read(
        self, model: RoomModel, solver: LexicographicSolver, fewest: StageResult, is_help_proven: bool
    ) -> Attempt | Refuted | None:
        if fewest.is_infeasible:
            return Refuted()
        if solver.solution is None:
            return None
        decoded = decode(self.instance, model.counts(solver.solution))
        helped = help_vector(self.problem, decoded.draft.places)
        return Attempt(
            decoded,
            solver.solution,
            helped,
            len(decoded.draft.moves),
            is_help_proven,
            fewest.bound or 0,
            is_help_proven and fewest.is_proven,
        )

    def _help(self, model: RoomModel, solver: LexicographicSolver) -> bool | None:
        """Help as much as can be; whether that is proven, None if nothing was found."""
        is_proven = True
        for goal, kept in self._help_goals(model):
            stage = solver.run(
                goal,
                maximize=True,
                deadline=self.deadline.part(0.5),
                deterministic_seconds=self._seconds * HELP_SHARE * self.effort,
                kept=kept,
            )
            is_proven &= stage.is_proven and stage.value is not None
            if stage.value is None:
                return None
        return is_proven

    def _help_goals(self, model: RoomModel) -> Iterator[tuple[Expression, Expression | None]]:
        """What to maximise, one after the other, and what of it to keep (None: its value).

        With a worth the least important pods are helped as far as that is worth its evictions; of equal worth more are.
        """
        evictions_per_pod, levels = self.problem.pending_groups.evictions_per_pod, self.problem.pending_groups.levels
        if evictions_per_pod is None or not levels:
            yield from ((model.weighted_help(weights), None) for weights in help_stages(self.problem))
            return
        for weights in help_stages(self.problem):
            rest = {level: weight for level, weight in weights.items() if level != levels[-1]}
            if rest:
                yield model.weighted_help(rest), None
        yield model.worth(levels[-1], evictions_per_pod)

    def _minimise(
        self, solver: LexicographicSolver, evictions: Expression, price: Expression, share: float = EVICTIONS_SHARE
    ) -> StageResult:
        """Fewest evictions, then the lowest price; what is proven of evictions."""
        fewest = solver.run(
            evictions,
            maximize=False,
            deadline=self.deadline.part(0.8),
            deterministic_seconds=self._seconds * share * self.effort,
        )
        if fewest.value is not None:
            part = self.deadline.part(0.5)
            solver.run(price, maximize=False, deadline=part, deterministic_seconds=self._seconds * PRICE_SHARE)
        return fewest

    def _hint_trimmed(self, model: RoomModel, solver: LexicographicSolver, layers: int) -> None:
        """Begin to minimise from the solution without its needless moves."""
        if layers or solver.solution is None:
            return
        draft = trim(self.problem, decode(self.instance, model.counts(solver.solution)).draft)
        counts = encode_draft(self.instance, draft)
        if counts is not None:
            solver.hint(model.hint(model.values(counts)))

    def _model(self, layers: int) -> RoomModel:
        limits = self.problem.remaining
        return LayeredRoomModel(self.instance, limits, layers) if layers else RoomModel(self.instance, limits)

    @property
    def _seconds(self) -> float:
        return max(0.5, self.deadline.seconds)
