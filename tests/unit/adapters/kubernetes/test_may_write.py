"""Writes that may not be sent any more are refused at the last moment; reads and questions about rights pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.client.credentials import Endpoint, load_endpoint
from rescheduler.adapters.kubernetes.client.failures import WriteRefusedError
from rescheduler.adapters.kubernetes.eviction.evictor import evict
from rescheduler.extension_points import NotSentError
from rescheduler.model.plan.plan import PodReference
from tests.unit.adapters.fake_api_server import Answer, Request, serving

EVICTION = "/api/v1/namespaces/default/pods/a/eviction"
REVIEWS = ("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/authentication.k8s.io/v1/tokenreviews")


def fine(_: Request) -> Answer:
    """Any request succeeds."""
    return Answer(201)


def test_the_switch_holds_from_one_request_to_the_next(tmp_path: Path) -> None:
    """It is asked before each write; the reason is told."""
    reasons: list[str | None] = [None, "b leads", None]
    with serving(fine) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=False, may_write=lambda: reasons.pop(0))
        assert connection.send("POST", EVICTION, {}).status == 201
        with pytest.raises(WriteRefusedError, match=f"POST {EVICTION} was not sent: b leads"):
            connection.send("POST", EVICTION, {})
        assert connection.send("POST", EVICTION, {}).status == 201
    assert len(server.requests) == 2


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_every_kind_of_write_is_refused(tmp_path: Path, method: str) -> None:
    """A dry run too: it runs the cluster's webhooks."""
    with serving(fine) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=False, may_write=lambda: "no")
        for params in (None, {"dryRun": "All"}):
            with pytest.raises(NotSentError):
                connection.send(method, EVICTION, {}, params=params)
    assert not server.requests


def test_reads_and_questions_pass(tmp_path: Path) -> None:
    """Who does not lead may look, and ask what it may do."""
    with serving(fine) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=False, may_write=lambda: "no")
        connection.get("/api/v1/nodes")
        for path in REVIEWS:
            assert connection.send("POST", path, {}).status == 201
    assert len(server.requests) == 3


def test_an_eviction_that_is_held_back_is_told_as_such(tmp_path: Path) -> None:
    """Not as an answer of the server, after which it would be tried again."""
    with serving(fine) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=False, may_write=lambda: "no")
        with pytest.raises(NotSentError):
            evict(connection, PodReference("default", "a", "u"), "7", dry_run=False)
    assert not server.requests


def test_it_is_asked_after_credentials_were_renewed(tmp_path: Path) -> None:
    """A plug-in that logs in may take minutes, in which we may lose the lead."""
    asked: list[str] = []

    class Slow:
        def get_api_key_with_prefix(self, *_: object, **__: object) -> None:
            asked.append("credentials")

    def may_write() -> None:
        asked.append("may write")

    with serving(fine) as server:
        kubeconfig = server.kubeconfig(tmp_path)
        real = load_endpoint(kubeconfig, None)
        slow = Endpoint(real.server, real.name, Slow(), real.pool)
        Connection(lambda: slow, read_only=False, may_write=may_write).send("POST", EVICTION, {})
    assert asked[:2] == ["credentials", "may write"]
