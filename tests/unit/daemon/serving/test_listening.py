"""The server on a real address of this machine: bytes over a socket, refusals at the start, a graceful end."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography import x509

from rescheduler.daemon.load_watcher.app import create_app
from rescheduler.daemon.serving import listening as impatience
from rescheduler.daemon.serving.listening import ApplicationServer, Door, ListenError, RenewingServer, resolve
from rescheduler.policy.fields.daemon.api import ServerTls
from rescheduler.policy.fields.metrics_access import Tls
from rescheduler.policy.fields.usage import WatcherApi
from rescheduler.policy.reading.errors import PolicyError
from tests.clocks import FakeClock
from tests.unit.daemon.api.certificates import authority
from tests.unit.daemon.api.records import SetSource, collected
from tests.unit.daemon.api.stock_client import ClientError, fetch

# A renewed certificate is shown without a restart.


async def app(scope: object, receive: object, send: object) -> None:
    """Nothing is asked of it."""


def shown(listener: ApplicationServer) -> str:
    """The common name of the certificate that a new connection sees."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, _, port = listener.url.removeprefix("https://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=20) as plain, context.wrap_socket(plain) as stream:
        found = x509.load_der_x509_certificate(stream.getpeercert(binary_form=True) or b"")
    return found.subject.rfc4514_string()


@pytest.mark.parametrize("is_linked", [False, True])
def test_what_is_renewed_is_shown_and_what_is_broken_is_passed_over(tmp_path: Path, is_linked: bool) -> None:
    """As files are replaced, and as mounted Secrets turn a symbolic link."""
    made = authority(tmp_path)
    first, second = made.issue("first"), made.issue("second")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"

    def put(source: tuple[str, str]) -> None:
        for file, target in zip(source, (certificate, key), strict=True):
            target.unlink(missing_ok=True)
            target.symlink_to(file) if is_linked else shutil.copyfile(file, target)

    put(first)
    listener = ApplicationServer(
        app, "127.0.0.1:0", Door("test", "api", ServerTls(cert_file=str(certificate), key_file=str(key)))
    )
    server = listener._server
    assert isinstance(server, RenewingServer)
    listener.start()
    try:
        assert shown(listener) == "CN=first"
        put((second[0], first[1]))  # half-way: the key of the other
        server.look()
        assert shown(listener) == "CN=first"
        certificate.unlink()
        server.look()
        assert shown(listener) == "CN=first"
        put(second)
        server.look()
        assert shown(listener) == "CN=second"
    finally:
        listener.stop()


SOURCE = SetSource(collected())


def application() -> Any:
    """An application that knows two nodes."""
    return create_app(SOURCE, FakeClock(), interval=15.0)


@contextmanager
def listening(address: str = "127.0.0.1:0", api: WatcherApi | None = None) -> Iterator[ApplicationServer]:
    """A server that is stopped at the end."""
    listener = ApplicationServer(application(), address, api or WatcherApi())
    try:
        listener.start()
        yield listener
    finally:
        listener.stop()


def connected(listener: ApplicationServer) -> http.client.HTTPConnection:
    """A connection to the server."""
    place = urlsplit(listener.url)
    return http.client.HTTPConnection(str(place.hostname), place.port, timeout=20)


def exchange(listener: ApplicationServer, request: bytes) -> bytes:
    """What comes back for raw bytes, up to the end of the connection."""
    place = urlsplit(listener.url)
    with socket.create_connection((str(place.hostname), place.port), timeout=20) as stream:
        stream.sendall(request)
        found = b""
        while part := stream.recv(65536):
            found += part
        return found


def test_a_stock_client_reads_it_over_a_socket() -> None:
    """Its way of asking, the headers as sent, and one connection for several requests."""
    with listening() as listener:
        report = fetch(listener.url)
        assert (report.source, report.cpu_of("n1"), report.risk_inputs("n2", "Memory")) == (
            "Prometheus",
            20.0,
            (60.5, 0.0),
        )
        connection = connected(listener)
        for method in ("GET", "HEAD", "GET"):
            connection.request(method, "/watcher?host=n1")
            answer = connection.getresponse()
            body = answer.read()
            assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
            assert answer.headers["Server"] is None
            assert len(body) == (0 if method == "HEAD" else int(answer.headers["Content-Length"]))
        connection.close()


def test_a_client_keeps_what_it_has_when_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A status other than 200 is an error to it."""
    from rescheduler.usage.collecting.collected import Collected

    monkeypatch.setattr(SOURCE, "collected", Collected(0.0))
    with listening() as listener, pytest.raises(ClientError, match="404"):
        fetch(listener.url)


def test_port_0_is_any_free_port_and_the_url_tells_it() -> None:
    """Two at once do not get in each other's way."""
    with listening() as one, listening() as other:
        assert one.url != other.url
        assert not one.url.endswith(":0")
        assert one.is_running


def test_a_port_in_use_is_told_before_anything_starts() -> None:
    """With the way out."""
    with listening() as listener, pytest.raises(ListenError) as caught:
        ApplicationServer(application(), urlsplit(listener.url).netloc, WatcherApi())
    assert "another process listens there already; write another --address" in str(caught.value)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("127.0.0.1", "is no address to listen on; wanted HOST:PORT"),
        ("127.0.0.1:http", "is no address to listen on"),
        ("127.0.0.1:70000", "is no address to listen on"),
        ("127.0.0.1:-1", "is no address to listen on"),
        ("127.0.0.1:²", "is no address to listen on"),
        ("", "is no address to listen on"),
        ("no-such-host.invalid:2020", "the host is not known here"),
        (f"{'a' * 300}:2020", "the host is not known here"),
    ],
)
def test_what_is_no_address_is_refused(address: str, text: str) -> None:
    """Found, wanted."""
    with pytest.raises(ListenError) as caught:
        ApplicationServer(application(), address, WatcherApi())
    assert text in str(caught.value)


def test_an_address_of_another_machine_is_refused() -> None:
    """Nothing is bound; protected, so that this is not what is refused."""
    from rescheduler.policy.fields.metrics_access import Credential

    api = WatcherApi(bearer_token=Credential(file="/token"))
    with pytest.raises(ListenError, match="this machine has no such address"):
        ApplicationServer(application(), "192.0.2.1:0", api)


@pytest.mark.parametrize("address", ["0.0.0.0:0", ":0"])
def test_an_open_address_without_protection_is_refused(address: str) -> None:
    """Before it is bound."""
    with pytest.raises(PolicyError, match="can be reached from elsewhere"):
        ApplicationServer(application(), address, WatcherApi())


def test_names_are_judged_by_what_they_stand_for() -> None:
    """localhost is what the machine makes of it, IPv4 first, as stock clients write it."""
    assert resolve("localhost:2020").host == "127.0.0.1"
    assert resolve("[::1]:2020").host == "::1"
    assert resolve(":2020").host == "0.0.0.0"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /watcher HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 20000 + b"\r\n\r\n", b"431"),
        (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"414"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET /watcher HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /watcher HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"GET /watcher HTTP/1.0\r\n\r\n", b"200"),
        (b"GET /watcher HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"200"),
    ],
)
def test_requests_of_unusual_form_are_answered_and_closed(request_: bytes, status: bytes) -> None:
    """Long heads, large bodies and nonsense cost little."""
    with listening() as listener:
        assert exchange(listener, request_).split(b" ", 2)[1] == status
        assert fetch(listener.url).source == "Prometheus"


def test_an_endless_head_is_cut_off() -> None:
    """With 400, or where we are still writing without a word."""
    with listening() as listener:
        try:
            found = exchange(listener, b"GET /watcher HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 10**6)
        except ConnectionError:
            found = b""
        assert found[:12] in (b"", b"HTTP/1.1 400")


def test_a_connection_without_a_request_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slowly it drips."""
    monkeypatch.setattr(impatience, "SECONDS", 0.2)
    with listening() as listener:
        assert exchange(listener, b"GET /watcher HT") == b""


def test_mutual_tls_lets_in_who_shows_a_certificate(tmp_path: Path) -> None:
    """Nobody else, not even to the health pages."""
    made, other = authority(tmp_path), authority(tmp_path, "other")
    certificate, key = made.issue("server")
    api = WatcherApi(tls=Tls(cert_file=certificate, key_file=key, ca_file=made.file))
    with listening("127.0.0.1:0", api) as listener:
        assert listener.url.startswith("https://")
        answers = []
        for client in (made.issue("client"), other.issue("stranger"), None):
            context = ssl.create_default_context(cafile=made.file)
            if client is not None:
                context.load_cert_chain(*client)
            answers.append(_status(listener, context))
        assert answers == [200, None, None]


def _status(listener: ApplicationServer, context: ssl.SSLContext) -> int | None:
    """The status of one request, None where the connection was refused."""
    place = urlsplit(listener.url)
    connection = http.client.HTTPSConnection(str(place.hostname), place.port, timeout=20, context=context)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


def test_stopping_closes_the_address_and_may_be_repeated() -> None:
    """Also of a server that was never started."""
    listener = ApplicationServer(application(), "127.0.0.1:0", WatcherApi())
    address = urlsplit(listener.url).netloc
    listener.start()
    listener.stop()
    listener.stop()
    assert not listener.is_running
    again = ApplicationServer(application(), address, WatcherApi())
    again.stop()
