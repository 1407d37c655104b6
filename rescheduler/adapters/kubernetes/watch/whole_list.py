"""The objects of a whole list, in pages or as a stream, with the version from which changes are then to be followed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rescheduler.adapters.kubernetes.client.answers import list_version
from rescheduler.adapters.kubernetes.objects.decoding.pages import ObjectDecoding
from rescheduler.adapters.kubernetes.watch.watch_lines import BOOKMARK, DELETED, ERROR, bookmark, error_of, watch_line
from rescheduler.extension_points import ClusterError

CheckVersion = Callable[[str], None]
"""Raises ClusterError for a version that is not to be taken."""


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
