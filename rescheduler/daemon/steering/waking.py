"""How long the loop sleeps: until it is called, until the cluster has stirred and come to rest, or until a time."""

from __future__ import annotations

import threading
from typing import Final

from rescheduler.extension_points import Clock

QUIET_SECONDS: Final = 0.1
"""What stirs within this of what stirred before is looked at together with it: a burst of pods is one round."""
LONGEST_BURST_SECONDS: Final = 0.5
"""A burst that does not end is looked at after this."""


class Waking:
    """One sleeps, all others may wake him, from any thread; nothing that happens while he is awake is lost."""

    def __init__(self, clock: Clock, event: threading.Event | None = None) -> None:
        """``event``: what is waited on."""
        self._clock = clock
        self._event = event or threading.Event()
        self._is_called = False
        self._has_stirred = False
        self._stirred_at: float | None = None

    def set(self) -> None:
        """Somebody asks for something: the sleep ends at once."""
        self._is_called = True
        self._event.set()

    def stir(self) -> None:
        """Something has changed that is worth a look: the sleep ends once no more of it comes."""
        if self._stirred_at is None:
            self._stirred_at = self._clock.monotonic()
        self._has_stirred = True
        self._event.set()

    def stirred_at(self) -> float | None:
        """When it has first stirred since this was asked before, by the clock that never jumps; None: it has not."""
        found, self._stirred_at = self._stirred_at, None
        return found

    def sleep(self, longest: float, rest: float = 0.0) -> bool:
        """Sleep for at most ``longest`` seconds; what stirs ends it no sooner than after ``rest`` of them.

        Whether it was ended by a call.
        """
        began = self._clock.monotonic()
        first = last = None
        while True:
            self._event.clear()  # before the notes are read, so that what comes in between is waited for no more
            now = self._clock.monotonic()
            if self._has_stirred:
                self._has_stirred, last = False, now
                first = now if first is None else first
            ends = began + longest
            if first is not None and last is not None:
                burst_ends = min(last + QUIET_SECONDS, first + LONGEST_BURST_SECONDS)
                ends = min(ends, max(burst_ends, began + rest))
            if self._is_called or now >= ends:
                was_called, self._is_called = self._is_called, False
                return was_called
            self._event.wait(ends - now)
