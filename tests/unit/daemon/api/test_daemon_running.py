"""The daemon's API on a real address of this machine: who gets in, and who is given up (R4, R7, R18)."""

from __future__ import annotations

import http.client
import socket
import ssl
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rescheduler.daemon.api import request_bodies
from rescheduler.daemon.api.daemon_running import daemon_listener
from rescheduler.daemon.serving import listening as impatience
from rescheduler.daemon.serving.listening import ApplicationServer
from rescheduler.daemon.steering.explaining import Basis, Explaining
from rescheduler.policy.fields.daemon.api import ApiPolicy, ServerTls
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError
from tests.unit.daemon.api.certificates import authority
from tests.unit.daemon.api.daemon_bench import bench

TOKEN = "Authorization: Bearer token-jane\r\n"
SOME_BODY = "Content-Type: application/json\r\nContent-Length: 10\r\n"


def listener_of(api: ApiPolicy) -> ApplicationServer:
    """A server of the bench's daemon, bound and not started."""
    found = bench()
    explaining = Explaining(found.controls.state, lambda: Basis(Policy()))
    return daemon_listener(api, found.controls.people, explaining, found.reviewer, found.clock)


@contextmanager
def serving(**api: object) -> Iterator[tuple[str, int]]:
    """Host and port of a server that is stopped at the end."""
    listener = listener_of(ApiPolicy.model_validate({"address": "127.0.0.1:0", **api}))
    try:
        listener.start()
        place = urlsplit(listener.url)
        yield str(place.hostname), int(place.port or 0)
    finally:
        listener.stop()


def exchange(place: tuple[str, int], request: bytes) -> bytes:
    """What comes back for raw bytes, up to the end of the connection."""
    with socket.create_connection(place, timeout=20) as stream:
        stream.sendall(request)
        found = b""
        try:
            while part := stream.recv(65536):
                found += part
        except ConnectionError:  # closed on us while more of our bytes were under way
            pass
        return found


def head(method: str = "GET", target: str = "/v1/state", more: str = "", *, token: str = TOKEN) -> bytes:
    """The head of a request after which the connection is to end."""
    return f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n{token}{more}Connection: close\r\n\r\n".encode()


def test_it_answers_over_a_socket() -> None:
    """With its own form of refusal too, and without a word about what serves."""
    with serving() as place:
        found = exchange(place, head())
        assert found.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"\r\nserver:" not in found.lower()
        assert exchange(place, head(token="")).startswith(b"HTTP/1.1 401 ")


def test_r4_a_token_of_64_kib_is_401() -> None:
    """Not a fault of the server, and not another status than any wrong token has."""
    with serving() as place:
        token = f"Authorization: Bearer {'a' * 65536}\r\n"
        assert exchange(place, head(token=token)).startswith(b"HTTP/1.1 401 ")


def test_r7_a_body_without_end_is_cut_off() -> None:
    """After a mebibyte."""
    with serving() as place:
        more = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        body = (b"10000\r\n" + b" " * 0x10000 + b"\r\n") * 20
        assert exchange(place, head("POST", "/v1/trigger", more) + body)[:12] in (b"HTTP/1.1 413", b"")
        assert exchange(place, head()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET /v1/state HT",
        b"GET /v1/state HTTP/1.1\r\nHost: localhost\r\nX",
        b"GET /v1/state HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/state HTTP/1.1\r\nHo",
        f"POST /v1/trigger HTTP/1.1\r\nHost: localhost\r\n{TOKEN}{SOME_BODY}\r\n{{".encode(),
    ],
)
def test_r18_whoever_does_not_go_on_is_given_up(beginning: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, within and after the head, and on a connection that has asked before."""
    monkeypatch.setattr(impatience, "SECONDS", 0.3)
    monkeypatch.setattr(request_bodies, "READ_SECONDS", 0.3)
    with serving() as place:
        exchange(place, beginning)  # ends, though we do not end it
        assert exchange(place, head()).startswith(b"HTTP/1.1 200 ")


def test_r18_a_thousand_idle_connections_keep_nobody_out() -> None:
    """The oldest are given up for those that come."""
    with serving() as place, ExitStack() as opened:
        idle = [opened.enter_context(socket.create_connection(place, timeout=20)) for _ in range(300)]
        assert exchange(place, head()).startswith(b"HTTP/1.1 200 ")
        assert idle[0].recv(1) == b""


def test_a_far_address_needs_tls(tmp_path: Path) -> None:
    """Also where only the machine knows that a name leads there."""
    with pytest.raises(ValueError, match="can be reached from elsewhere"):
        ApiPolicy(address="0.0.0.0:0")
    open_to_all = ApiPolicy.model_construct(address="0.0.0.0:0", tls=None, audience="rescheduler", hosts=())
    with pytest.raises(PolicyError, match="tokens would travel in clear text; write tls"):
        listener_of(open_to_all)
    missing = ServerTls(cert_file=str(tmp_path / "none.pem"), key_file=str(tmp_path / "none.key"))
    with pytest.raises(PolicyError, match=r"api\.tls: .*cannot be used"):
        listener_of(ApiPolicy(address="127.0.0.1:0", tls=missing))


def test_tls_is_spoken_from_1_2_on(tmp_path: Path) -> None:
    """Older clients are refused; a token is asked for all the same."""
    made = authority(tmp_path)
    certificate, key = made.issue("server")
    with serving(tls=ServerTls(cert_file=certificate, key_file=key)) as place:
        for version, status in ((None, 401), (ssl.TLSVersion.TLSv1_2, 401), (ssl.TLSVersion.TLSv1_1, None)):
            context = ssl.create_default_context(cafile=made.file)
            if version is not None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)
                    context.minimum_version, context.maximum_version = version, version
                if version is ssl.TLSVersion.TLSv1_1:
                    context.set_ciphers("DEFAULT@SECLEVEL=0")
            assert _status(place, context) == status


def _status(place: tuple[str, int], context: ssl.SSLContext) -> int | None:
    """The status of one request without a token, None where the connection was refused."""
    connection = http.client.HTTPSConnection(*place, timeout=20, context=context)
    try:
        connection.request("GET", "/v1/state")
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()
