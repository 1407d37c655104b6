"""Lines of a watch over a real connection: cut into any pieces, silent, broken off, refused."""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter
from weakref import finalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.client.answers import EndingStreams, LineStream
from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.client.failures import (
    ForbiddenError,
    InvalidRequestError,
    NotServedError,
    OutcomeUnknownError,
    PagesExpiredError,
    ServerBusyError,
)
from rescheduler.extension_points import ClusterError
from tests.loopback_server import PromptAnswers
from tests.unit.adapters.fake_api_server import serving, status
from tests.unit.adapters.kubernetes.client.test_connection import always

PATH = "/api/v1/pods"


class Piecewise:
    """Stands in for urllib3's answer: a body that comes in pieces; an exception among them is raised."""

    def __init__(self, *pieces: bytes | Exception) -> None:
        self._pieces = list(pieces)
        self.is_closed = False

    def read1(self, _amount: int) -> bytes:
        """The next piece."""
        piece = self._pieces.pop(0) if self._pieces else b""
        if isinstance(piece, Exception):
            raise piece
        return piece

    def shutdown(self) -> None:
        """Nothing comes any more."""
        self._pieces.clear()

    def close(self) -> None:
        """Given back."""
        self.is_closed = True


def stream_of(answer: Piecewise, **options: Any) -> LineStream:
    """A stream of such an answer."""
    return LineStream(answer, "https://cluster", PATH, **options)


@given(st.lists(st.binary(max_size=8).map(lambda raw: raw.replace(b"\n", b" ")), max_size=8), st.data())
@settings(max_examples=200)
def test_lines_are_whole_however_they_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    """Pieces may end anywhere; what comes after the last line's end is no line."""
    text = b"".join(line + b"\n" for line in lines) + data.draw(st.sampled_from([b"", b'{"type":"ADD']))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    answer = Piecewise(*filter(None, pieces))
    assert list(stream_of(answer)) == lines
    assert answer.is_closed


def test_a_line_without_end_is_not_gathered_for_ever() -> None:
    """Memory is bounded, whatever is sent."""
    answer = Piecewise(*[b"x" * 1000] * 100)
    with pytest.raises(ClusterError, match=r"a line of more than 5,000 bytes in answer to GET /api/v1/pods"):
        list(stream_of(answer, longest_line=5000))
    assert answer.is_closed


def test_a_long_line_is_taken() -> None:
    """Objects of a megabyte and more come in many pieces."""
    line = b"x" * 3_000_000
    pieces = [line[start : start + 1000] for start in range(0, len(line), 1000)]
    assert list(stream_of(Piecewise(*pieces, b"\n"))) == [line]


def test_what_was_whole_before_a_break_is_given() -> None:
    """A connection that breaks takes nothing back."""
    found = []
    with pytest.raises(OutcomeUnknownError):  # noqa: PT012 - what came before counts
        for line in stream_of(Piecewise(b"a\nb\nc", ConnectionResetError("reset"))):
            found.append(line)  # noqa: PERF402
    assert found == [b"a", b"b"]


def test_closing_is_no_failure() -> None:
    """Whoever closes a stream is not told that it broke."""
    answer = Piecewise(b"a\n", ConnectionResetError("reset"))
    stream = stream_of(answer)
    found = []
    for line in stream:
        found.append(line)
        stream.close()
    assert found == [b"a"]


@contextmanager
def watching(send: Callable[[BaseHTTPRequestHandler], None], folder: Path) -> Iterator[Connection]:
    """A connection to a server whose answers begin with a chunk of one line; ``send`` goes on from there."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        with suppress(OSError):
            chunk(handler, b"first\n")
            send(handler)

    with chunked(answer, folder) as connection:
        yield connection


@contextmanager
def chunked(
    answer: Callable[[BaseHTTPRequestHandler], None], folder: Path, *, is_kept: bool = True
) -> Iterator[Connection]:
    """A connection to a server that begins each answer with its head. ``is_kept``: nothing ends while this lasts."""
    done = threading.Event()

    class Handler(PromptAnswers, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            answer(self)
            if is_kept:
                done.wait(30)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    config = {
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    (folder / "config").write_text(json.dumps(config))
    try:
        yield connect(str(folder / "config"), read_only=True)
    finally:
        done.set()
        server.shutdown()
        server.server_close()


def chunk(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Send one chunk."""
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
    handler.wfile.flush()


@contextmanager
def answering(body: bytes, folder: Path) -> Iterator[tuple[Connection, list[int]]]:
    """A connection to a server that begins each answer with these bytes, and from which ports it was asked."""
    ports: list[int] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        ports.append(handler.client_address[1])
        handler.wfile.write(body)
        handler.wfile.flush()

    with chunked(answer, folder, is_kept=not body.endswith(END)) as connection:
        yield connection, ports


END = b"0\r\n\r\n"
FIRST = b"6\r\nfirst\n\r\n"


@pytest.mark.parametrize(
    ("body", "seconds", "is_used_again"), [(FIRST + END, 0.0, True), (FIRST, 0.0, False), (FIRST + END, 3600.0, False)]
)
def test_a_stream_that_the_server_ends_lends_its_connection_to_the_next(
    tmp_path: Path, body: bytes, seconds: float, is_used_again: bool
) -> None:
    """Once its time is over and it has ended; one that has not ended then is given up, and nothing waits for it."""
    with answering(body, tmp_path) as (connection, ports):
        for _ in range(2):
            stream = connection.stream(PATH, {}, read_timeout=30.0)
            lines = iter(stream)
            assert next(lines) == b"first"
            connection.let_end(stream, seconds)
            stream.close()
            del lines
    assert (len(set(ports)) == 1) == is_used_again


def test_streams_that_nobody_holds_any_more_are_closed(tmp_path: Path) -> None:
    """Whatever the order in which the garbage collector finds them: errors and their tracebacks hold each other."""
    with answering(FIRST, tmp_path) as (connection, _), catch_warnings(record=True) as warnings:
        simplefilter("always")
        stream = connection.stream(PATH, {}, read_timeout=30.0)
        lines = iter(stream)
        assert next(lines) == b"first"
        ending = EndingStreams()
        ending.add(stream.left(), inf)
        left, going_round = finalize(ending, bool), list[object]([ending])
        going_round.append(going_round)
        del stream, lines, ending, going_round
        gc.collect()
        assert not left.alive
    assert warnings == []


def test_lines_come_as_they_are_sent(tmp_path: Path) -> None:
    """Nothing waits for a buffer to fill: a line is there when its end is."""
    told = threading.Event()

    def send(handler: BaseHTTPRequestHandler) -> None:
        told.wait(30)
        chunk(handler, b"sec")
        chunk(handler, b"ond\nthird\n")
        handler.wfile.write(b"0\r\n\r\n")

    with watching(send, tmp_path) as connection, connection.stream(PATH, {}, read_timeout=30.0) as stream:
        lines = iter(stream)
        assert next(lines) == b"first"
        told.set()
        assert list(lines) == [b"second", b"third"]


def test_silence_is_found_out(tmp_path: Path) -> None:
    """A server that says nothing for the time given counts as one that does not answer."""
    with watching(lambda _: None, tmp_path) as connection:
        stream = connection.stream(PATH, {}, read_timeout=0.1)
        with pytest.raises(OutcomeUnknownError) as caught:
            list(stream)
    assert caught.value.is_timeout


def test_a_stream_is_closed_from_another_thread(tmp_path: Path) -> None:
    """Whoever waits for a line stops waiting at once, long before the silence would be found out."""
    found: list[bytes] = []
    with watching(lambda _: None, tmp_path) as connection:
        stream = connection.stream(PATH, {}, read_timeout=600.0)
        first = threading.Event()

        def read() -> None:
            for line in stream:
                found.append(line)
                first.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        assert first.wait(30)
        stream.close()
        reader.join(30)
        assert not reader.is_alive()
    assert found == [b"first"]


def test_a_chunk_that_breaks_off_is_a_broken_connection(tmp_path: Path) -> None:
    """An end in the middle of a chunk is no end in order."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"10\r\nhalf")
        handler.wfile.flush()
        handler.connection.shutdown(2)

    with watching(send, tmp_path) as connection:
        stream = connection.stream(PATH, {}, read_timeout=30.0)
        with pytest.raises(OutcomeUnknownError) as caught:
            list(stream)
    assert not caught.value.is_timeout


@pytest.mark.parametrize(
    ("code", "error"),
    [(400, InvalidRequestError), (403, ForbiddenError), (404, NotServedError), (410, PagesExpiredError),
     (422, InvalidRequestError), (429, ServerBusyError), (503, ServerBusyError), (500, ClusterError)],
)  # fmt: skip
def test_refusals_are_told_apart(tmp_path: Path, code: int, error: type[Exception]) -> None:
    """Each status that a watch may be refused with is an error of its own, with the server's words."""
    with serving(always(status(code, "as the test wants it"))) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=True)
        with pytest.raises(error, match="as the test wants it") as caught:
            connection.stream(PATH, {}, read_timeout=5.0)
    assert len(server.requests) == 1
    assert type(caught.value) is error
    assert code != 403 or "forbids us to watch pods" in str(caught.value)


@pytest.mark.parametrize(("asked", "waits"), [("3", 3.0), ("nan", 0.0), ("-1", 0.0), ("1e9", 10.0), ("soon", 0.0)])
def test_a_busy_server_says_how_long(tmp_path: Path, asked: str, waits: float) -> None:
    """Retry-After is passed on as far as it makes sense, and nothing waits for it here."""
    with serving(always(status(429, "busy")._replace(headers={"Retry-After": asked}))) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=True)
        with pytest.raises(ServerBusyError) as caught:
            connection.stream(PATH, {}, read_timeout=5.0)
    assert caught.value.retry_after_seconds == waits


def test_credentials_are_read_afresh_when_they_are_not_accepted(tmp_path: Path) -> None:
    """A token that was replaced meanwhile is found."""
    with serving(always(status(401, "expired"))) as server:
        kubeconfig = server.kubeconfig(tmp_path)
        connection = connect(kubeconfig, read_only=True)
        (tmp_path / "token").write_text("newer-token")
        with pytest.raises(ClusterError, match="401"):
            connection.stream(PATH, {}, read_timeout=5.0)
    assert [asked.headers["authorization"] for asked in server.requests] == [
        "Bearer secret-token",
        "Bearer newer-token",
    ]
