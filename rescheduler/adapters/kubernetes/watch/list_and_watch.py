"""Reads one list and follows its changes, once: whatever goes wrong is raised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from random import Random
from threading import Event
from typing import Any, NamedTuple

from msgspec import Raw

from rescheduler.adapters.kubernetes.client.answers import LineStream, list_version
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, InvalidRequestError, OutcomeUnknownError
from rescheduler.adapters.kubernetes.kinds import ObjectKind
from rescheduler.adapters.kubernetes.objects.decoding.decode import decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ObjectMeta
from rescheduler.adapters.kubernetes.objects.decoding.pages import ObjectDecoding, Unreadable
from rescheduler.adapters.kubernetes.watch.server_clock import ServerClock
from rescheduler.adapters.kubernetes.watch.sink import Sink
from rescheduler.adapters.kubernetes.watch.versions import Versions, is_older
from rescheduler.adapters.kubernetes.watch.watch_lines import (
    ADDED,
    BOOKMARK,
    DELETED,
    ERROR,
    MODIFIED,
    Marked,
    bookmark,
    error_of,
    watch_line,
)
from rescheduler.extension_points import Clock, ClusterError

CheckVersion = Callable[[str], None]
"""Raises ClusterError for a version that is not to be taken."""


class WatchSettings(NamedTuple):
    """How to watch. All times in seconds.

    ``watch_seconds``: the server is asked to end a watch after a time between these, so that not all begin anew at
    once. ``silence_seconds``: a watch that tells nothing for so long, not even a bookmark (each minute), is given up.
    ``list_silence_seconds``: the same for a list that is streamed; ``list_seconds``: for the whole of it.
    ``is_streaming``: let the server stream the list where it can. ``keeps_unreadable``: hand Unreadable to the sink in
    the place of what cannot be decoded; otherwise that is left out.
    """

    watch_seconds: tuple[float, float] = (240.0, 480.0)
    silence_seconds: float = 90.0
    list_silence_seconds: float = 20.0
    list_seconds: float = 600.0
    is_streaming: bool = True
    keeps_unreadable: bool = False


class ListAndWatch:
    """``version``: up to where the sink has been told; None while the list has to be read first.

    ``told_at``: when the server has last told something, ``listed_at``: when the list was asked for, on the injected
    clock's ``monotonic``.
    """

    def __init__(
        self,
        connection: Connection,
        kind: ObjectKind,
        sink: Sink,
        clock: Clock,
        params: Mapping[str, str],
        settings: WatchSettings,
        server_clock: ServerClock,
        random: Random,
        warn: Callable[[str], None],
    ) -> None:
        """``warn`` hears of objects that cannot be read."""
        self._connection, self._kind, self._sink, self._clock = connection, kind, sink, clock
        self._params, self._settings, self._server_clock, self._random = params, settings, server_clock, random
        self._versions = Versions(clock)
        self._decoding = ObjectDecoding(kind, warn)
        self._is_streaming = settings.is_streaming
        self._stopping = Event()
        self._stream: LineStream | None = None
        self.version: str | None = None
        self.told_at = -inf
        self.listed_at = -inf

    @property
    def what(self) -> str:
        """Server and list, for people."""
        return f"{self._connection.server}: {self._kind.path.rpartition('/')[2]}"

    def stop(self) -> None:
        """End the watch that goes on, and each one after it; from any thread."""
        self._stopping.set()
        self.renew()

    def renew(self) -> None:
        """End the watch that goes on, so that it begins anew where it stopped; from any thread."""
        stream = self._stream
        if stream is not None:
            stream.close()

    def read_list(self) -> None:
        """Give the sink the whole list. Raises ClusterError, BrokenTextError, ObjectError; then it has what it had."""
        asked_at = self._clock.monotonic()
        version = self._streamed() if self._is_streaming else None
        if version is None:
            asked_at = self._clock.monotonic()
            version = self._paged()
        self.version, self.listed_at = version, asked_at
        self._versions.saw(self.version)
        self._server_clock.note(self._connection.server_time)
        self.told_at = self._clock.monotonic()

    def watch(self, begun: Callable[[], None], told: Callable[[], None]) -> None:
        """Tell the sink of changes until the server ends the watch; calls ``begun`` once and ``told`` for each line.

        Raises as above; what was told before counts.
        """
        low, high = self._settings.watch_seconds
        params = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": f"{self._random.uniform(low, high):.0f}",
        }
        if self.version:
            params["resourceVersion"] = self.version
        with self._opened(params, self._settings.silence_seconds) as stream:
            self.told_at = self._clock.monotonic()  # a quiet list has nothing to tell, and not even bookmarks at times
            begun()
            for line in stream:
                self._take(line)
                told()

    def _take(self, line: bytes) -> None:
        """Tell the sink of one change. Raises ClusterError where the watch has failed."""
        event = watch_line(line)
        if event.type == BOOKMARK:
            version = bookmark(event.object).version
        elif event.type == ERROR:
            raise error_of(event.object, self.what)
        else:
            version = self._tell_sink(event.type, event.object)
        if version:
            self.version = version
            self._versions.saw(version)
        self.told_at = self._clock.monotonic()

    def _tell_sink(self, kind: str, raw: Raw) -> str:
        """The version of the change; "" for one that says nothing new."""
        if kind not in (ADDED, MODIFIED, DELETED):
            return ""
        found = decode(raw, Marked) if kind == DELETED else self._decoding.one(raw)
        version = (found.metadata or ObjectMeta()).resource_version or ""
        if is_older(version, self.version or ""):
            return ""  # a server that repeats itself: changes of one list come in the order of their versions
        if kind == DELETED:
            self._sink.delete(found)
        elif self._settings.keeps_unreadable or not isinstance(found, Unreadable):
            self._sink.upsert(found)
        return version

    def _streamed(self) -> str | None:
        """The version of the list as streamed by the server; None where it does not serve such."""
        settings = self._settings
        params = {
            "watch": "1", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan",
            "allowWatchBookmarks": "true", "timeoutSeconds": f"{settings.list_seconds:.0f}",
        }  # fmt: skip
        try:
            with self._opened(params, settings.list_silence_seconds) as stream:
                objects = StreamedList(stream, self._decoding, self._check, self.what)
                return self._given(objects)
        except OutcomeUnknownError as error:
            if not error.is_timeout:
                raise
        except (InvalidRequestError, ForbiddenError, StreamedListError):
            if self._stopping.is_set():
                raise
        self._is_streaming = False  # servers before 1.32, and whatever stands between us and them
        return None

    def _paged(self) -> str:
        pages = self._connection.pages(self._kind.path, params=self._params)
        return self._given(PagedList(pages, self._decoding, self._check))

    def _given(self, objects: PagedList | StreamedList) -> str:
        """Let the sink have a list; its version."""
        keeps_all = self._settings.keeps_unreadable
        self._sink.replace(found for found in objects if keeps_all or not isinstance(found, Unreadable))
        if objects.version is None:
            raise ClusterError(f"{self.what}: the list was not read to its end")
        return objects.version

    def _check(self, version: str) -> None:
        self._versions.refuse_older(version, self.what)

    @contextmanager
    def _opened(self, params: Mapping[str, str], silence_seconds: float) -> Iterator[LineStream]:
        with self._connection.stream(
            self._kind.path, {**self._params, **params}, read_timeout=silence_seconds
        ) as stream:
            self._stream = stream
            if self._stopping.is_set():
                stream.close()
            self._server_clock.note(self._connection.server_time)
            try:
                yield stream
            finally:
                self._stream = None


class StreamedListError(ClusterError):
    """The server began to stream a list and did not bring it to its end."""


class PagedList:
    """Iterate once; ``version`` is known from the first page on. What fails is raised by the iteration."""

    def __init__(self, pages: Iterable[bytes], decoding: ObjectDecoding, check: CheckVersion) -> None:
        self._pages, self._decoding, self._check = pages, decoding, check
        self.version: str | None = None

    def __iter__(self) -> Iterator[Any]:
        for page in self._pages:
            if self.version is None:
                version = list_version(page)
                self._check(version)
                self.version = version
            yield from self._decoding.page(page)


class StreamedList:
    """Iterate once; ``version`` is known at the end. What fails is raised by the iteration."""

    def __init__(self, lines: Iterable[bytes], decoding: ObjectDecoding, check: CheckVersion, what: str) -> None:
        """``what``: server and list, for people."""
        self._lines, self._decoding, self._check, self._what = lines, decoding, check, what
        self.version: str | None = None

    def __iter__(self) -> Iterator[Any]:
        for line in self._lines:
            event = watch_line(line)
            if event.type == ERROR:
                raise error_of(event.object, self._what)
            if event.type == DELETED:
                raise StreamedListError(f"{self._what}: an object was taken back before the list had ended")
            if event.type != BOOKMARK:
                yield self._decoding.one(event.object)
                continue
            mark = bookmark(event.object)
            if mark.is_end_of_list:
                self._check(mark.version)
                self.version = mark.version
                return
        raise StreamedListError(f"{self._what}: the list broke off before its end")
