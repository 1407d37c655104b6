"""I19: stop means stop."""

from __future__ import annotations

from collections.abc import Sequence

from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.trace import Event, ProcessEvent, Request, Violation, WorldEvent
from tests.soak.world.truth import Truth

STOP_SECONDS = 1.0


class Stopping(Checker):
    """I19."""

    name = "I19"
    sentence = (
        "After kill switch, SIGTERM, lost lease or revoked permission: at most the request already on the wire; no "
        "eviction later than 1 s. A dead process sends nothing at all."
    )
    interests = (ProcessEvent, WorldEvent, Request)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._stopped: dict[str, float] = {}
        self._dead: dict[str, float] = {}
        self._marked: float | None = None

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Who was told to stop, and who goes on."""
        if isinstance(event, ProcessEvent):
            self._told(event)
            return ()
        if isinstance(event, WorldEvent) and event.kind.startswith("ledger "):
            self._marked = event.t if event.kind == "ledger marked" else None
            self.bites()
        if not isinstance(event, Request):
            return ()
        if event.process in self._dead:
            since = self._dead[event.process]
            return self.violated(
                event.t, f"{event.process} is dead since {since:.1f} and sent {event.verb} {event.resource}"
            )
        stopped = min((t for t in (self._stopped.get(event.process), self._marked) if t is not None), default=None)
        if not event.is_eviction or stopped is None or event.pause > 0:
            return ()
        if event.t - stopped <= STOP_SECONDS:
            return ()
        return self.violated(
            event.t, f"{event.name} was sent {event.t - stopped:.1f} s after {event.process} was stopped"
        )

    def _told(self, event: ProcessEvent) -> None:
        if event.kind == "stop":
            self.bites()
            self._stopped.setdefault(event.process, event.t)
        elif event.kind == "go on":
            self._stopped.pop(event.process, None)
        elif event.kind == "start":
            self._dead.pop(event.process, None)
        elif event.kind in ("kill", "end", "crash"):
            self._dead[event.process] = event.t
