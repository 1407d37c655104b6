"""``rescheduler ui`` as a user runs it: a real process before a real server, asked over HTTP as a browser would."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from rescheduler.daemon.api.daemon_running import daemon_listener
from rescheduler.daemon.steering.explaining import Basis, Explaining
from rescheduler.policy.fields.daemon.api import ApiPolicy
from rescheduler.policy.fields.policy import Policy
from tests.unit.cli.conftest import Answer
from tests.unit.daemon.api.daemon_bench import DaemonBench, bench

Shell = Callable[..., Answer]


class Got(NamedTuple):
    """Status and body."""

    status: int
    body: str


class Page(NamedTuple):
    """A proxy that runs, and the daemon behind it; ``secret`` stands in the printed address."""

    host: str
    port: int
    secret: str
    bench: DaemonBench

    def ask(self, target: str, method: str = "GET", headers: Mapping[str, str] | None = None, body: str = "") -> Got:
        """As our own page would."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            given = {"Origin": f"http://{self.host}:{self.port}", **(headers or {})}
            connection.request(method, target, body if method == "POST" else None, given)
            answer = connection.getresponse()
            return Got(answer.status, answer.read().decode())
        finally:
            connection.close()

    def key(self) -> dict[str, str]:
        """The header that the secret is exchanged for."""
        answer = self.ask("/session", "POST", {"X-Rescheduler-Secret": self.secret})
        return {"X-Rescheduler-Key": json.loads(answer.body)["key"], "Content-Type": "application/json"}


@contextmanager
def opened(folder: Path, *arguments: str, token: str = "token-jane") -> Iterator[Page]:
    """``rescheduler ui`` before the bench's daemon; ends with SIGTERM, and exit code 0."""
    found = bench()
    explaining = Explaining(found.controls.state, lambda: Basis(Policy()))
    listener = daemon_listener(
        ApiPolicy(address="127.0.0.1:0"), found.controls.people, explaining, found.reviewer, found.clock
    )
    listener.start()
    file = folder / "token"
    file.write_text(f"{token}\n")
    command = [sys.executable, "-m", "rescheduler", "ui", "--server", listener.url, "--token-file", str(file)]
    process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        place = urlsplit(process.stdout.readline().strip())
        yield Page(str(place.hostname), int(place.port or 0), place.fragment, found)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()
        listener.stop()


def test_the_page_comes_with_a_token_that_the_browser_never_sees(tmp_path: Path) -> None:
    """First the empty page, then for the secret a key, then the daemon's own page."""
    with opened(tmp_path) as page:
        first = page.ask("/")
        assert "data-shell" in first.body
        key = page.key()
        shown = page.ask("/", headers=key)
        assert shown.status == 200
        assert "Did the last plan keep its promise?" in shown.body
        assert "only reads unless --allow approve,pause" in shown.body
        assert "<button" not in shown.body
        assert not any("token-jane" in text for text in (first.body, shown.body))
        refused = page.ask("/v1/pause", "POST", key, '{"reason": "x"}')
        assert (refused.status, page.bench.controls.paused()) == (403, None)
        assert page.ask("/session", "POST", {"X-Rescheduler-Secret": page.secret}).status == 403


def test_what_is_allowed_is_done_by_the_account_of_the_token(tmp_path: Path) -> None:
    """Pause and approve, with If-Match; what a page of another site sends changes nothing."""
    with opened(tmp_path, "--allow", "approve,pause") as page:
        key = page.key()
        assert ">Approve</button>" in page.ask("/", headers=key).body
        evil = {**key, "Origin": "http://evil.example"}
        assert page.ask("/v1/pause", "POST", evil, '{"reason": "x"}').status == 403
        assert page.bench.controls.paused() is None
        stale = page.ask("/v1/plans/second/approve", "POST", {**key, "If-Match": '"second-ended"'}, "{}")
        assert stale.status == 412
        good = page.ask("/v1/plans/second/approve", "POST", {**key, "If-Match": '"second-waiting"'}, "{}")
        assert (good.status, json.loads(good.body)["who"]) == (200, "jane")
        assert page.ask("/v1/pause", "POST", key, '{"reason": "lunch"}').status == 200
        assert page.bench.controls.paused() == "paused by jane: lunch"


def test_a_token_that_is_not_accepted_is_told(tmp_path: Path) -> None:
    """By the daemon's own words."""
    with opened(tmp_path, token="nobody") as page:
        assert page.ask("/v1/state", headers=page.key()).status == 401


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--allow", "trigger"), "--allow: found 'trigger'; wanted approve or pause"),
        (("--server", "http://rescheduler.example.org"), "a token would travel in clear text"),
        (("--server", "ftp://127.0.0.1"), "wanted an address such as"),
        (("--server", "http://[::1"), "wanted an address such as"),
    ],
)
def test_wrong_use_is_told_before_anything_is_sent(shell: Shell, arguments: tuple[str, ...], text: str) -> None:
    """Exit code 2."""
    answer = shell("ui", "--token-file", "/nonexistent", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert text in answer.err


def test_a_token_that_cannot_be_read_is_told(shell: Shell) -> None:
    """Before anything is printed to open."""
    answer = shell("ui", "--token-file", "/nonexistent/token", "--server", "http://127.0.0.1:1")
    assert answer.code == 1
    assert "cannot be read as a token" in answer.err
    assert answer.out == ""
