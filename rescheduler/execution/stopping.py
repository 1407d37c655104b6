"""Why a plan stops before its end, and waiting that never outlasts the time a plan has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rescheduler.execution.pacing import RequestPace
from rescheduler.extension_points import Clock, ExecutionError

FIRST_PAUSE_SECONDS = 0.03
LONGEST_PAUSE_SECONDS = 1.0
SHORTEST_PAUSE_SECONDS = 1e-6
"""What is shorter is no pause: added to a clock that has run for long it may change nothing."""


class PlanStoppedError(ExecutionError):
    """The world is not as the plan expects it; the text says where and what can be done."""


class PlanOvertakenError(PlanStoppedError):
    """Something has come in the way of moves of this plan, and of nothing else: what is left may be planned again."""


class NoRoomError(PlanStoppedError):
    """The ledger takes no more open evictions until some are over."""


class MoveFailedError(PlanStoppedError):
    """A replacement does not work where it is; its outcome is told already."""


class RunEnding:
    """An order that ends a plan at once: not even what it has begun is waited for.

    ``ask``: why the plan is to end; None: it is not.
    """

    def __init__(self, ask: Callable[[], str | None]) -> None:
        self._ask = ask
        self._has_come = False

    def check(self) -> None:
        """Raise PlanStoppedError if the plan is to end, once: what comes after that is its end."""
        reason = None if self._has_come else self._ask()
        if reason is not None:
            self._has_come = True
            raise PlanStoppedError(f"stopped: {reason}; nothing more is evicted")

    def came(self) -> bool:
        """Whether the plan was ended so; from now on nothing more is asked."""
        came = self._has_come or self._ask() is not None
        self._has_come = True
        return came


class Waiter:
    """Polls with growing pauses; ``keep_up`` is called before every look, to renew what must not run out.

    ``pace`` makes pauses longer where much was asked of the API server.
    """

    def __init__(
        self,
        clock: Clock,
        timeout_seconds: float,
        keep_up: Callable[[], None] = lambda: None,
        pace: RequestPace | None = None,
    ) -> None:
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._ends_at = clock.monotonic() + timeout_seconds
        self._keep_up = keep_up
        self._pace = pace or RequestPace()
        self._asked_before = 0

    @property
    def is_hurried(self) -> bool:
        """Whether so much was asked of the API server that whatever can wait should."""
        return self._pace.is_hurried

    @property
    def now(self) -> float:
        """Seconds on the clock that never jumps."""
        return self._clock.monotonic()

    def polls(self, seconds: float | None = None) -> Iterator[None]:
        """Yield for each look, until ``seconds`` have passed (None: as long as the plan has time).

        Raises PlanStoppedError when the plan's time is over.
        """
        began = self._clock.monotonic()
        pause = FIRST_PAUSE_SECONDS
        while True:
            self._keep_up()
            asked = self._pace.asked()
            yield
            now = self._clock.monotonic()
            if seconds is not None and now - began >= seconds:
                return
            self.check_time()
            self._rest(min(max(pause, self._pace.pause(asked)), max(self._ends_at - now, 0.0)))
            pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)

    def pause(self, seconds: float) -> None:
        """Wait, keeping up; raises PlanStoppedError at once if the plan has not that much time left.

        Never shorter than a clock can show: a moment that rounding puts just after now would be waited for for ever.
        """
        self.require_time(seconds)
        self._keep_up()
        self._rest(max(seconds, SHORTEST_PAUSE_SECONDS))

    def between_looks(self, seconds: float) -> None:
        """Wait before the next look, longer where much was asked of the API server; raises PlanStoppedError."""
        paced = self._pace.pause(self._asked_before)
        self.pause(max(seconds, paced))
        self._asked_before = self._pace.asked()

    def _rest(self, seconds: float) -> None:
        """Sleep, keeping up in between; whoever calls it has done so right before, or does right after."""
        until = self._clock.monotonic() + seconds
        self._clock.sleep(min(seconds, LONGEST_PAUSE_SECONDS))
        while (left := until - self._clock.monotonic()) > SHORTEST_PAUSE_SECONDS:
            self._keep_up()
            self._clock.sleep(min(left, LONGEST_PAUSE_SECONDS))

    def has_time(self, seconds: float) -> bool:
        """Whether the plan has that much time left."""
        return self._clock.monotonic() + seconds <= self._ends_at

    def require_time(self, seconds: float) -> None:
        """Raise PlanStoppedError if the plan has not that much time left."""
        if not self.has_time(seconds):
            raise PlanStoppedError(
                f"the next step is {seconds:.0f} s away, more than the plan's time allows; {self._advice}"
            )

    def check(self) -> None:
        """Keep up between two steps that wait for nothing; raises PlanStoppedError when the plan is to end."""
        self._keep_up()
        self.check_time()

    def check_time(self) -> None:
        """Raise PlanStoppedError when the plan's time is over."""
        if self._clock.monotonic() >= self._ends_at:
            raise PlanStoppedError(f"the plan was not through after {self._timeout_seconds:.0f} s; {self._advice}")

    @property
    def _advice(self) -> str:
        return "apply it again to go on, or give it more time with --timeout"
