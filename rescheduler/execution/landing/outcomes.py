"""What became of each move and placement, kept while a plan is carried out and told at its end."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from rescheduler.model.plan.plan import (
    Move,
    MoveOutcome,
    OutcomeKind,
    PlacementOutcome,
    Plan,
    PlannedPlacement,
    PlanResult,
    PodReference,
)


def landing(planned: str, actual: str) -> OutcomeKind:
    """Whether a pod is where the plan said."""
    return OutcomeKind.LANDED if planned == actual else OutcomeKind.LANDED_ELSEWHERE


class Outcomes:
    """One outcome for each move and placement of a plan; what nobody told of counts as not attempted."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.message = ""
        self.warnings: list[str] = []
        self._planned = {move.pod: move.to_node for move in plan.moves}
        self._moves: dict[PodReference, tuple[OutcomeKind, str | None, str]] = {}
        self._placements: dict[PodReference, tuple[OutcomeKind, str | None, str]] = {}

    def of_move(self, move: Move, kind: OutcomeKind, landed_on: str | None = None, message: str = "") -> None:
        """Tell what became of a move."""
        self._moves[move.pod] = (kind, landed_on, message)

    def landed(self, move: Move, node: str, message: str) -> None:
        """Tell where a moved pod landed; it is judged by the plan as it was made, however it was mended since."""
        self.of_move(move, landing(self._planned[move.pod], node), node, message)

    def of_placement(
        self, placement: PlannedPlacement, kind: OutcomeKind, landed_on: str | None = None, message: str = ""
    ) -> None:
        """Tell what became of a placement."""
        self._placements[placement.pod] = (kind, landed_on, message)

    def forget(self, plan: Plan) -> None:
        """Forget what was told of this plan or part of it, to sort it out anew."""
        for move in plan.moves:
            self._moves.pop(move.pod, None)
        for item in plan.placements:
            self._placements.pop(item.pod, None)

    def is_told(self, item: Move | PlannedPlacement) -> bool:
        """Whether an outcome is known already."""
        known = self._moves if isinstance(item, Move) else self._placements
        return item.pod in known

    def message_of(self, move: Move) -> str:
        """What was told of a move; "" where nothing was."""
        return self._moves[move.pod][2] if move.pod in self._moves else ""

    @property
    def landed_on(self) -> Mapping[PodReference, str]:
        """Nodes of the replacements that are known to have landed, by the pods they replace."""
        return {pod: node for pod, (_, node, _) in self._moves.items() if node is not None}

    def result(self) -> PlanResult:
        """The plan with all outcomes."""
        unknown = (OutcomeKind.NOT_ATTEMPTED, None, "")
        plan = self.plan
        return PlanResult(
            snapshot=plan.snapshot,
            objectives=plan.objectives,
            moves=tuple(_move_outcome(move, *self._moves.get(move.pod, unknown)) for move in plan.moves),
            placements=tuple(
                _placement_outcome(item, *self._placements.get(item.pod, unknown)) for item in plan.placements
            ),
            refusals=plan.refusals,
            warnings=(*plan.warnings, *self.warnings),
            message=self.message,
            waves=plan.waves,
        )


def _move_outcome(move: Move, outcome: OutcomeKind, landed_on: str | None, message: str) -> MoveOutcome:
    return MoveOutcome(**structs.asdict(move), outcome=outcome, landed_on=landed_on, message=message)


def _placement_outcome(
    placement: PlannedPlacement, outcome: OutcomeKind, landed_on: str | None, message: str
) -> PlacementOutcome:
    return PlacementOutcome(**structs.asdict(placement), outcome=outcome, landed_on=landed_on, message=message)
