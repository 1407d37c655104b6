"""Credentials: read when used, never shown; TLS; what is warned of."""

from __future__ import annotations

import base64
import http.server
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.metrics.http.credentials import MOST_BYTES, SecretHeader, Secrets
from rescheduler.adapters.metrics.http.http_session import HttpSession, http_session
from rescheduler.extension_points import ClusterError, MetricsError
from rescheduler.policy.fields.metrics_access import Credential, HttpAccess
from tests.cluster.plane.certificates import Authority
from tests.loopback_server import Answer, Request, json_answer, loopback_server

TOKEN = "c4nary-t0ken-9f"
SECRET = "monitoring/prometheus/token"


def session_to(address: str, folder: Path, read_secret: Any = None, **access: Any) -> HttpSession:
    """A session that finds its files in the folder."""
    read = HttpAccess.model_validate(access)
    return http_session(read, read_secret, provider="Source", address=address, folder=folder)


def test_a_token_file_is_read_each_time(tmp_path: Path) -> None:
    """Mounted tokens change while we run; white space around them is none of theirs."""
    with loopback_server(lambda _: json_answer(1)) as server:
        session = session_to(server.address, tmp_path, bearerToken={"file": "token"})
        for token in ("first", "  second\n"):
            (tmp_path / "token").write_text(token)
            session.get_json("/")
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer first", "Bearer second"]


def test_basic_authentication(tmp_path: Path) -> None:
    """Any characters may stand in a password."""
    (tmp_path / "password").write_text("pä:ss\n")
    with loopback_server(lambda _: json_answer(1)) as server:
        access = {"basicAuth": {"username": "eve", "password": {"file": "password"}}}
        session_to(server.address, tmp_path, **access).get_json("/")
    scheme, _, encoded = server.requests[0].headers["authorization"].partition(" ")
    assert (scheme, base64.b64decode(encoded).decode()) == ("Basic", "eve:pä:ss")


def test_headers_of_the_providers_own(tmp_path: Path) -> None:
    """Such as X-SF-Token, and a scheme that is not Bearer."""
    (tmp_path / "key").write_text("abc")
    key = Credential(file="key")
    headers = {"X-SF-Token": SecretHeader(key), "Authorization": SecretHeader(key, "Token ")}
    with loopback_server(lambda _: json_answer(1)) as server:
        access = HttpAccess(headers={"X-Scope-OrgID": "team"})
        http_session(
            access, None, provider="S", address=server.address, folder=tmp_path, secret_headers=headers
        ).get_json("/")
    sent = server.requests[0].headers
    assert (sent["x-sf-token"], sent["authorization"], sent["x-scope-orgid"]) == ("abc", "Token abc", "team")


def test_a_secret_is_asked_for_now_and_then(tmp_path: Path) -> None:
    """Not at each request, but again after a minute."""
    asked: list[str] = []
    now = [0.0]

    def read_secret(name: str) -> str:
        asked.append(name)
        return f"token-{len(asked)}"

    secrets = Secrets(read_secret, tmp_path, monotonic=lambda: now[0])
    credential = Credential(secret=SECRET)
    assert [secrets.text(credential), secrets.text(credential)] == ["token-1", "token-1"]
    now[0] = 61
    assert secrets.text(credential) == "token-2"
    assert asked == [SECRET, SECRET]


def test_a_refused_secret_is_read_anew_at_once(tmp_path: Path) -> None:
    """Rotation is no outage; a token that stays the same is not tried twice."""
    tokens = ["old", "new"]

    def answer(request: Request) -> Answer:
        return json_answer(1) if request.headers["authorization"] == "Bearer new" else Answer(status=401)

    with loopback_server(answer) as server:
        session = session_to(server.address, tmp_path, lambda _: tokens.pop(0), bearerToken={"secret": SECRET})
        assert session.get_json("/") == 1
        assert len(server.requests) == 2
    with loopback_server(lambda _: Answer(status=401)) as server:
        session = session_to(server.address, tmp_path, lambda _: "same", bearerToken={"secret": SECRET})
        with pytest.raises(MetricsError, match="401"):
            session.get_json("/")
        assert len(server.requests) == 1


def refuse(_: str) -> str:
    """A cluster that does not give its Secrets away."""
    raise ClusterError("forbidden")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "is missing"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"two\nlines", "no single line"),
        (b"\xff", "not UTF-8"),
        (b"x" * (MOST_BYTES + 1), "longer than"),
        ("tökén".encode(), "no header can carry"),
    ],
)
def test_unusable_files_are_told_but_not_shown(tmp_path: Path, content: bytes | None, said: str) -> None:
    """Which file, and what is wrong; nothing is sent without it."""
    if content is not None:
        (tmp_path / "token").write_bytes(content)
    with loopback_server(lambda _: json_answer(1)) as server:
        session = session_to(server.address, tmp_path, bearerToken={"file": "token"})
        with pytest.raises(MetricsError, match=f"^Source at http.*{said}") as caught:
            session.get_json("/")
    assert server.requests == []
    assert "lines" not in str(caught.value).replace("no single line", "")


def test_unusable_secrets_are_told(tmp_path: Path) -> None:
    """No cluster, and one that refuses."""
    for reader, said in ((None, "there is no cluster to ask"), (refuse, "forbidden")):
        session = session_to("http://127.0.0.1:1", tmp_path, reader, bearerToken={"secret": SECRET})
        with pytest.raises(MetricsError, match=f"Secret {SECRET} cannot be read: {said}"):
            session.get_json("/")


def test_a_server_that_repeats_credentials_is_not_repeated(tmp_path: Path) -> None:
    """Neither the token, nor the encoded form of a password."""
    (tmp_path / "token").write_text(TOKEN)

    def echo(request: Request) -> Answer:
        return Answer(request.headers["authorization"].encode(), 500)

    with loopback_server(echo) as server:
        for access in (
            {"bearerToken": {"file": "token"}},
            {"basicAuth": {"username": "eve", "password": {"file": "token"}}},
        ):
            with pytest.raises(MetricsError, match=r"\*\*\*") as caught:
                session_to(server.address, tmp_path, **access).get_json("/", {"token": TOKEN})
            encoded = base64.b64encode(f"eve:{TOKEN}".encode()).decode()
            assert TOKEN not in str(caught.value)
            assert encoded not in str(caught.value)


@contextmanager
def tls_server(authority: Authority, clients: Path | None = None) -> Iterator[str]:
    """An https server; with ``clients``, only for those whose certificate this authority signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    identity = authority.serving("server")
    context.load_cert_chain(identity.certificate, identity.key)
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients)

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep quiet."""

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1")
            self.end_headers()
            self.wfile.write(b"1")

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """A certificate authority of our own."""
    return Authority("ca", tmp_path)


def test_only_known_authorities_are_trusted(tmp_path: Path, authority: Authority) -> None:
    """The system's by default, the file's where one is named, any where that was asked for in so many words."""
    with tls_server(authority) as address:
        with pytest.raises(MetricsError, match="no TLS connection that can be trusted"):
            session_to(address, tmp_path).get_json("/")
        assert session_to(address, tmp_path, tls={"caFile": "ca.crt"}).get_json("/") == 1
        assert session_to(address, tmp_path, tls={"insecureSkipVerify": True}).get_json("/") == 1


def test_client_certificates(tmp_path: Path, authority: Authority) -> None:
    """Shown where they are given; without one such a server is no answer."""
    identity = authority.client("watcher")
    with tls_server(authority, authority.certificate) as address:
        files = {"certFile": identity.certificate.name, "keyFile": identity.key.name}
        assert session_to(address, tmp_path, tls={"caFile": "ca.crt", **files}).get_json("/") == 1
        with pytest.raises(MetricsError):
            session_to(address, tmp_path, tls={"caFile": "ca.crt"}).get_json("/")


@pytest.mark.parametrize("tls", [{"caFile": "nowhere.crt"}, {"certFile": "nowhere.crt", "keyFile": "nowhere.key"}])
def test_missing_certificate_files_are_named(tmp_path: Path, authority: Authority, tls: dict[str, str]) -> None:
    """As an error of the provider."""
    with tls_server(authority) as address, pytest.raises(MetricsError, match=r"nowhere\.crt"):
        session_to(address, tmp_path, tls=tls).get_json("/")


@pytest.mark.parametrize(
    ("address", "access", "warnings"),
    [
        ("https://p.example", {"tls": {"insecureSkipVerify": True}}, ["ANY certificate is trusted"]),
        (
            "https://p.example",
            {"tls": {"insecureSkipVerify": True}, "bearerToken": {"file": "t"}},
            ["read the credentials"],
        ),
        ("http://p.example:9090", {"bearerToken": {"file": "t"}}, ["plain http"]),
        ("http://127.0.0.1:9090", {"bearerToken": {"file": "t"}}, []),
        ("http://[::1]:9090", {"bearerToken": {"file": "t"}}, []),
        ("http://localhost:9090", {"bearerToken": {"file": "t"}}, []),
        ("http://p.example:9090", {}, []),
        ("https://p.example", {"bearerToken": {"file": "t"}}, []),
    ],
)
def test_what_is_easy_to_forge_is_warned_of_once(address: str, access: Any, warnings: list[str]) -> None:
    """When the session is made, not at each request."""
    said: list[str] = []
    http_session(HttpAccess.model_validate(access), None, provider="Source", address=address, warn=said.append)
    assert len(said) == len(warnings)
    assert all(wanted in found for wanted, found in zip(warnings, said, strict=True))
