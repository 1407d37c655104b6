"""What to do after a watch has ended: go on where it stopped, or read everything again, and when."""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

from rescheduler.adapters.kubernetes.failures import (
    BusyError,
    ForbiddenError,
    NotServedError,
    OutcomeUnknownError,
    PagesExpiredError,
)
from rescheduler.adapters.kubernetes.watching.backoff import Backoff
from rescheduler.adapters.kubernetes.watching.watch_lines import WatchBrokenError, WatchExpiredError
from rescheduler.extension_points import ClusterError

_SHORT_WATCH_SECONDS: Final = 5.0
_FUTILE: Final = 2
"""After so many failures with nothing learned between them, the place where we stopped is no good: start anew."""
_REFUSALS: Final = 3
"""A server that is just starting may refuse what it grants a second later."""


class Remedy(NamedTuple):
    """``seconds``: to wait first. ``reads_anew``: the list, whole. ``is_refused``: this list is not to be had."""

    seconds: float
    reads_anew: bool = False
    is_refused: bool = False


class Recovery:
    """Remembers what went wrong lately. Randomness only from ``random``."""

    def __init__(self, random: Random) -> None:
        self._backoff = Backoff(random)
        self._slow = Backoff(random, first=5.0, longest=120.0)
        self._futile = 0
        self._refusals = 0

    def progressed(self) -> None:
        """The watch has told something."""
        self._backoff.reset()
        self._futile = 0

    def read(self) -> None:
        """The list was read, whole. That alone does not end the waits: each list costs the server much."""
        self._slow.reset()
        self._futile = self._refusals = 0

    def after_end(self, lasted_seconds: float) -> Remedy:
        """The server has ended a watch, as it was asked to, or sooner."""
        return Remedy(0.0 if lasted_seconds >= _SHORT_WATCH_SECONDS else self._backoff.seconds())

    def after(self, error: ClusterError, *, has_synced: bool) -> Remedy:
        """Something failed. ``has_synced``: whether there is a list from before."""
        if isinstance(error, WatchExpiredError | PagesExpiredError):
            return Remedy(self._backoff.seconds(), reads_anew=True)
        if isinstance(error, ForbiddenError | NotServedError):
            self._refusals += 1
            if has_synced and self._refusals < _REFUSALS:
                return Remedy(self._backoff.seconds())
            return Remedy(self._slow.seconds(), reads_anew=True, is_refused=True)
        if isinstance(error, BusyError):
            return Remedy(max(error.retry_after_seconds, self._backoff.seconds()))
        is_silence = isinstance(error, OutcomeUnknownError) and error.is_timeout
        if is_silence or isinstance(error, WatchBrokenError):
            self._futile += 1
        # A watch that fell silent has taken long enough: the first time it is begun anew at once.
        seconds = 0.0 if is_silence and self._futile < _FUTILE else self._backoff.seconds()
        return Remedy(seconds, reads_anew=self._futile >= _FUTILE)
