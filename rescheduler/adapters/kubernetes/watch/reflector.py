"""Keeps a sink up to date with one list of the API server, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, NamedTuple

from rescheduler.adapters.background import BackgroundThread
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import (
    ForbiddenError,
    NotServedError,
    OutcomeUnknownError,
    PagesExpiredError,
    ServerBusyError,
)
from rescheduler.adapters.kubernetes.kinds import ObjectKind
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError
from rescheduler.adapters.kubernetes.watch.backoff import Backoff
from rescheduler.adapters.kubernetes.watch.list_and_watch import ListAndWatch, WatchSettings
from rescheduler.adapters.kubernetes.watch.server_clock import ServerClock
from rescheduler.adapters.kubernetes.watch.sink import Hear, Sink, deaf
from rescheduler.adapters.kubernetes.watch.watch_lines import WatchBrokenError, WatchExpiredError
from rescheduler.extension_points import Clock, ClusterError
from rescheduler.model.daemon.notices import Fault, SyncChanged

# What to do after a watch has ended: go on where it stopped, or read everything again, and when.

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
        if isinstance(error, ServerBusyError):
            return Remedy(max(error.retry_after_seconds, self._backoff.seconds()))
        is_silence = isinstance(error, OutcomeUnknownError) and error.is_timeout
        if is_silence or isinstance(error, WatchBrokenError):
            self._futile += 1
        # A watch that fell silent has taken long enough: the first time it is begun anew at once.
        seconds = 0.0 if is_silence and self._futile < _FUTILE else self._backoff.seconds()
        return Remedy(seconds, reads_anew=self._futile >= _FUTILE)


DEFAULT_SETTINGS = WatchSettings()


class Reflector(BackgroundThread):
    """Reads a list, then follows its changes; whatever goes wrong is told, and made good after a wait."""

    def __init__(
        self,
        connection: Connection,
        kind: ObjectKind,
        sink: Sink,
        clock: Clock,
        *,
        params: Mapping[str, str] | None = None,
        hear: Hear = deaf,
        settings: WatchSettings = DEFAULT_SETTINGS,
        server_clock: ServerClock | None = None,
        seed: int = 0,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        """``kind.path`` is watched, with further ``params`` (a field selector, say); ``kind.decoded`` has metadata.

        ``hear`` is told of SyncChanged and Fault, in the reflector's thread. ``wait`` stands in for waiting.
        """
        random = Random(f"{seed} {kind.path}")  # noqa: S311 - spreads load, keeps no secret
        self._kind, self._sink, self._clock, self._hear = kind, sink, clock, hear
        self._following = ListAndWatch(
            connection, kind, sink, clock, dict(params or {}), settings, server_clock or ServerClock(clock), random,
            self._warn,
        )  # fmt: skip
        self._recovery = Recovery(random)
        super().__init__(self.run, f"watch-{kind.name}")
        self._wait = wait or self.stopping.wait
        self._told: object = None
        self._is_renewed = False
        self.has_synced = False
        """Whether the sink has been given a whole list; it stays so while the watch is interrupted."""
        self.problem: ClusterError | None = None
        """Why nothing is being followed just now; None while all is well, and before the first answer."""

    @property
    def version(self) -> str | None:
        """Up to where the sink has been told; None where the list has to be read first."""
        return self._following.version

    @property
    def listed_at(self) -> float:
        """When the last whole list was asked for, which is never an answer from an old cache."""
        return self._following.listed_at

    def age_seconds(self) -> float:
        """Time since the server has last told something of this list; infinite before it first did."""
        return self._clock.monotonic() - self._following.told_at

    def stop(self) -> None:
        """Ask it to end; from any thread."""
        super().stop()
        self._following.stop()

    def renew(self) -> None:
        """Begin the watch anew, at once, where it stopped, which shows who is not there any more; from any thread."""
        self._is_renewed = True
        self._following.renew()

    def run(self) -> None:
        """Read and follow until stopped; in this thread. Raises nothing."""
        while not self.stopping.is_set():
            seconds = self.follow_once()
            if seconds > 0.0 and not self.stopping.is_set():
                self._wait(seconds)

    def follow_once(self) -> float:
        """Read the list where that is wanted, and follow its changes until something ends that.

        Seconds to wait before the next time.
        """
        began = self._clock.monotonic()
        failure = self._follow()
        if self.stopping.is_set():
            return 0.0
        was_renewed, self._is_renewed = self._is_renewed, False
        if failure is None and was_renewed:
            return 0.0
        if failure is None:
            return self._recovery.after_end(self._clock.monotonic() - began).seconds
        remedy = self._recovery.after(failure, has_synced=self.has_synced)
        self._take_note(failure, remedy)
        return remedy.seconds

    def _follow(self) -> ClusterError | None:
        """What ended it; None: the server, in order."""
        try:
            if self._following.version is None:
                self._following.read_list()
                self._recovery.read()
            self._following.watch(self._well, self._recovery.progressed)
        except ClusterError as error:
            return error
        except (BrokenTextError, ObjectError) as error:
            return WatchBrokenError(f"{self._following.what}: the server's answer cannot be read: {error}")
        except Exception as error:  # noqa: BLE001 - a fault of ours, or of the sink's: the others must go on
            problem = f"{self._following.what}: {type(error).__name__}: {error}"
            self._hear(Fault(self._clock.now(), f"watching {self._kind.name}", problem))
            self._following.version = None
            return WatchBrokenError(problem)
        return None

    def _well(self) -> None:
        """The watch has begun."""
        self.has_synced, self.problem = True, None
        self._say()

    def _take_note(self, failure: ClusterError, remedy: Remedy) -> None:
        if remedy.reads_anew:
            self._following.version = None
        if remedy.is_refused:
            self._give_up_what_was()
        if isinstance(failure, WatchExpiredError | PagesExpiredError) and self.problem is None and self.has_synced:
            return  # that happens to the best: the list is read again at once
        self.problem = failure.with_traceback(None)
        self._say(failure)

    def _give_up_what_was(self) -> None:
        """A list that is not to be had is empty."""
        if self.has_synced or self.problem is None:
            try:
                self._sink.replace(())
            except Exception as error:  # noqa: BLE001 - as above
                self._hear(Fault(self._clock.now(), f"watching {self._kind.name}", f"{type(error).__name__}: {error}"))
        self.has_synced = False

    def _say(self, failure: ClusterError | None = None) -> None:
        """Tell how things are, if they are not of the same sort as before."""
        sort = (type(failure),)
        if sort != self._told:
            self._told = sort
            self._hear(SyncChanged(self._clock.now(), self._kind.name, failure is None, str(failure or "")))

    def _warn(self, text: str) -> None:
        self._hear(Fault(self._clock.now(), f"watching {self._kind.name}", f"cannot be read: {text}"))
