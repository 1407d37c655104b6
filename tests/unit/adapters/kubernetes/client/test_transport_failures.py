"""A request that may have been read is of unknown outcome, whatever broke; one that cannot have been was not sent."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError
from rescheduler.adapters.kubernetes.eviction.evictor import evict
from rescheduler.extension_points import ClusterError
from rescheduler.model.plan.plan import PodReference
from tests import tls_server as stages
from tests.loopback_server import RESET, Answer, loopback_server
from tests.tls_server import TlsServer, tls_server

POD = PodReference("default", "a", "uid-a")
Cut = Callable[[TlsServer, socket.socket], None]
BEFORE = (stages.at_once, stages.at_the_greeting, stages.with_no_tls, stages.by_certificate)
AFTER = (stages.with_garbage, stages.without_a_word, stages.by_reset, stages.amid_the_answer)


def connection_to(server: TlsServer) -> Connection:
    """As kubectl would connect."""
    return connect(server.kubeconfig(), read_only=False)


@pytest.mark.parametrize("cut", BEFORE)
def test_what_breaks_before_the_request_was_not_sent(cut: Cut, tmp_path: Path) -> None:
    """The handshake of a new connection fails: no byte of the request was written, so it may be sent later."""
    with tls_server(tmp_path, cut) as server:
        server.is_trusted = cut is not stages.by_certificate
        connection = connection_to(server)
        with pytest.raises(ClusterError) as found:
            connection.send("POST", "/api/v1/namespaces", {})
        assert not isinstance(found.value, OutcomeUnknownError), found.value
        assert evict(connection, POD, "1", dry_run=False).kind == "TooManyRequests"
        assert server.requests == []


@pytest.mark.parametrize("cut", AFTER)
def test_what_breaks_after_the_request_may_have_happened(cut: Cut, tmp_path: Path) -> None:
    """The server has read all of it: an eviction stays a debt until the pod itself tells."""
    with tls_server(tmp_path, cut) as server:
        connection = connection_to(server)
        assert evict(connection, POD, "1", dry_run=False).kind == "Failed"
        with pytest.raises(OutcomeUnknownError):
            connection.send("PUT", "/api/v1/namespaces/a", {})
        assert len(server.requests) == 2


def test_a_connection_that_was_kept_is_no_proof(tmp_path: Path) -> None:
    """Its handshake was long ago."""
    with tls_server(tmp_path, stages.at_the_second) as server:
        connection = connection_to(server)
        assert evict(connection, POD, "1", dry_run=True).kind == "Accepted"
        assert evict(connection, POD, "1", dry_run=False).kind == "Failed"
        assert len(server.requests) == 2


def test_a_certificate_that_the_server_misses_is_told_after_the_request(tmp_path: Path) -> None:
    """With TLS 1.3 the client has written its request by then, and nobody knows who has read it."""
    with tls_server(tmp_path, stages.for_want_of_a_certificate) as server:
        assert evict(connection_to(server), POD, "1", dry_run=False).kind == "Failed"


def test_nobody_listens(tmp_path: Path) -> None:
    """Refused connections and names that nobody knows."""
    with tls_server(tmp_path, stages.at_once) as server:
        connection = connection_to(server)
    assert evict(connection, POD, "1", dry_run=False).kind == "TooManyRequests"
    with pytest.raises(ClusterError) as found:
        connection.send("POST", "/api/v1/namespaces", {})
    assert not isinstance(found.value, OutcomeUnknownError)


def test_words_tell_before_from_after(tmp_path: Path) -> None:
    """Whoever reads them looks for the certificates first, or for what became of the request."""
    with tls_server(tmp_path, stages.by_certificate) as server:
        server.is_trusted = False
        with pytest.raises(ClusterError, match=r"no trusted TLS connection to https://127.*certificates"):
            connection_to(server).send("POST", "/api/v1/namespaces", {})
    with (
        tls_server(tmp_path, stages.with_garbage) as server,
        pytest.raises(OutcomeUnknownError, match=r"TLS connection to https://127\S+ broke after POST /api/v1/name"),
    ):
        connection_to(server).send("POST", "/api/v1/namespaces", {})


def test_a_proxy_that_hangs_up_may_have_passed_it_on(tmp_path: Path) -> None:
    """One that nobody can connect to has not."""
    with loopback_server(lambda _: Answer(fault=RESET)) as proxy:
        connection = through(proxy.address, tmp_path)
        assert evict(connection, POD, "1", dry_run=False).kind == "Failed"
        assert len(proxy.requests) == 1
    assert evict(connection, POD, "1", dry_run=False).kind == "TooManyRequests"


def through(proxy: str, folder: Path) -> Connection:
    """A connection by way of a proxy."""
    path = folder / "config"
    cluster = {"server": "http://127.0.0.1:9", "proxy-url": proxy}
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "one", "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "secret"}}],
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
    }  # fmt: skip
    path.write_text(json.dumps(config))
    return connect(str(path), read_only=False)
