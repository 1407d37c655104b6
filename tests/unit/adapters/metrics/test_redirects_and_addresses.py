"""Where a session goes: no other server, no link-local address, no proxy of the environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rescheduler.adapters.metrics.http.bounded_adapter import checked_peer
from rescheduler.extension_points import MetricsError
from tests.loopback_server import Answer, Request, json_answer, loopback_server
from tests.unit.adapters.metrics.sessions import session_to


class Peer:
    """A connected socket as far as its peer is concerned."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.is_closed = False

    def getpeername(self) -> tuple[str, int]:
        """As a socket's."""
        return self.address, 80

    def close(self) -> None:
        """As a socket's."""
        self.is_closed = True


@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "fe80::1%eth0"])
def test_link_local_addresses_are_never_asked(address: str) -> None:
    """Clouds serve their machines' credentials there; the name may look harmless."""
    peer = Peer(address)
    with pytest.raises(MetricsError, match="link-local"):
        checked_peer(peer)  # type: ignore[arg-type]
    assert peer.is_closed


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "203.0.113.9"])
def test_other_addresses_are_asked(address: str) -> None:
    """Private ones are where providers live."""
    peer = Peer(address)
    assert checked_peer(peer) is peer  # type: ignore[arg-type, comparison-overlap]
    assert not peer.is_closed


def redirecting(request: Request) -> Answer:
    """Redirects as their path says: /302/where."""
    status = int(request.route.split("/")[1]) if request.route != "/end" else 0
    target = request.query.get("to", "/end")
    return (
        json_answer([request.method, request.body.decode()])
        if not status
        else Answer(b"", status, {"Location": target})
    )


def test_redirects_within_the_server_are_followed() -> None:
    """As from /prometheus to /prometheus/; with a body only where it is sent on."""
    with loopback_server(redirecting) as server:
        session = session_to(server.address)
        assert session.get_json("/302/x") == ["GET", ""]
        assert session.post_form("/307/x", {"a": "1"}) == ["POST", "a=1"]
        with pytest.raises(MetricsError, match=r"redirect to http://127\.0\.0\.1:\d+/end, which is not"):
            session.post_form("/302/x", {"a": "1"})


@pytest.mark.parametrize(
    "target", ["http://localhost:{port}/end", "http://127.0.0.1:1/?t=1", "//evil.example/", "file:///etc/passwd"]
)
def test_redirects_to_other_servers_are_refused(target: str) -> None:
    """They would be sent our credentials, or our trust."""
    with loopback_server(redirecting) as server:
        there = target.format(port=server.address.rpartition(":")[2])
        with pytest.raises(MetricsError, match=r"redirect to .*, which is not followed") as caught:
            session_to(server.address).get_json("/302/x", {"to": there})
        assert len(server.requests) == 1
    assert "t=1" not in str(caught.value)


def test_a_circle_of_redirects_ends() -> None:
    """Like any other useless answer."""
    with loopback_server(lambda _: Answer(status=302, headers={"Location": "/302/x"})) as server:
        with pytest.raises(MetricsError):
            session_to(server.address).get_json("/302/x")
        assert len(server.requests) < 10


@pytest.fixture
def hostile_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Proxies, certificates and passwords that the environment offers."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login eve password sesame\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    return


@pytest.mark.usefixtures("hostile_environment")
def test_the_environment_decides_nothing() -> None:
    """No proxy, no netrc."""
    with loopback_server(lambda _: json_answer(1)) as server:
        assert session_to(server.address).get_json("/") == 1
    assert "authorization" not in server.requests[0].headers
