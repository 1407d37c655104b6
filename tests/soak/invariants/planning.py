"""I28: a planner that fails moves nothing."""

from __future__ import annotations

from collections.abc import Sequence

from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.trace import Event, PlanEvent, ProcessEvent, Request, Violation
from tests.soak.world.truth import Truth


class SolverFailure(Checker):
    """I28."""

    name = "I28"
    sentence = (
        "Timeout, infeasible, exception, out of memory => empty plan and a reason, and the process lives on. Nothing "
        "is sent that the plan in hand does not name."
    )
    interests = (PlanEvent, ProcessEvent, Request)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._plans: dict[str, PlanEvent] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Plans, sends and crashes."""
        if isinstance(event, PlanEvent):
            self._plans[event.process] = event
            self.bites(event.planner == "broken" or not event.plan.moves)
            return ()
        if isinstance(event, ProcessEvent) and event.kind == "crash":
            return self.violated(event.t, f"{event.process} died of an exception: {event.detail}")
        if not isinstance(event, Request) or not event.is_eviction:
            return ()
        given = self._plans.get(event.process)
        if given is not None and any(move.pod.uid == event.uid for move in given.plan.moves):
            return ()
        return self.violated(event.t, f"{event.name} was sent, and the plan in hand does not name it")
