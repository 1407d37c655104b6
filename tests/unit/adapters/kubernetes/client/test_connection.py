"""The connection: credentials, paging, patience, and writes that a read-only one refuses."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from rescheduler.adapters.kubernetes.client.answers import continue_token, list_version
from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.client.credentials import load_endpoint
from rescheduler.adapters.kubernetes.client.failures import (
    ForbiddenError,
    NotServedError,
    OutcomeUnknownError,
    PagesExpiredError,
    WriteRefusedError,
)
from rescheduler.extension_points import ClusterError
from tests.unit.adapters.fake_api_server import Answer, Request, answer, serving, status

EVICTION = "/api/v1/namespaces/default/pods/a/eviction"


def always(found: Answer) -> Callable[[Request], Answer]:
    """The same answer to everything."""
    return lambda _: found


def test_sends_the_token_and_its_own_name(tmp_path: Path) -> None:
    """Requests carry the kubeconfig's token and say who asks."""
    with serving(always(answer({"items": []}))) as server:
        connect(server.kubeconfig(tmp_path), read_only=True).get("/api/v1/nodes", {"limit": "1"})
    (request,) = server.requests
    assert request.headers["authorization"] == "Bearer secret-token"
    assert request.headers["user-agent"].startswith("rescheduler/")
    assert request.params == {"limit": "1"}


def test_follows_continue_tokens(tmp_path: Path) -> None:
    """All pages of a list are read, each with the token of the one before."""

    def handle(request: Request) -> Answer:
        page = int(request.params.get("continue", "0"))
        return answer({"metadata": {"continue": str(page + 1) if page < 2 else ""}, "items": [page]})

    with serving(handle) as server:
        pages = list(connect(server.kubeconfig(tmp_path), read_only=True).pages("/api/v1/pods", limit=7))
    assert len(pages) == 3
    assert [request.params.get("continue") for request in server.requests] == [None, "1", "2"]
    assert {request.params["limit"] for request in server.requests} == {"7"}


@pytest.mark.parametrize(
    ("page", "token"),
    [
        (b'{"metadata":{"resourceVersion":"1","continue":"abc"},"items":[]}', "abc"),
        (b'{"metadata":{"resourceVersion":"1"},"items":[]}', None),
        (b'{"items":[{"a":1}],"metadata":{"continue":"late"}}', "late"),
        (b'{"metadata":{"note":"\\"items\\"","continue":"abc"},"items":[]}', "abc"),
        (b'{"items":[]}', None),
    ],
)
def test_finds_the_continue_token_wherever_it_stands(page: bytes, token: str | None) -> None:
    """The token is found before and after the items, and not in texts."""
    assert continue_token(page) == token


def test_finds_the_version_of_a_list_wherever_it_stands() -> None:
    """Before and after the items; a list that tells none has an empty one."""
    assert list_version(b'{"metadata":{"resourceVersion":"12","continue":"abc"},"items":[]}') == "12"
    assert list_version(b'{"items":[{"metadata":{"resourceVersion":"3"}}],"metadata":{"resourceVersion":"12"}}') == "12"
    assert list_version(b'{"metadata":{},"items":[]}') == ""


def test_an_expired_list_is_told_apart(tmp_path: Path) -> None:
    """410 between two pages asks the caller to start again."""

    def handle(request: Request) -> Answer:
        if "continue" in request.params:
            return status(410, "The provided continue parameter is too old")
        return answer({"metadata": {"continue": "x"}, "items": []})

    with serving(handle) as server:
        pages = connect(server.kubeconfig(tmp_path), read_only=True).pages("/api/v1/pods")
        next(pages)
        with pytest.raises(PagesExpiredError, match="too old"):
            next(pages)


def test_reads_a_renewed_token_after_the_first_401(tmp_path: Path) -> None:
    """A token file that changed meanwhile is read again; the caller notices nothing."""

    def handle(request: Request) -> Answer:
        if request.headers["authorization"] == "Bearer fresh":
            return answer({"items": []})
        (tmp_path / "token").write_text("fresh")
        return status(401, "Unauthorized")

    with serving(handle) as server:
        assert connect(server.kubeconfig(tmp_path), read_only=True).get("/api/v1/pods") == b'{"items": []}'
    assert len(server.requests) == 2


def test_a_token_that_stays_expired_is_told_without_showing_it(tmp_path: Path) -> None:
    """The error names server and context and what to do, never the token."""
    with serving(always(status(401, "Unauthorized"))) as server, pytest.raises(ClusterError) as caught:
        connect(server.kubeconfig(tmp_path, token="hush-hush"), read_only=True).get("/api/v1/pods")
    text = str(caught.value)
    assert server.url in text
    assert "'one'" in text
    assert "expired" in text
    assert "hush" not in text


def test_a_forbidden_kind_is_named_with_the_remedy(tmp_path: Path) -> None:
    """403 names verb, resource and group, and the file that grants the right."""
    refusal = status(403, 'poddisruptionbudgets.policy is forbidden: User "x" cannot list')
    with serving(always(refusal)) as server, pytest.raises(ClusterError) as caught:
        connect(server.kubeconfig(tmp_path), read_only=True).get("/apis/policy/v1/poddisruptionbudgets")
    text = str(caught.value)
    assert "list poddisruptionbudgets in API group policy" in text
    assert 'User "x" cannot list' in text
    assert "kubectl apply -f deploy/reading.yaml, and bind" in text


def test_a_guard_that_refuses_is_not_taken_for_a_missing_right(tmp_path: Path) -> None:
    """No role helps against an admission policy: its own words are told, and where to read about it."""
    words = "jobs.batch a is forbidden: ValidatingAdmissionPolicy 'rescheduler-job-guard' denied request: no other Job"
    with serving(always(status(403, words))) as server, pytest.raises(ForbiddenError) as caught:
        connect(server.kubeconfig(tmp_path), read_only=True).get("/apis/batch/v1/namespaces/holds/jobs/a")
    assert "denied request: no other Job" in str(caught.value)
    assert "docs/rights.md" in str(caught.value)
    assert "kubectl apply" not in str(caught.value)


def test_a_missing_kind_is_told_apart(tmp_path: Path) -> None:
    """404 is an error of its own, since some kinds may be missing."""
    with serving(always(status(404, "not found"))) as server, pytest.raises(NotServedError):
        connect(server.kubeconfig(tmp_path), read_only=True).get("/apis/policy/v1/poddisruptionbudgets")


def test_waits_while_the_server_is_busy(tmp_path: Path) -> None:
    """429 and 503 are asked again after the time the server names."""
    answers = iter([Answer(429, b"slow down", {"Retry-After": "3"}), Answer(503, b""), answer({"items": []})])
    waits: list[float] = []
    with serving(lambda _: next(answers)) as server:
        kubeconfig = server.kubeconfig(tmp_path)
        connection = Connection(lambda: load_endpoint(kubeconfig, None), read_only=True, sleep=waits.append)
        connection.get("/api/v1/pods")
    assert waits == [3.0, 1.0]


def test_a_server_that_stays_busy_is_told(tmp_path: Path) -> None:
    """Patience ends after a few attempts."""
    with serving(always(Answer(429, b"slow down", {"Retry-After": "nonsense"}))) as server:
        kubeconfig = server.kubeconfig(tmp_path)
        connection = Connection(lambda: load_endpoint(kubeconfig, None), read_only=True, sleep=lambda _: None)
        with pytest.raises(ClusterError, match="status 429: slow down"):
            connection.get("/api/v1/pods")
    assert len(server.requests) == 4


@pytest.mark.parametrize("body", [b"<html><body>Sign in</body></html>", b"", b"not json"])
def test_what_is_no_json_is_refused(tmp_path: Path, body: bytes) -> None:
    """An error page of a proxy is shown in short, not parsed."""
    with serving(always(Answer(200, body))) as server, pytest.raises(ClusterError, match="not JSON"):
        connect(server.kubeconfig(tmp_path), read_only=True).get("/api/v1/pods")


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    """A login page elsewhere never sees the token."""
    elsewhere = always(Answer(302, b"", {"Location": "http://127.0.0.1:9/"}))
    with serving(elsewhere) as server, pytest.raises(ClusterError, match="redirect"):
        connect(server.kubeconfig(tmp_path), read_only=True).get("/api/v1/pods")
    assert len(server.requests) == 1


def test_an_answer_that_breaks_off_is_asked_for_once_more(tmp_path: Path) -> None:
    """A GET survives one broken connection, not two."""
    answers = iter([Answer(200, b"{}", announced=100), answer({"items": []})])
    with serving(lambda _: next(answers)) as server:
        connect(server.kubeconfig(tmp_path), read_only=True).get("/api/v1/pods")
    with serving(always(Answer(200, b"{}", announced=100))) as server, pytest.raises(ClusterError, match="broke off"):
        connect(server.kubeconfig(tmp_path), read_only=True).get("/api/v1/pods")


def test_a_server_that_does_not_listen_is_named(tmp_path: Path) -> None:
    """Nobody at the address: the address is told."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(always(Answer())) as server:
        server.port, kubeconfig = port, ""
        kubeconfig = server.kubeconfig(tmp_path)
        server.port = 0
    with pytest.raises(ClusterError, match=f"http://127.0.0.1:{port} cannot be reached"):
        connect(kubeconfig, read_only=True).get("/api/v1/pods")


def test_a_silent_server_is_given_up(tmp_path: Path) -> None:
    """A write that got no answer says that its outcome is unknown, and is sent once."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        with serving(always(Answer())) as server:
            server.port, real = deaf.getsockname()[1], server.port
            connection = connect(server.kubeconfig(tmp_path), read_only=False)
            server.port = real
        with pytest.raises(OutcomeUnknownError, match="did not answer POST") as caught:
            connection.send("POST", EVICTION, {}, timeout=(1.0, 0.05))
    assert caught.value.is_timeout


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_read_only_connection_sends_no_write(tmp_path: Path, method: str) -> None:
    """Every mutating verb is refused before anything is sent."""
    with serving(always(Answer())) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=True, allow_dry_run_evictions=True)
        with pytest.raises(WriteRefusedError, match="read-only"):
            connection.send(method, EVICTION, {})
    assert not server.requests


def test_dry_run_evictions_pass_only_where_they_are_allowed(tmp_path: Path) -> None:
    """Only an eviction, only with dryRun=All as a parameter, only with the flag."""
    dry = {"dryRun": "All"}
    with serving(always(Answer(201))) as server:
        kubeconfig = server.kubeconfig(tmp_path)
        allowed = connect(kubeconfig, read_only=True, allow_dry_run_evictions=True)
        assert allowed.send("POST", EVICTION, {}, params=dry).status == 201
        for path, params in ((EVICTION, None), ("/api/v1/namespaces/default/pods", dry), (f"{EVICTION}?a=", dry)):
            with pytest.raises(WriteRefusedError):
                allowed.send("POST", path, {}, params=params)
        with pytest.raises(WriteRefusedError):
            allowed.send("DELETE", EVICTION, {}, params=dry)
        with pytest.raises(WriteRefusedError):
            connect(kubeconfig, read_only=True).send("POST", EVICTION, {}, params=dry)
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", [201, 409, 429, 500])
def test_a_write_is_sent_once_and_any_answer_is_returned(tmp_path: Path, code: int) -> None:
    """Writes are never repeated, whatever the server says."""
    with serving(always(Answer(code, b'{"a":1}', {"Retry-After": "1"}))) as server:
        response = connect(server.kubeconfig(tmp_path), read_only=False).send("POST", EVICTION, {"kind": "Eviction"})
    assert (response.status, response.body) == (code, b'{"a":1}')
    assert response.headers["retry-after"] == "1"
    assert [request.body for request in server.requests] == [b'{"kind":"Eviction"}']


def test_remembers_the_servers_clock(tmp_path: Path) -> None:
    """The server's Date is kept, to measure ages by the clock that wrote the times."""
    with serving(always(Answer(200, b"{}", {"Date": "Fri, 01 May 2026 10:00:00 GMT"}))) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=True)
        connection.get("/version")
    assert connection.server_time == 1_777_629_600.0


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/api/v1/pods?limit=5", "list pods"),
        ("/api/v1/nodes/a", "get nodes"),
        ("/api/v1/namespaces/a", "get namespaces"),
        ("/api/v1/namespaces/a/pods", "list pods in namespace a"),
        ("/api/v1/namespaces/a/pods/b", "get pods in namespace a"),
        ("/apis/batch/v1/namespaces/a/jobs/b", "get jobs in API group batch in namespace a"),
        ("/apis/metrics.k8s.io/v1beta1/nodes", "list nodes in API group metrics.k8s.io"),
    ],
)
def test_a_forbidden_request_is_told_by_the_verb_that_roles_use(tmp_path: Path, path: str, said: str) -> None:
    """``get`` for one object, ``list`` for many: that is what is to be granted."""
    with serving(always(status(403, "no"))) as server, pytest.raises(ClusterError) as caught:
        connect(server.kubeconfig(tmp_path), read_only=True).get(path)
    assert f"forbids us to {said} (403 Forbidden" in str(caught.value)
