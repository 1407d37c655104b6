"""Hands each notice to every listener; one that fails harms neither the daemon nor the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import Final

from rescheduler.adapters.background import BackgroundThread
from rescheduler.extension_points import Clock, Listener
from rescheduler.model.daemon.notices import Fault, Notice

Hear = Callable[[Notice], None]
"""Takes a notice; never raises."""


class Listeners(Listener):
    """All of them as one. May be told from several threads at once, as each listener must allow."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = tuple(listeners)
        self._failing: set[int] = set()

    def hear(self, notice: Notice) -> None:
        """Tell everybody. A listener that fails is told of to the others, once until it works again."""
        faults: list[tuple[int, Exception]] = []
        for place, listener in enumerate(self._listeners):
            try:
                listener.hear(notice)
            except Exception as error:  # noqa: BLE001 - a listener's fault is its own
                faults.append((place, error))
            else:
                self._failing.discard(place)
        for place, fault in faults:
            if place not in self._failing:
                self._failing.add(place)
                self._tell_others(place, notice, fault)

    def _tell_others(self, place: int, notice: Notice, error: Exception) -> None:
        name = type(self._listeners[place]).__name__
        # Not the error's own words: nobody knows what stands in them.
        fault = Fault(notice.at, name, f"could not take in {type(notice).__name__}: {type(error).__name__}")
        for other, listener in enumerate(self._listeners):
            if other != place and other not in self._failing:
                try:
                    listener.hear(fault)
                except Exception:  # noqa: BLE001 - found out with the next notice
                    self._failing.add(other)


# Listeners that may have to wait (for the API server, for a disk) in threads of their own.

MOST_WAITING: Final = 1000
"""Notices that wait at most; further ones are dropped, and told of."""


class QueuedListener(Listener):
    """Takes notices at once, and hands them on in their order. Safe to use from several threads."""

    def __init__(self, inner: Listener, name: str, clock: Clock, tell: Hear, *, most: int = MOST_WAITING) -> None:
        """``tell`` hears, once until it is well again, of an inner listener that fails or cannot keep up."""
        self._inner = inner
        self._name = name
        self._clock = clock
        self._tell = tell
        self._queue: Queue[Notice | None] = Queue(most)
        self._thread = BackgroundThread(self._run, name)
        self._is_behind = False
        self._is_failing = False
        self.dropped = 0

    def start(self) -> None:
        """Hand notices on from now on."""
        self._thread.start()

    def hear(self, notice: Notice) -> None:
        """Take a notice; never waits."""
        if self._thread.stopping.is_set():
            return
        try:
            self._queue.put_nowait(notice)
        except Full:
            self.dropped += 1
            if not self._is_behind:
                self._is_behind = True
                self._tell(Fault(self._clock.now(), self._name, "cannot keep up; some of what was told is dropped"))
        else:
            self._is_behind = False

    def stop(self, seconds: float = 2.0) -> None:
        """Hand on what waits, for at most this long."""
        self._thread.stop()
        with suppress(Full):  # then the thread sees the flag when it has come to the end
            self._queue.put_nowait(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            try:
                notice = self._queue.get(timeout=1.0)
            except Empty:
                if self._thread.stopping.is_set():
                    return
                continue
            if notice is None:
                return
            self._hand_on(notice)

    def _hand_on(self, notice: Notice) -> None:
        try:
            self._inner.hear(notice)
        except Exception as error:  # noqa: BLE001 - told below; the next notice may be taken
            if not self._is_failing:
                self._is_failing = True
                text = f"could not take in {type(notice).__name__}: {type(error).__name__}"
                self._tell(Fault(self._clock.now(), self._name, text))
        else:
            self._is_failing = False
