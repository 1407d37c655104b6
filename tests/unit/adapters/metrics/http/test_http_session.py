"""Sessions: limits that always hold, answers that cannot be used, redirects, retries."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from typing import Any

import pytest
import requests

from rescheduler.adapters.metrics.http.http_failures import HttpStatusError
from rescheduler.extension_points import MetricsError
from tests.loopback_server import CUT_OFF, DRIPPING, RESET, SILENT, Answer, json_answer, loopback_server
from tests.unit.adapters.metrics.sessions import session_to


def asked(answer: Answer, **limits: Any) -> Any:
    """What a GET of this answer gives."""
    with loopback_server(lambda _: answer) as server:
        return session_to(server.address, **limits).get_json("/x")


def test_the_three_ways_to_ask() -> None:
    """Parameters stand in the URL, forms and JSON in the body; the address may have a path."""
    with loopback_server(lambda request: json_answer([request.method, request.path, request.body.decode()])) as server:
        session = session_to(server.address + "/prefix/")
        assert session.get_json("/q", {"a": "b c"}) == ["GET", "/prefix/q?a=b+c", ""]
        assert session.post_form("/q", {"a": "b c"}) == ["POST", "/prefix/q", "a=b+c"]
        assert session.post_json("/q", {"a": 1}) == ["POST", "/prefix/q", '{"a":1}']
    assert server.requests[2].headers["content-type"] == "application/json"
    assert all(request.headers["user-agent"].startswith("rescheduler/") for request in server.requests)


@pytest.mark.parametrize("fault", [SILENT, DRIPPING])
def test_an_answer_that_never_ends_is_cut_off_in_time(fault: str) -> None:
    """Slow bytes keep a read time-out happy for ever; the total one ends them, and the thread that waits for them."""
    with loopback_server(lambda _: Answer(b"{}", fault=fault)) as server:
        started = time.monotonic()
        with pytest.raises(
            MetricsError, match=r"Source at http://127\.0\.0\.1:\d+: gave no whole answer within 0\.5 s"
        ):
            session_to(server.address).get_json("/x")
        assert time.monotonic() - started < 5
        deadline = time.monotonic() + 5
        while any(thread.name == "metrics-request" for thread in threading.enumerate()):
            assert time.monotonic() < deadline, "the thread of the request is still there"
            time.sleep(0.01)


def test_a_client_without_time_outs_gets_ours() -> None:
    """Other libraries that are handed the session cannot wait for ever either."""
    with loopback_server(lambda _: Answer(fault=SILENT)) as server:
        session = session_to(server.address)
        session.mount("http://", requests.adapters.HTTPAdapter())  # as prometheus-api-client does
        with pytest.raises(MetricsError, match="gave no whole answer"):
            session.get(server.address, timeout=None)


def test_slow_headers_are_cut_off_too() -> None:
    """A status line that comes letter by letter."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            connection, _ = listener.accept()
            with connection:
                try:
                    for letter in b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1000:
                        connection.sendall(bytes([letter]))
                        time.sleep(0.02)
                except OSError:
                    pass

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        with pytest.raises(MetricsError, match="gave no whole answer"):
            session_to(f"http://127.0.0.1:{listener.getsockname()[1]}").get_json("/")
        thread.join(10)
        assert not thread.is_alive()  # the socket was shut, so that the server noticed


def test_long_answers_are_given_up() -> None:
    """A bit too long; and small on the way, huge once unpacked."""
    with pytest.raises(MetricsError, match="answered more than 1 MiB"):
        asked(Answer(b" " * 2**21), most_bytes=2**20)
    bomb = Answer(gzip.compress(b" " * 2**24), headers={"Content-Encoding": "gzip"})
    with pytest.raises(MetricsError, match="answered more than 1 MiB"):
        asked(bomb, most_bytes=2**20, timeout="20s")
    assert asked(Answer(b"[" + b" " * 1000 + b"]"), most_bytes=1002) == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(fault=RESET), "cannot be reached|broke off"),
        (Answer(b"{}", fault=CUT_OFF), "broke off its answer"),
        (Answer(b"garbage", headers={"Content-Encoding": "gzip"}), "garbled"),
        (Answer(b"<html>\x1b[31mSign in"), r"not JSON: '<html>\\x1b\[31mSign in'"),
        (Answer(b'{"a": NaN}'), "not JSON"),
        (Answer(b"\xff\xfe"), "not JSON"),
        (Answer(b""), "not JSON"),
        (Answer(b"[" * 200_000), "not JSON"),
        (Answer(b'{"error": "bad_data: \x1b[2Jparse"}', 400), r"answered 400 Bad Request"),
        (Answer(b'{"error": "parse error"}', 400), r"answered 400 Bad Request: parse error$"),
        (Answer(b"plain words", 500), r"500 Internal Server Error: plain words$"),
        (Answer(b"", 401), "401 Unauthorized; check bearerToken or basicAuth"),
        (Answer(b"", 404), "404 Not Found; check the address and its path"),
        (Answer(b"", 599), "599 unknown status"),
        (Answer(b"", 304), "304 Not Modified"),
    ],
)
def test_what_cannot_be_used_is_told(answer: Answer, said: str) -> None:
    """In words, escaped, never as another library's exception."""
    with pytest.raises(MetricsError, match=said) as caught:
        asked(answer)
    assert str(caught.value).startswith("Source at http://127.0.0.1:")
    assert str(caught.value).isprintable()
    assert caught.value.__context__ is None or caught.value.__suppress_context__  # no traceback shows a URL


def test_a_status_can_be_told_apart() -> None:
    """Providers that explain themselves in the body can be understood."""
    with pytest.raises(HttpStatusError) as caught:
        asked(Answer(b'{"code": 7}', 422))
    assert (caught.value.status, caught.value.body) == (422, b'{"code": 7}')


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:1", "cannot be reached: Connection refused"),
        ("http://name.invalid", "cannot be reached|its name is not known"),
        ("http://127.0.0.1:99999", "cannot be asked"),
    ],
)
def test_addresses_that_cannot_be_asked(address: str, said: str) -> None:
    """A closed port, a name that nobody has, a port that cannot be."""
    with pytest.raises(MetricsError, match=said):
        session_to(address, timeout="5s").get_json("/")


def test_busy_servers_are_asked_again_but_not_for_ever() -> None:
    """502, 503 and 504 are worth two more tries; 500 is an answer."""
    answers = [Answer(status=503), Answer(status=502), json_answer(1)]
    with loopback_server(lambda _: answers.pop(0)) as server:
        assert session_to(server.address, timeout="5s").post_form("/", {"query": "up"}) == 1
    assert [request.form for request in server.requests] == [{"query": "up"}] * 3
    for status, count in ((503, 3), (500, 1), (429, 1)):
        with loopback_server(lambda _, status=status: Answer(status=status)) as server:
            with pytest.raises(HttpStatusError):
                session_to(server.address, timeout="5s").get_json("/")
            assert len(server.requests) == count
