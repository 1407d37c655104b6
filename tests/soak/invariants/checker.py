"""What every checker has: the invariant's name, the exact sentence it checks, and a count of what it had to check."""

from __future__ import annotations

from collections.abc import Sequence

from tests.soak.invariants.history import History
from tests.soak.trace import Event, Violation
from tests.soak.world.truth import Truth


class Checker:
    """Looks at one invariant. ``history`` has been told of an event before any checker is."""

    name: str
    sentence: str
    interests: tuple[type, ...] = ()

    def __init__(self, history: History) -> None:
        self.history = history
        self.guards: dict[str, int] = {self.name: 0}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Judge one event."""
        return ()

    def at_end(self, truth: Truth) -> Sequence[Violation]:
        """Judge the run as a whole."""
        return ()

    def bites(self, times: int = 1) -> None:
        """There was something to check."""
        self.guards[self.name] += times

    def violated(self, t: float, message: str) -> list[Violation]:
        """The invariant did not hold."""
        return [Violation(t, self.name, message)]
