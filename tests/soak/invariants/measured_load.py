"""I13 to I15: nothing moves by load that was not measured, or that is not true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.trace import Event, ProcessEvent, Request, Violation, WorldEvent
from tests.soak.world.lies import INTERVAL_SECONDS, LIES, LYING, TRUE
from tests.soak.world.truth import Truth

BY_LOAD = ("SpreadLoad",)
FEWEST_SAMPLES = 3
SLACK_SECONDS = 5.0


class MeasuredLoad(Checker):
    """I14. What the metrics API truly said is known here; a process has to find out from its answers alone."""

    name = "I14"
    sentence = (
        "No usage-based eviction by a process that was not given 3 samples yet, nor while the source is down, lies, "
        "gives no numbers, contradicts itself or dates samples wrongly, from when that can be known on."
    )
    interests = (Request, WorldEvent, ProcessEvent)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._lie: WorldEvent | None = None
        self._started: dict[str, float] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction that rests on load, where it is measured."""
        if isinstance(event, WorldEvent):
            if event.kind in (LYING, TRUE):
                self._lie = event if event.kind == LYING else None
            return ()
        if isinstance(event, ProcessEvent):
            if event.kind == "start":
                self._started[event.process] = event.t
            return ()
        if not isinstance(event, Request) or not event.is_eviction or not truth.run.is_measured:  # type: ignore[attr-defined]
            return ()
        send = self.history.send_of(event)
        move = self.history.moves.get((event.process, event.uid))
        if send.in_gap or move is None or move.objective not in BY_LOAD:
            return ()
        self.bites()
        return [
            found for why in self._whys(send) for found in self.violated(send.t, f"{send.key} was sent by load {why}")
        ]

    def _whys(self, send: Send) -> Iterator[str]:
        lived = send.t - self._started.get(send.request.process, 0.0)
        if lived < (FEWEST_SAMPLES - 1) * INTERVAL_SECONDS:
            yield f"{lived:.0f} s after its process began to measure"
        lie = next((item for item in LIES if self._lie is not None and item.name == self._lie.object), None)
        if lie is not None and self._lie is not None:
            since = send.t - self._lie.t
            if lie.noticed_after + SLACK_SECONDS <= since < lie.until:
                yield f"though the metrics API is wrong since {since:.0f} s: {lie.name} ({lie.fault})"
