"""The way from a browser to the page: who gets through, with what, and what no page of another site can do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from rescheduler.daemon.page.local_proxy import LocalProxy
from rescheduler.extension_points import ClusterError
from tests.unit.daemon.api.asking import Answer, ask

HOST = "127.0.0.1:4711"
OURS = {"Host": HOST, "Origin": f"http://{HOST}"}
APPROVE = "/v1/plans/second/approve"


class Given(NamedTuple):
    """An answer of the daemon."""

    status: int = 200
    headers: Mapping[str, str] = {"content-type": "application/json", "etag": '"x"'}
    body: bytes = b"{}"


class FakeDaemon:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Mapping[str, str], bytes | None]] = []
        self.is_away = False

    def ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Given:
        """An empty document."""
        if self.is_away:
            raise ClusterError("the daemon does not answer")
        self.asked.append((method, target, headers, body))
        return Given()


class Stage:
    """A proxy before a daemon that is none."""

    def __init__(self, *allowed: str) -> None:
        self.daemon = FakeDaemon()
        self.proxy = LocalProxy(self.daemon, allowed)
        self.proxy.serve_as(4711)

    def ask(self, target: str, method: str = "GET", headers: Mapping[str, str] = OURS, body: bytes = b"") -> Answer:
        """What the browser gets."""
        return ask(self.proxy, target, method, headers, [body])

    def key(self) -> dict[str, str]:
        """The headers of our own page, once it has shown the secret."""
        answer = self.ask("/session", "POST", {**OURS, "X-Rescheduler-Secret": self.proxy.secret})
        assert answer.status == 200
        return {**OURS, "X-Rescheduler-Key": answer.json["key"]}


def test_the_first_page_holds_nothing_but_the_script() -> None:
    """Neither secret nor key nor anything of the cluster, and no cookie."""
    stage = Stage()
    answer = stage.ask("/", headers={"Host": HOST})
    assert (answer.status, answer.type) == (200, "text/html; charset=utf-8")
    assert stage.proxy.secret not in answer.text
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "set-cookie" not in answer.headers
    assert stage.daemon.asked == []


def test_the_secret_is_good_once() -> None:
    """For whoever comes second it is none, and he is told so."""
    stage = Stage()
    stage.key()
    again = stage.ask("/session", "POST", {**OURS, "X-Rescheduler-Secret": stage.proxy.secret})
    assert (again.status, again.json["message"]) == (
        403, "this address was opened before; run rescheduler ui again for another one",
    )  # fmt: skip


@pytest.mark.parametrize("secret", ["", "x", "\xff"])
def test_a_wrong_secret_spends_nothing(secret: str) -> None:
    """The right one is good afterwards."""
    stage = Stage()
    assert stage.ask("/session", "POST", {**OURS, "X-Rescheduler-Secret": secret}).status == 403
    assert stage.key()


def test_with_the_key_reads_get_through_and_the_daemon_hears_what_may_be_done() -> None:
    """The query too; of headers only those that the API knows."""
    stage = Stage("pause")
    answer = stage.ask("/v1/rounds?limit=5", headers={**stage.key(), "Cookie": "a=b", "Accept": "application/json"})
    assert (answer.status, answer.headers["etag"]) == (200, '"x"')
    ((method, target, headers, body),) = stage.daemon.asked
    assert (method, target, body) == ("GET", "/v1/rounds?limit=5", None)
    assert headers == {"accept": "application/json", "x-rescheduler-allow": "pause"}


@pytest.mark.parametrize("key", ["", "wrong", "\xff"])
@pytest.mark.parametrize("target", ["/", "/v1/state", APPROVE])
def test_without_the_key_nothing_gets_through(target: str, key: str) -> None:
    """Reads neither."""
    stage = Stage("approve", "pause")
    for method in ("GET", "POST"):
        assert stage.ask(target, method, {**OURS, "X-Rescheduler-Key": key}).status == 403
    assert stage.daemon.asked == []


@pytest.mark.parametrize(
    ("allowed", "target", "status"),
    [
        ((), APPROVE, 403), ((), "/v1/pause", 403), (("pause",), "/v1/pause", 200), (("pause",), "/v1/resume", 200),
        (("pause",), APPROVE, 403), (("approve",), APPROVE, 200), (("approve",), "/v1/pause", 403),
        (("approve", "pause"), "/v1/trigger", 403), (("approve", "pause"), "/v1/policy/acknowledge", 403),
        (("approve",), "/v1/plans/a/b/approve", 403), (("approve",), "/v1/plans/x/approve/../../pause", 403),
    ],
)  # fmt: skip
def test_it_only_reads_unless_it_was_told_otherwise(allowed: tuple[str, ...], target: str, status: int) -> None:
    """The refusal names what lets it do so."""
    stage = Stage(*allowed)
    answer = stage.ask(target, "POST", {**stage.key(), "Content-Type": "application/json", "If-Match": '"t"'}, b"{}")
    assert answer.status == status
    assert [one[:2] for one in stage.daemon.asked] == ([("POST", target)] if status == 200 else [])
    if status == 200:
        assert stage.daemon.asked[0][2]["if-match"] == '"t"'
        assert stage.daemon.asked[0][3] == b"{}"
    else:
        assert "rescheduler ui only reads" in answer.json["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example", "Origin": "http://evil.example"}, {"Host": "127.0.0.1:4712"}, {},
        {"Host": "127.0.0.1"}, {"Host": HOST, "Origin": "http://evil.example"}, {"Host": HOST, "Origin": "null"},
        {"Host": HOST, "Origin": "http://127.0.0.1:4712"}, {"Host": HOST, "Origin": f"https://{HOST}"},
        {**OURS, "Sec-Fetch-Site": "cross-site"}, {**OURS, "Sec-Fetch-Site": "same-site"},
    ],
)  # fmt: skip
def test_whoever_is_not_our_page_is_refused_though_he_had_the_key(headers: dict[str, str]) -> None:
    """Another name of this machine, another port, another site, a frame without an origin."""
    stage = Stage("approve", "pause")
    key = stage.key()["X-Rescheduler-Key"]
    answer = stage.ask("/v1/pause", "POST", {**headers, "X-Rescheduler-Key": key}, b"{}")
    assert answer.status == 403
    assert "access-control-allow-origin" not in answer.headers
    assert stage.daemon.asked == []


def test_a_post_without_an_origin_is_no_browsers_page() -> None:
    """Each browser sends one with a POST."""
    stage = Stage("pause")
    key = stage.key()
    del key["Origin"]
    assert stage.ask("/v1/pause", "POST", key, b"{}").status == 403
    assert stage.ask("/v1/state", "GET", key).status == 200


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "HEAD"])
def test_other_methods_are_not_passed_on(method: str) -> None:
    """A preflight gets no leave."""
    stage = Stage("approve", "pause")
    answer = stage.ask("/v1/pause", method, {**stage.key(), "Access-Control-Request-Method": "POST"})
    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_endless_bodies_and_a_daemon_that_is_away_are_told() -> None:
    """413 and 503, in the API's form."""
    stage = Stage("pause")
    key = stage.key()
    assert stage.ask("/v1/pause", "POST", key, b"x" * 70_000).status == 413
    stage.daemon.is_away = True
    answer = stage.ask("/v1/state", "GET", key)
    assert (answer.status, json.loads(answer.body)["message"]) == (503, "the daemon does not answer")
