"""The lines of an answer that goes on: a watch."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from threading import Event
from typing import Any, Final
from weakref import finalize

import msgspec

from rescheduler.adapters.kubernetes.client.transport_failures import transport_failures
from rescheduler.extension_points import ClusterError

# The head of a page of a list: its version, and where the next page is.


class _ListMeta(msgspec.Struct, gc=False):
    continue_: str | None = msgspec.field(name="continue", default=None)
    resource_version: str | None = msgspec.field(name="resourceVersion", default=None)


class _ListHead(msgspec.Struct, gc=False):
    metadata: _ListMeta | None = None


_LIST_HEAD = msgspec.json.Decoder(_ListHead)  # made here and not by the threads that read, see ``decoder_of``


def continue_token(page: bytes) -> str | None:
    """The token for the page after this one; None on the last page. Raises ClusterError if this is no list.

    An API server always writes ``items``: a page without it, from whatever stands in between, shows nothing as gone.
    """
    found = _list_meta(page).continue_
    if b'"items"' not in page:
        raise ClusterError("the API server answered with something that is no list: it has no items")
    return found


def list_version(page: bytes) -> str:
    """The version that all pages of a list have in common; "" where none is told. Raises ClusterError as above."""
    return _list_meta(page).resource_version or ""


def _list_meta(page: bytes) -> _ListMeta:
    """The API server writes ``metadata`` before ``items``, so the head of the page is enough in practice."""
    end = page.find(b'"items"', 0, 4096)
    head = page[:end].rstrip().removesuffix(b",") + b"}" if end > 0 else b""
    for text in (head, page):
        try:
            found = _LIST_HEAD.decode(text).metadata
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if found is not None or text is page:
            return found or _ListMeta()
    raise ClusterError("the API server's list is not valid JSON; was the answer cut off on its way?")


LONGEST_LINE: Final = 64 * 1024 * 1024
"""etcd keeps objects of up to 1.5 MB; whatever is far longer is no object."""
_AT_ONCE: Final = 64 * 1024
ENDED_SECONDS: Final = 0.05
"""So long the end of a stream is waited for that should be there already."""


class LineStream:
    """Whole lines without their ends, in the order in which they come; a line that breaks off is left out.

    Iterate once, in one thread; ``close`` may be called from any other, and ends the iteration.
    """

    def __init__(self, answer: Any, server: str, path: str, longest_line: int = LONGEST_LINE) -> None:
        """``answer``: of urllib3, its body not read yet."""
        self._answer = answer
        self._server, self._path = server, path
        self._longest = longest_line
        self._closed = Event()
        self._is_left = False

    def __enter__(self) -> LineStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Generator[bytes, None, None]:
        """Raises OutcomeUnknownError when the connection breaks or is silent for too long, ClusterError otherwise."""
        parts: list[bytes] = []
        for chunk in self._chunks():
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield b"".join((*parts, end))
                parts.clear()
            if rest:
                parts.append(rest)
            if len(ends) == 0 and sum(map(len, parts)) > self._longest:
                raise ClusterError(
                    f"{self._server} sent a line of more than {self._longest:,} bytes in answer to GET {self._path}"
                )

    def close(self) -> None:
        """End the stream. Whoever waits for its next line stops waiting."""
        if not self._closed.is_set() and not self._is_left:
            self._closed.set()
            with suppress(Exception):  # it may have ended by itself just now
                self._answer.shutdown()

    def left(self) -> Any:
        """The answer, which somebody else reads to its end: nothing is iterated any more, and it is not closed."""
        self._is_left = True
        return self._answer

    def _chunks(self) -> Iterator[bytes]:
        """Bytes as they come. The connection is given up then: nobody knows where the next answer begins."""
        try:
            with transport_failures(self._server, "GET", self._path):
                while not self._closed.is_set() and (chunk := self._answer.read1(_AT_ONCE)):
                    yield chunk
        except Exception:
            if not self._closed.is_set():
                raise
        finally:
            if not self._is_left:
                _close(self._answer)


class EndingStreams:
    """Streams that the server ends by itself in a moment: their connections serve again, without another handshake.

    What is still here when this goes is closed with it. For any number of threads.
    """

    def __init__(self) -> None:
        self._answers: deque[tuple[float, Any]] = deque()
        finalize(self, _close_all, self._answers)

    def add(self, answer: Any, ends_at: float) -> None:
        """An answer of urllib3 that has ended by this moment of the monotonic clock."""
        self._answers.append((ends_at, answer))

    def reclaim(self, now: float) -> None:
        """Give connections of those that have ended back to their pool; from the first that has not all are closed."""
        is_in_time = True
        while self._answers:
            try:
                ends_at, answer = self._answers.popleft()
            except IndexError:
                return  # another thread was faster
            if ends_at > now:
                self._answers.appendleft((ends_at, answer))
                return
            is_in_time = is_in_time and _is_read_to_its_end(answer)
            if not is_in_time:
                _close(answer)


def _close_all(answers: deque[tuple[float, Any]]) -> None:
    with suppress(IndexError):  # as the program ends other threads may still add some
        while True:
            _close(answers.popleft()[1])


def _close(answer: Any) -> None:
    with suppress(Exception):
        answer.close()


def _is_read_to_its_end(answer: Any) -> bool:
    with suppress(Exception):
        answer.connection.sock.settimeout(ENDED_SECONDS)
        answer.drain_conn()
    return answer.connection is None
