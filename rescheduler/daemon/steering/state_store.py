"""What all threads see of the daemon: read without waiting, changed one at a time, told of in order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.notices import Notice

T = TypeVar("T")
Changed: TypeAlias = tuple[DaemonState, Sequence[Notice], T]
"""What follows from a change: the new state, what is to be told, and an answer."""


class StateStore:
    """Holds the state. ``tell`` is never called behind the lock, so that listeners may look here, or change it."""

    def __init__(self, clock: Clock, tell: Callable[[Notice], None], state: DaemonState) -> None:
        self._clock = clock
        self._tell = tell
        self._state = state
        self._lock = threading.Lock()
        self._outbox: deque[Notice] = deque()
        self._is_telling = False

    def seen(self) -> DaemonState:
        """The state now: what runs out by itself has run out."""
        return self.change(lambda state, _: (state, (), state))

    def change(self, step: Callable[[DaemonState, float], Changed[T]]) -> T:
        """Apply a change to the state and the time; an error of ``step`` changes nothing, and is raised."""
        try:
            with self._lock:
                self._settle()
                state, told, answer = step(self._state, self._clock.now())
                self._state = state
                self._outbox.extend(told)
        finally:
            self._tell_all()
        return answer

    def _settle(self) -> None:
        now = self._clock.now()
        switch, resumed = self._state.switch.at(now)
        approvals, ended = self._state.approvals.at(now)
        if resumed or ended:
            self._state = replace(self._state, switch=switch, approvals=approvals)
            self._outbox.extend((*resumed, *ended))

    def _tell_all(self) -> None:
        """Tell what waits, in order; whoever tells already goes on with what others add."""
        while True:
            with self._lock:
                if self._is_telling or not self._outbox:
                    return
                self._is_telling = True
                notice = self._outbox.popleft()
            try:
                self._tell(notice)
            finally:
                with self._lock:
                    self._is_telling = False
