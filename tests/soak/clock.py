"""True time, on which any number of processes live in one thread, and each process's own idea of it."""

from __future__ import annotations

from collections.abc import Callable

import greenlet

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.extension_points import Clock

MOST_LOOKS = 1000
"""Of a plan; most take a few hundred."""
HOURS_LATER = 36_000.0
MOST_SLEEPS = 20_000
"""In a row without any time going by: more is a process that wakes and sleeps for ever."""


class StandstillError(RuntimeError):
    """A process sleeps again and again, and no time goes by."""


class Killed(BaseException):
    """The process is dead: nothing that it still tries has any effect."""


class WorldClock(SimulatedClock):
    """True time. Called from a process, ``sleep`` lets all others live until it is over."""

    def __init__(self, start: float) -> None:
        super().__init__(start)
        self._main = greenlet.getcurrent()
        self._slept_at = -1.0
        self._sleeps = 0

    def sleep(self, seconds: float) -> None:
        """Let time pass; what falls due meanwhile happens at its own time, other processes among it."""
        current = greenlet.getcurrent()
        if current is self._main:
            if not self._is_running:  # a request that takes effect by itself waits for nothing
                super().sleep(seconds)
            return
        self._sleeps = self._sleeps + 1 if self._elapsed == self._slept_at else 0
        self._slept_at = self._elapsed
        if self._sleeps > MOST_SLEEPS:
            raise StandstillError(f"{MOST_SLEEPS} sleeps in a row at {self._elapsed!r} s")
        is_over = False

        def wake() -> None:
            nonlocal is_over
            is_over = True
            current.switch()

        self.after(seconds, lambda: None if is_over or current.dead else wake())
        # Not an assertion about time: whoever switches here without that alarm has come to kill (Thread.kill).
        self._main.switch()

    @property
    def is_in_process(self) -> bool:
        """Whether a process is running right now, rather than the world."""
        return greenlet.getcurrent() is not self._main


class Thread:
    """The one thread of a simulated process: it runs on the world's clock from its start to its end or death."""

    def __init__(
        self, clock: WorldClock, body: Callable[[], None], on_end: Callable[[BaseException | None], None]
    ) -> None:
        """``on_end`` is told what got out of ``body``: None, or an exception; ``Killed`` is not told."""
        self._clock = clock
        self._on_end = on_end
        self._greenlet = greenlet.greenlet(lambda: self._run(body))
        clock.after(0.0, self._begin)

    def _begin(self) -> None:
        if not self._greenlet.dead:
            self._greenlet.switch()

    def _run(self, body: Callable[[], None]) -> None:
        error: BaseException | None = None
        try:
            body()
        except (Killed, greenlet.GreenletExit):
            return
        except BaseException as found:  # noqa: BLE001 - whatever it is, the checkers want to know of it
            error = found
        self._on_end(error)

    def kill(self) -> None:
        """Unwind it at once, wherever it is; called from outside of it."""
        if not self._greenlet.dead:
            self._greenlet.throw(Killed)

    @property
    def is_over(self) -> bool:
        """Whether it has ended or died."""
        return bool(self._greenlet.dead)


class ProcessClock(Clock):
    """What one process believes of time: its wall clock may be wrong and may jump, its monotonic clock never does.

    ``is_dead`` is asked at every look, so that a dead process notices at once.
    """

    def __init__(self, world: WorldClock, is_dead: Callable[[], bool], offset: float = 0.0) -> None:
        self.offset = offset
        self._world = world
        self._is_dead = is_dead
        self._started = world.monotonic()

    def now(self) -> float:
        """Seconds since the epoch, as this machine has it."""
        self._check()
        return self._world.now() + self.offset

    def monotonic(self) -> float:
        """Seconds since the process began."""
        self._check()
        return self._world.monotonic() - self._started

    def sleep(self, seconds: float) -> None:
        """Wait; others live meanwhile."""
        self._check()
        self._world.sleep(seconds)
        self._check()

    def _check(self) -> None:
        if self._is_dead():
            raise Killed


class PlanningClock(Clock):
    """A process's clock for one plan, on which a search ends: after so many looks at it, hours have passed.

    The clock that it stands on rests while a process computes, so a search that is never done would never see its
    deadline. Looks are counted, not seconds, and until then no time passes: so a run can be repeated, also on
    another machine.
    """

    def __init__(self, clock: ProcessClock) -> None:
        self._clock = clock
        self._looks = 0

    def now(self) -> float:
        """Seconds since the epoch, as this machine has it; plans are dated by it."""
        return self._clock.now()

    @property
    def counts_work(self) -> bool:
        """Solvers are limited in their own deterministic time, which is no look."""
        return True

    def monotonic(self) -> float:
        """Seconds since the process began, until too many looks were taken."""
        self._looks += 1
        return self._clock.monotonic() + (HOURS_LATER if self._looks > MOST_LOOKS else 0.0)

    def sleep(self, seconds: float) -> None:
        """Wait; others live meanwhile."""
        self._clock.sleep(seconds)
