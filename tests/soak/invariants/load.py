"""I26: what we ask of the API server."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.trace import Event, Request, Violation
from tests.soak.world.truth import Truth

MINUTE_REQUESTS = 600
ATTEMPTS = 3
BACK_OFF_SECONDS = 30.0
LAST_STEP_SECONDS = 1.0
"""A pod that is out serves on, and a budget that counts its replacement lets it go a moment later."""
PATIENT = ("TooManyRequests", "BudgetExhausted", "BudgetNotObserved")


class Load(Checker):
    """I26. An attempt is a dry run with the eviction that may follow it."""

    name = "I26"
    sentence = (
        "<= 10 requests/s on average over a minute; <= 3 attempts per pod and plan; after a 429 >= 30 s before the "
        "same pod is asked for again. Of a pod that is out: >= 1 s, as long as its replacement has time."
    )
    interests = (Request,)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._recent: defaultdict[str, deque[float]] = defaultdict(deque)
        self._attempts: defaultdict[tuple[str, int, str], int] = defaultdict(int)
        self._last: dict[tuple[str, str], Request] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each request."""
        if not isinstance(event, Request) or event.resource == "audit":
            return ()
        self.bites()
        whys = [*self._rate(event), *self._patience(event)]
        return [found for why in whys for found in self.violated(event.t, f"{event.process} {why}")]

    def _rate(self, event: Request) -> Iterator[str]:
        recent = self._recent[event.process]
        recent.append(event.t)
        while recent[0] < event.t - 60.0:
            recent.popleft()
        if len(recent) > MINUTE_REQUESTS:
            recent.clear()
            yield f"sent more than {MINUTE_REQUESTS} requests within a minute"

    def _patience(self, event: Request) -> Iterator[str]:
        if event.resource != "pods/eviction":
            return
        before = self._last.get((event.process, event.uid))
        self._last[event.process, event.uid] = event
        if before is not None and before.answer in PATIENT:
            since = event.t - (before.answered_at or before.t)
            least = LAST_STEP_SECONDS if event.is_last_step else BACK_OFF_SECONDS
            if since < least - 0.01 and before.plan == event.plan:
                yield f"asked for {event.name} again {since:.1f} s after {before.answer}"
        if event.is_last_step:
            return
        if event.dry_run or before is None or not before.dry_run or before.plan != event.plan:
            key = (event.process, event.plan, event.uid)
            self._attempts[key] += 1
            if self._attempts[key] > ATTEMPTS:
                yield f"asked for {event.name} {self._attempts[key]} times in plan {event.plan}"
