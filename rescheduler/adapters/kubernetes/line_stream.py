"""The lines of an answer that goes on: a watch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from threading import Event
from typing import Any, Final

from rescheduler.adapters.kubernetes.transport_failures import transport_failures
from rescheduler.extension_points import ClusterError

LONGEST_LINE: Final = 64 * 1024 * 1024
"""etcd keeps objects of up to 1.5 MB; whatever is far longer is no object."""
_AT_ONCE: Final = 64 * 1024


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

    def __enter__(self) -> LineStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
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
        if not self._closed.is_set():
            self._closed.set()
            with suppress(Exception):  # it may have ended by itself just now
                self._answer.shutdown()

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
            with suppress(Exception):
                self._answer.close()
