"""What people and the platform tell a running daemon by signals: to stop, to run a round now, to read the policy anew.

SIGTERM and SIGINT ask it to stop: an eviction under way is finished, what was held is let go, and no other is begun.
The second one interrupts whatever runs, the third ends the process. SIGUSR1 asks for a round, SIGHUP for a look at the
policy's files.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import Any, Final

from rescheduler.daemon.steering.waking import Waking
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.rounds import RoundRequest

STOP_SIGNALS: Final = ("SIGTERM", "SIGINT")
ROUND_SIGNAL: Final = "SIGUSR1"
RELOAD_SIGNAL: Final = "SIGHUP"
MOST_REQUESTS: Final = 100
"""Requests that nobody has taken yet; more are no more than these."""


class Orders:
    """What we were told and have not done yet. Safe in several threads; ``wake`` is set by all that is told."""

    def __init__(self, clock: Clock) -> None:
        self.wake = Waking(clock)
        self._clock = clock
        self._lock = threading.Lock()
        self._stopping: str | None = None
        self._requests: list[RoundRequest] = []
        self._is_reload_asked = False
        self._installed = ExitStack()  # kept, since what nobody keeps is undone at once

    @property
    def stopping(self) -> str | None:
        """Why we are to stop, for ``World.stopped``; None: we are not."""
        return self._stopping

    def take_reload(self) -> bool:
        """Whether the policy's files are to be read now, asked once."""
        with self._lock:
            asked, self._is_reload_asked = self._is_reload_asked, False
        return asked

    def take_requests(self) -> tuple[RoundRequest, ...]:
        """Rounds that were asked for since the last call."""
        with self._lock:
            taken, self._requests = tuple(self._requests), []
        return taken

    def ask(self, request: RoundRequest) -> None:
        """Ask for a round."""
        with self._lock:
            if len(self._requests) < MOST_REQUESTS:
                self._requests.append(request)
        self.wake.set()

    def reload(self) -> None:
        """Ask for the policy's files to be read now."""
        with self._lock:
            self._is_reload_asked = True
        self.wake.set()

    def stop(self, reason: str) -> None:
        """Ask to stop; the first reason stands."""
        with self._lock:
            self._stopping = self._stopping or reason
        self.wake.set()

    def told(self, name: str) -> None:
        """A signal has come, by its name."""
        if name in STOP_SIGNALS:
            self.stop(f"asked to stop ({name})")
        elif name == ROUND_SIGNAL:
            self.ask(RoundRequest(self._clock.now(), "signal", reason=name))
        elif name == RELOAD_SIGNAL:
            self.reload()

    def install(self) -> Callable[[], None]:
        """Obey signals until the function that is returned is called. For the main thread only, as Python has it."""
        self._installed.enter_context(self._obeying())
        return self._installed.close

    @contextmanager
    def _obeying(self) -> Iterator[None]:
        reading, writing = socket.socketpair()
        writing.setblocking(False)
        heard = threading.Thread(target=self._listen, args=(reading,), name="signals", daemon=True)
        heard.start()
        before = _handled(_Insistence())
        # The number of each signal is written by the interpreter's own handler, also while a solver runs: a Python
        # handler would only run when that returns, and must not touch locks that it may have interrupted.
        fd_before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(fd_before)
            for number, handler in before.items():
                signal.signal(number, handler)
            writing.close()
            heard.join()
            reading.close()

    def _listen(self, pipe: socket.socket) -> None:
        while numbers := pipe.recv(64):
            for number in numbers:
                with suppress(ValueError):  # a signal of somebody else's
                    self.told(signal.Signals(number).name)


class _Insistence:
    """The handler in the main thread: the first request to stop is only noted, the second one interrupts."""

    def __init__(self) -> None:
        self._times = 0

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        if signal.Signals(number).name not in STOP_SIGNALS:
            return
        self._times += 1
        if self._times > 1:
            for name in STOP_SIGNALS:
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            raise KeyboardInterrupt


def _handled(handler: Callable[[int, FrameType | None], None]) -> dict[signal.Signals, Any]:
    """Let a handler take our signals, where the system has them; the handlers before it."""
    names = (*STOP_SIGNALS, ROUND_SIGNAL, RELOAD_SIGNAL)
    known = [signal.Signals[name] for name in names if hasattr(signal, name)]
    return {number: signal.signal(number, handler) for number in known}
